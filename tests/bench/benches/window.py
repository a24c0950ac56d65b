"""How soon the window is there, how soon an event is drawn, and how long its thread is ever busy while a run streams."""
import json
import os

TARGETS = {"start_seconds": 1.0, "event_to_screen_ms": 100, "longest_stall_ms": 50}


def run(bench):
    program = bench.programs / "stagewright-window-bench"
    if not program.exists():
        return bench.out("window", skipped="this build has no window")
    seconds = 2 if bench.small else 20
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    command = [program, bench.source / "configs/demo.yaml", seconds, 50]
    if not bench.small:
        bench.checked([program, command[1], 1, 50], env=environment, cwd=bench.folder)        # warm: files and libraries are in memory
    bench.out("window", **json.loads(bench.checked(command, env=environment, cwd=bench.folder)), targets=TARGETS)
