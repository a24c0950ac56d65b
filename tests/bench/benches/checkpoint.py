"""Saving and resuming against plain writes and reads of the same bytes; an asynchronous save against a synchronous one and against torch's async_save."""
import json


def run(bench):
    gib, rounds = (0.02, 1) if bench.small else (2, 7)
    text = bench.checked([bench.programs / "stagewright-checkpoint-bench", bench.folder / "checkpoint", gib, rounds])
    figures = json.loads(text.splitlines()[-1])
    if bench.peer:
        asked = {"width": figures["width"], "layers": figures["layers"], "rounds": rounds, "threads": bench.threads, "folder": str(bench.folder / "checkpoint-peer")}
        peer = json.loads(bench.checked([bench.peer, bench.here / "checkpoint_peer.py"], input=json.dumps(asked)).splitlines()[-1])
        figures.update({f"torch_async_{name}": value for name, value in peer.items()})
        figures["async_cost_of_torch_async_save"] = figures["async_cost_seconds"] / peer["cost_seconds"]
    else:
        figures["torch_async_save"] = "skipped: no Python with torch was named (--peer-python or --install-peer)"
    bench.out("checkpoint", **figures)
    if not figures["equal"]:
        bench.fail("what was resumed differs from what was saved")
