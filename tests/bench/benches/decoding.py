"""Decoding clips to RGB against the ffmpeg program with as many threads, turn by turn; and a soak of many opened clips."""
import json
import shutil
import statistics
import subprocess
import time

MOST_GROWTH = 16 * 2**20    # bytes, of a process that is warm


def make(path, *arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments), str(path)], check=True)


def ffmpeg_seconds(bench, clips, threads):
    """One ffmpeg a clip, `threads` at a time, each with one decoder thread."""
    begun = time.perf_counter()
    waiting, running = list(clips), []
    while waiting or running:
        while waiting and len(running) < threads:
            running.append(subprocess.Popen(["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-i", str(waiting.pop()), "-threads", "1", "-filter_threads", "1",
                                             "-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-f", "rawvideo", "-y", "/dev/null"]))
        if running.pop(0).wait() != 0:
            bench.fail("ffmpeg could not decode a clip that it made")
    return time.perf_counter() - begun


def run(bench):
    if not shutil.which("ffmpeg"):
        bench.out("decoding", skipped="the ffmpeg program is not installed")
        return
    seconds = 1 if bench.small else 8
    clips = []
    for i in range(2 * bench.threads):
        clips.append(bench.folder / f"clip{i}.mp4")
        make(clips[-1], "-f", "lavfi", "-i", f"mandelbrot=s=960x540:r=30:start_scale={3 - 0.1 * i}", "-t", seconds, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast")
    ratios, rates = [], []
    for turn in range(1 if bench.small else 5):
        theirs = ffmpeg_seconds(bench, clips, bench.threads)
        ours = json.loads(bench.checked([bench.data_bench, "decode", bench.threads, *clips]))
        ratios.append(theirs / ours["seconds"])
        rates.append(ours["frames"] / ours["seconds"])
    bench.out("decoding", ratio_to_ffmpeg=statistics.median(ratios), frames_per_second=statistics.median(rates), threads=bench.threads, turns=len(ratios))

    small = bench.folder / "small.mp4"
    make(small, "-f", "lavfi", "-i", "testsrc=s=128x96:r=24", "-t", 0.5, "-pix_fmt", "yuv420p")
    webm = bench.folder / "small.webm"
    make(webm, "-f", "lavfi", "-i", "testsrc=s=128x96:r=24", "-t", 0.5, "-c:v", "libvpx")
    cut, text = bench.folder / "cut.mp4", bench.folder / "text.mp4"
    cut.write_bytes(small.read_bytes()[:2000])
    text.write_text("not a clip")
    figures = json.loads(bench.checked([bench.data_bench, "soak", 400 if bench.small else 100_000, small, cut, webm, text, bench.folder / "missing.mp4"]))
    if figures["descriptors_growth"] != 0:
        bench.fail(f"{figures['descriptors_growth']} files stay open after {figures['opened']} clips")
    if figures["resident_bytes_growth"] > MOST_GROWTH:
        bench.fail(f"{figures['resident_bytes_growth']} bytes of memory more after {figures['opened']} clips")
    bench.out("soak", **figures)
