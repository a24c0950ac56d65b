"""Saving and resuming against plain writes and reads of the same bytes; an asynchronous save against a synchronous one."""
import json


def run(bench):
    gib, rounds = (0.02, 1) if bench.small else (2, 7)
    text = bench.checked([bench.programs / "stagewright-checkpoint-bench", bench.folder / "checkpoint", gib, rounds])
    figures = json.loads(text.splitlines()[-1])
    bench.out("checkpoint", **figures)
    if not figures["equal"]:
        bench.fail("what was resumed differs from what was saved")
