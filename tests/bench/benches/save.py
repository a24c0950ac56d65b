"""What a save costs training: blocked, plus what the step that saves and the three after it take beyond a plain one.

A machine's pace drifts by more than a save costs, so each save is compared with the plain steps right before and after it, the two modes
take turns, and the median over all saves counts.
"""
import statistics

AFTER = 3           # steps after the one that saves, in which the rest of an asynchronous save may be felt


def costs_of(seconds, every):
    """Seconds that each save but the last cost; step N * every saves (steps count from 1)."""
    costs = []
    for at in range(every, len(seconds) - every + 1, every):
        before, felt, after = seconds[at - every + AFTER:at - 1], seconds[at - 1:at + AFTER], seconds[at + AFTER:at + every - 1]
        plain = statistics.median(before + after)
        costs.append(sum(step - plain for step in felt))
    return costs


def run(bench):
    stage = bench.source / "configs/demo.yaml"
    wide = [] if bench.small else ["--model.hidden-size", 512, "--model.num-heads", 8, "--model.axes-dim", "[16, 24, 24]", "--model.depth", 4,
                                  "--model.depth-single-blocks", 8]
    count, every, rounds = (16, 8, 1) if bench.small else (60, 12, 3)
    costs = {"False": [], "True": []}
    for _ in range(rounds):
        for mode, all_costs in costs.items():
            steps = bench.steps(stage, count, 128, 9, 2, "--async-io", mode, "--ckpt-every", every, "--dataset.data-path", "none.csv", *wide)["steps"]
            all_costs += costs_of([step["seconds"] for step in steps], every)
    synchronous, asynchronous = (statistics.median(all_costs) for all_costs in costs.values())
    quartiles = {name: statistics.quantiles(costs[mode], n=4)[::2] if len(costs[mode]) > 1 else costs[mode] for name, mode in (("sync", "False"), ("async", "True"))}
    bench.out("save", saves=len(costs["True"]), sync_seconds=synchronous, async_seconds=asynchronous, ratio=asynchronous / synchronous,
              sync_quartiles=quartiles["sync"], async_quartiles=quartiles["async"])
