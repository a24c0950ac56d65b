"""What a save costs training: blocked, plus what the step that saves and the three after it take beyond a plain one."""
import statistics


def run(bench):
    stage = bench.source / "configs/demo.yaml"
    wide = [] if bench.small else ["--model.hidden-size", 512, "--model.num-heads", 8, "--model.axes-dim", "[16, 24, 24]", "--model.depth", 4,
                                  "--model.depth-single-blocks", 8]
    count, every = (8, 4) if bench.small else (40, 10)
    figures = {}
    for mode in ("False", "True"):
        costs = []
        for _ in range(1 if bench.small else 2):
            steps = bench.steps(stage, count, 128, 9, 2, "--async-io", mode, "--ckpt-every", every, "--dataset.data-path", "none.csv", *wide)["steps"]
            plain = statistics.median(s["seconds"] - s["blocked_seconds"] for i, s in enumerate(steps, 1) if i % every > 3 or i < every)
            # Blocked, plus what the step that saves and the three after it take beyond a plain step.
            for at in range(every, count - 3, every):
                costs.append(sum(s["seconds"] - plain for s in steps[at - 1:at + 3]))
        figures[mode] = statistics.median(costs)
    bench.out("save", sync_seconds=figures["False"], async_seconds=figures["True"], ratio=figures["True"] / figures["False"])
