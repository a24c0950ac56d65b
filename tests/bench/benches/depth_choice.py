"""The planner's choice of a checkpoint depth against the whole grid of the demo stage, measured: how much longer its update takes than the fastest that fits."""
import json

BUCKET = "{'128px': {17: (1.0, 2)}}"
GIB = 1 << 30


def measured_grid(bench, stage, common, rounds):
    """{(doubles, singles): [peak, seconds]}: the median time of a round's updates, the least of all rounds."""
    depths = ["(0,0)", "(2,4)"] if bench.small else [f"({doubles},{singles})" for doubles in range(3) for singles in range(5)]
    grid = {}
    for _ in range(rounds):
        lines = bench.checked([bench.cli, "sweep", stage, "--vary", "model.grad_ckpt_settings=" + ",".join(depths), "--measure", "--updates", 3 if bench.small else 10, "--json", *common])
        for point in json.loads(lines.splitlines()[-1])["points"]:
            measured = point["measured"]
            if not measured["peak_bytes"]:
                bench.fail(f"depth {point['values']} was not measured: {measured.get('sentence')}")
            known = grid.setdefault(tuple(point["values"]["model.grad_ckpt_settings"]), [0, float("inf")])
            known[0] = max(known[0], measured["peak_bytes"])
            known[1] = min(known[1], measured["step_seconds"])
    return grid


def run(bench):
    stage = bench.demo_stage()
    common = ["--bucket_config", BUCKET, "--num-workers", 0]
    grid = measured_grid(bench, stage, common, 1 if bench.small else 2)
    least, most = min(peak for peak, _ in grid.values()), max(peak for peak, _ in grid.values())
    for part in [1.0] if bench.small else [0.4, 0.7, 1.0]:
        limit = least + (most - least) * part + 0.05 * most              # room for the planner's band
        fit = json.loads(bench.checked([bench.cli, "fit", stage, "--vary", "model.grad_ckpt_settings", "--json", "--memory-limit", limit / GIB, *common]))
        chosen = tuple(fit["values"]["model.grad_ckpt_settings"])
        fitting = {depth: seconds for depth, (peak, seconds) in grid.items() if peak <= limit}
        best = min(fitting, key=fitting.get)
        if chosen not in grid:
            bench.out("depth_choice", limit_bytes=limit, chosen=chosen, skipped="the small grid does not hold it")
            continue
        excess = grid[chosen][1] / fitting[best] - 1
        bench.out("depth_choice", limit_bytes=limit, chosen=chosen, chosen_seconds=grid[chosen][1], best=best, best_seconds=fitting[best], points=len(grid), fitting=len(fitting), excess=excess,
                  limits={"excess": 0.02}, within=excess <= 0.02)
