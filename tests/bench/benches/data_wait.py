"""How long a step waits for data where decoding is faster than the model."""
import json


def run(bench):
    stage, steps = bench.demo_stage(), 4 if bench.small else 40
    text = bench.checked([bench.cli, "train", stage, "--json", "--max-train-steps", steps, "--ckpt-every", 0, "--outputs", bench.folder / "outputs"])
    records = [json.loads(line) for line in text.splitlines()]
    timed = [r for r in records if r["event"] == "step"][2:]
    waited, seconds = sum(r["data_wait_seconds"] for r in timed), sum(r["seconds"] for r in timed)
    bench.out("data_wait", steps=len(timed), share=waited / seconds, wait_seconds=waited, step_seconds=seconds)
