"""From a keystroke to a validated stage with a table of 10,000 buckets, and the opening of a chain of six files."""
import json


def run(bench):
    program = bench.programs / "stagewright-config-bench"
    if not program.exists():
        bench.out("config", skipped="a build without the window has no such program")
        return
    rows, rounds = (500, 3) if bench.small else (10_000, 21)
    figures = json.loads(bench.checked([program, bench.folder / "config", rows, rounds]))
    bench.out("config", **figures, keystroke_limit_ms=16, chain_limit_ms=20,
              within=max(value for name, value in figures.items() if name.startswith("keystroke")) < 16 and figures["open_chain_ms"] < 20)
