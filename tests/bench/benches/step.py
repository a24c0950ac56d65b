"""A training step against the same step in Python, with the same Torch, threads and sizes."""
import json
import statistics


def run(bench):
    if not bench.peer:
        bench.out("step", skipped="no Python with torch was named (--peer-python or --install-peer)")
        return
    config = json.loads(bench.checked([bench.cli, "show", bench.source / "configs/demo.yaml", "--json"]))["config"]
    model = config["model"]
    count = 6 if bench.small else 60
    for name, depth in (("none_checkpointed", [0, 0]), ("demo_depth", model["grad_ckpt_settings"])):
        frames, side, batch = 17, 128, 2
        sizes = dict(model, checkpointed=depth, steps=count, threads=bench.threads, batch=batch, text_tokens=config["t5"]["max_length"],
                     grid=[(frames - 1) // 4 + 1, side // 16, side // 16])
        ours, theirs, our_peak, their_peak = [], [], [], []
        for _ in range(1 if bench.small else 3):
            mine = bench.steps(bench.source / "configs/demo.yaml", count, side, frames, batch, "--model.grad-ckpt-settings", str(tuple(depth)),
                              "--ckpt-every", 0, "--dataset.data-path", "none.csv")
            ours.append(statistics.median(s["compute_seconds"] for s in mine["steps"][2:]))
            our_peak.append(mine["peak_resident_growth"])
            other = json.loads(bench.checked([bench.peer, bench.here / "step_peer.py"], input=json.dumps(sizes)))
            theirs.append(statistics.median(other["seconds"][2:]))
            their_peak.append(other["peak_resident_growth"])
        bench.out("step", case=name, seconds=min(ours), python_seconds=min(theirs), ratio=min(ours) / min(theirs), peak_ratio=min(our_peak) / min(their_peak))
