"""The planner: predicted against measured peaks over 240 configurations, and how long plans, sweeps and grids take."""
import json
import os
import pathlib
import random
import statistics
import subprocess
import time

STAGE = """
dtype = "fp32"
device = "cpu"
seed = 3
epochs = 1000
dataset = dict(type="video_text", data_path="none.csv")
bucket_config = {"64px": {9: (1.0, 2)}}
model = dict(type="flux", hidden_size=64, num_heads=2, axes_dim=[8, 12, 12], depth=2, depth_single_blocks=3, mlp_ratio=4.0, in_channels=48, patch_size=2,
             vec_in_dim=32, context_in_dim=48, qkv_bias=True, guidance_embed=False, cond_embed=False, fused_qkv=True, use_liger_rope=True, theta=10000)
patch_size = 2
is_causal_vae = True
ae = dict(type="haar", latent_channels=12)
t5 = dict(type="hashed", max_length=16, hidden_size=48)
clip = dict(type="hashed", hidden_size=32)
optim = dict(cls="HybridAdam", lr=1e-4, weight_decay=0.0)
grad_clip = 1.0
num_workers = 0
ckpt_every = 0
"""

HEADS = {16: [4, 6, 6], 32: [8, 12, 12], 64: [16, 24, 24]}


def configuration(draw):
    """Overrides of STAGE: every option that a step's memory depends on, drawn independently."""
    head, heads, patch, channels = draw.choice(list(HEADS)), draw.choice([1, 2, 3, 4]), draw.choice([1, 2, 2, 2]), draw.choice([4, 12, 48])
    doubles, singles = draw.randint(0, 6), draw.randint(0, 8)
    doubles += doubles + singles == 0
    checkpoints = draw.random() < 0.7
    width, pooled = draw.choice([24, 48, 96, 256]), draw.choice([16, 64, 128])
    buckets = {}
    for _ in range(draw.choice([1, 1, 2])):
        resolution = draw.choice(["64px"] if patch == 1 else ["64px", "96px", "64px_ar16:9", "128px_ar1:1"])
        buckets.setdefault(resolution, {})[draw.choice([1, 5, 9, 17])] = (1.0, draw.choice([1, 2, 3]))
    accumulation = draw.choice([1, 1, 2, 3, 4])
    dtype = draw.choice(["fp32", "fp32", "bf16", "bf16", "fp16"])
    tokens = max(17 * 128 * 128 // 1024, 64)
    options = {
        "bucket_config": buckets, "dtype": dtype, "accumulation_steps": accumulation,
        "model.hidden_size": head * heads, "model.num_heads": heads, "model.axes_dim": HEADS[head], "model.depth": doubles, "model.depth_single_blocks": singles,
        "model.mlp_ratio": draw.choice([2.0, 4.0]), "model.in_channels": channels * patch * patch, "model.patch_size": patch, "patch_size": patch,
        "model.vec_in_dim": pooled, "clip.hidden_size": pooled, "model.context_in_dim": width, "t5.hidden_size": width, "t5.max_length": draw.choice([4, 16, 64, 200]),
        "model.qkv_bias": draw.random() < 0.5, "model.fused_qkv": draw.random() < 0.5, "model.use_liger_rope": draw.random() < 0.5,
        "model.guidance_embed": draw.random() < 0.4, "ae.latent_channels": channels, "grad_checkpoint": checkpoints,
        "model.grad_ckpt_settings": (draw.randint(0, doubles), draw.randint(0, singles)),
        "grad_ckpt_buffer_size": draw.choice([0, 1, 4, 100]) * tokens * head * heads if checkpoints else 0,
        "optim.adamw_mode": draw.random() < 0.7, "optim.weight_decay": draw.choice([0.0, 0.01]), "grad_clip": draw.choice([0.0, 1.0]),
        "is_causal_vae": draw.random() < 0.7,
    }
    if draw.random() < 0.5:
        options["ema_decay"] = 0.99
    if draw.random() < 0.4:
        options["dropout_ratio"] = {"t5": 0.3, "clip": 0.3}
    if draw.random() < 0.4:
        options["model.cond_embed"] = True
        options["condition_config"] = draw.choice([{"t2v": 1}, {"t2v": 1, "i2v_head": 2}, {"i2v_loop": 1, "v2v_head": 1}])
        options["no_i2v_ref_loss"] = draw.random() < 0.5
    if draw.random() < 0.3 and dtype != "fp16":
        options["compat"] = "opensora"
    overrides = [part for key, value in options.items() for part in ("--" + key, str(value))]
    return {"overrides": overrides, "caption_words": draw.choice([1, 8, 40, 300]), "options": options}


def peaks(bench):
    stage = bench.folder / "plan.py"
    stage.write_text(STAGE)
    draw = random.Random(20)
    configurations = [configuration(draw) for _ in range(8 if bench.small else 240)]
    began = time.monotonic()
    lines = bench.checked([bench.programs / "stagewright-plan-bench", stage], input="".join(json.dumps(one) + "\n" for one in configurations),
                          env=dict(os.environ, OMP_WAIT_POLICY="PASSIVE")).splitlines()
    deviations, worst = [], []
    for one, line in zip(configurations, lines, strict=True):
        for bucket in json.loads(line)["buckets"]:
            deviation = bucket["predicted"] / bucket["measured"] - 1
            deviations.append(deviation)
            worst.append((abs(deviation), deviation, bucket, one["options"]))
    worst.sort(key=lambda entry: -entry[0])
    errors = [abs(deviation) for deviation in deviations]
    under = sum(deviation < -0.01 for deviation in deviations) / len(deviations)
    bench.out("plan", case="peaks", configurations=len(lines), buckets=len(deviations), median_error=statistics.median(errors), worst_error=max(errors), under_estimates=under,
              any_under=sum(deviation < 0 for deviation in deviations) / len(deviations), seconds=time.monotonic() - began,
              limits={"median_error": 0.01, "worst_error": 0.04, "under_estimates": 0.01},
              within=statistics.median(errors) <= 0.01 and max(errors) <= 0.04 and under < 0.01, worst=[{"error": entry[1], **entry[2]} for entry in worst[:3]])
    return worst


class Helper:
    """The planning helper that window and command line ask."""

    def __init__(self, bench):
        self.process = subprocess.Popen([bench.worker, "plan"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.last = 0

    def ask(self, ask, config, **more):
        """The answer, and the seconds until it came."""
        began = time.monotonic()
        self.last += 1
        self.process.stdin.write(json.dumps({"id": self.last, "ask": ask, "config": config, **more}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer.get("problem"):
            raise SystemExit(f"tests/bench/run: the planner says: {answer['problem']['message']}")
        return answer, time.monotonic() - began

    def peak_resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


def times(bench):
    config = json.dumps(json.loads(bench.checked([bench.cli, "show", bench.source / "configs/768px.yaml", "--json"]))["config"])
    device = {"fit_device": "H100"}
    began = time.monotonic()
    helper = Helper(bench)
    first, _ = helper.ask("plan", config, **device)
    first_seconds = time.monotonic() - began                      # with the helper's start
    warm = statistics.median(helper.ask("plan", config, **device)[1] for _ in range(3))
    plan = first["plan"]
    bench.out("plan", case="11b_all_buckets", buckets=len(plan["buckets"]), first_seconds=first_seconds, warm_seconds=warm, limits={"first_seconds": 2, "warm_seconds": 0.5},
              within=first_seconds <= 2 and warm <= 0.5)
    bucket = {"bucket": "256px/129", **device}
    few = bench.small
    sizes = [f"(1.0, {size})" for size in range(1, 3 if few else 21)]
    depths = [f"({doubles}, {singles})" for doubles in range(0, 20, 10 if few else 4) for singles in range(0, 39, 20 if few else 4)]
    answer, seconds = helper.ask("sweep", config, vary=[{"path": "bucket_config.256px.129", "values": sizes}, {"path": "model.grad_ckpt_settings", "values": depths}], **bucket)
    bench.out("plan", case="sweep", points=len(answer["points"]), unanswered=sum(bool(point["sentence"]) for point in answer["points"]), seconds=seconds, limits={"seconds": 20},
              within=seconds <= 20)
    helper.end()
    helper = Helper(bench)
    grid = [f"({doubles}, {singles})" for doubles in range(0, 20, 19 if few else 1) for singles in range(0, 39, 38 if few else 1)]
    answer, seconds = helper.ask("sweep", config, vary=[{"path": "model.grad_ckpt_settings", "values": grid}], **bucket)
    bench.out("plan", case="depth_grid", points=len(answer["points"]), unanswered=sum(bool(point["sentence"]) for point in answer["points"]), seconds=seconds, limits={"seconds": 10},
              within=seconds <= 10)
    peak = helper.peak_resident()
    bench.out("plan", case="planner_memory", peak_resident_bytes=peak, limits={"peak_resident_bytes": 500_000_000}, within=peak < 500_000_000)
    helper.end()


def run(bench):
    peaks(bench)
    times(bench)
