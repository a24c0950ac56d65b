"""torch.distributed.checkpoint's async_save on the same tensors: the peer of stagewright-checkpoint-bench.

Reads one JSON object on standard input: the sizes of the state, the folder, the number of rounds and of threads. Prints one JSON object: what a
save blocks, what the three steps after it take beyond three plain ones of the same round, and when it is on the disk. One process, as ours.
"""
import json
import os
import shutil
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def state_of(width, layers):
    """bf16 weights with fp32 masters, moments and average: 18 bytes a parameter."""
    state = {part: {} for part in ("model", "master", "exp_avg", "exp_avg_sq", "ema")}
    for layer in range(layers):
        for name, sizes in (("weight", (3 * width, width)), ("bias", (3 * width,))):
            exact = torch.randn(sizes)
            key = f"double_blocks.{layer}.img_attn.qkv.{name}"
            state["model"][key] = exact.to(torch.bfloat16)
            for part in ("master", "exp_avg", "exp_avg_sq", "ema"):
                state[part][key] = exact * 0.5
    return state


def one_step(matrix):
    started = time.monotonic()
    product = matrix
    for _ in range(12):
        product = torch.mm(product, matrix) * 0.01
    return time.monotonic() - started


def main():
    asked = json.load(sys.stdin)
    torch.set_num_threads(asked["threads"])
    folder = asked["folder"]
    os.makedirs(folder)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=0, world_size=1)
    state = state_of(asked["width"], asked["layers"])
    matrix = torch.randn(1024, 1024)
    three = lambda: sum(one_step(matrix) for _ in range(3))
    three()
    blocked, extra, commit = [], [], []
    for number in range(asked["rounds"] + 1):       # the first is for the first touch of everything
        target = f"{folder}/{number}"
        usual = three()
        started = time.monotonic()
        saving = dcp.async_save(state, storage_writer=dcp.FileSystemWriter(target, thread_count=asked["threads"]))
        taken = time.monotonic() - started
        after = three()
        saving.result()
        if number:
            blocked.append(taken)
            extra.append(after - usual)
            commit.append(time.monotonic() - started)
        shutil.rmtree(target)
    dist.destroy_process_group()
    print(json.dumps({"blocked_seconds": statistics.median(blocked), "extra_seconds": statistics.median(extra),
                      "cost_seconds": statistics.median(b + e for b, e in zip(blocked, extra)), "commit_seconds": statistics.median(commit)}))


main()
