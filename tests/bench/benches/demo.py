"""The demo: first loss, speed, learning."""
import json
import statistics
import subprocess
import time


def run(bench):
    stage = bench.demo_stage()
    wanted = 6 if bench.small else 120
    began = time.monotonic()
    process = subprocess.Popen([str(bench.cli), "train", str(stage), "--json", "--max-train-steps", str(wanted)],
                               cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first, at, losses = None, [], []
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "step":
            at.append(time.monotonic() - began)
            losses.append(event["loss"])
            first = first or at[-1]
    if process.wait() != 0:
        bench.fail(f"the demo ended with {process.returncode}: {process.stderr.read()[-2000:]}")
    edge = min(10, len(losses) // 2)
    bench.out("demo", first_loss_seconds=first, steps=len(at), steps_in_90_s=sum(1 for t in at if t <= 90), total_seconds=at[-1],
              loss_ratio_last_to_first=statistics.mean(losses[-edge:]) / statistics.mean(losses[:edge]))
