#!/usr/bin/env python3
"""Reads checkpoints of Stagewright with Open-Sora's own reader, and compares what arrives with what the files hold, bit for bit.

    tests/bench/original_reader.py --checkout FOLDER CHECKPOINT...

FOLDER is a checkout of Open-Sora 2.0; the Python that runs this has its requirements (colossalai, tensornvme, safetensors). Nothing of the
original is replaced: CheckpointIO.load() is called with a Booster as its trainer does, in one process (gloo, so that no GPU is needed). Where
there is no GPU, pinned memory and waiting for the device are left out, which the output says (gpu). Prints one JSON object a checkpoint; ends with 1
if anything differs.
"""
import argparse
import json
import pathlib
import pickle
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn


def stored(folder):
    """What the files of model/ hold, by name, in the order of the index."""
    from safetensors.torch import load_file
    index = next(folder.glob("*.index.json"))
    names = json.loads(index.read_text())["weight_map"]
    shards = {file: load_file(folder / file) for file in set(names.values())}
    return {name: shards[file][name] for name, file in names.items()}


class Names(nn.Module):
    """Parameters with the names and in the order of the checkpoint, all zero, so that whatever arrives was loaded."""

    def __init__(self, tensors):
        super().__init__()
        for name, tensor in tensors.items():
            *path, leaf = name.split(".")
            owner = self
            for part in path:
                if part not in owner._modules:
                    owner.add_module(part, nn.Module())
                owner = owner._modules[part]
            owner.register_parameter(leaf, nn.Parameter(torch.zeros_like(tensor), requires_grad=tensor.is_floating_point()))


class Sampler:
    def load_state_dict(self, state):
        self.state = state


class Schedule(torch.optim.lr_scheduler.LambdaLR):
    """Only takes what load() gives it: the schedule's own arithmetic is no matter of the reader."""

    def load_state_dict(self, state):
        self.loaded = state


def differing(expected, found):
    return [name for name, tensor in expected.items() if name not in found or found[name].dtype != tensor.dtype or not torch.equal(found[name], tensor)]


def stored_moments(folder):
    """What the files of optimizer/ hold, as (number of the parameter, name of its state): tensor. Both forms: safetensors and torch.save."""
    from safetensors import safe_open
    held = {}
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "pt") as opened:
            pickled = json.loads((opened.metadata() or {}).get("non_tensor_keys", "[]"))
            for key in opened.keys():         # state.PARAMETER.NAME
                _, number, name = key.split(".", 2)
                tensor = opened.get_tensor(key)
                held[int(number), name] = pickle.loads(bytes(tensor.tolist())) if key in pickled else tensor
    for file in folder.glob("*.bin"):
        for number, state in torch.load(file, weights_only=False).items() if "group" not in file.name else ():
            held.update({(number, name): value for name, value in state.items()})
    return held


def moments_differ(optimizer, folder):
    """The optimizer's state by parameter, numbered in the model's order, against the files."""
    held = stored_moments(folder)
    parameters = optimizer.param_groups[0]["params"]
    wrong = []
    for (number, name), stored_value in held.items():
        found = optimizer.state.get(parameters[number], {}).get(name)
        if found is None or not torch.equal(torch.as_tensor(found).reshape(-1).float(), torch.as_tensor(stored_value).reshape(-1).float()):
            wrong.append(f"{number}.{name}")
    return wrong, len(held)


def check(folder, reader, booster):
    weights = stored(folder / "model")
    model, ema = Names(weights), Names(weights)
    has_ema = (folder / "ema.safetensors").exists()
    # As the original's: over fp32 masters of the model's parameters, in their order.
    optimizer = torch.optim.AdamW([nn.Parameter(torch.zeros_like(p, dtype=torch.float32)) for p in model.parameters() if p.requires_grad], lr=1e-3)
    schedule, sampler = Schedule(optimizer, lambda step: 1.0), Sampler()
    epoch, step = reader.load(booster, str(folder), model=model, ema=ema if has_ema else None, optimizer=optimizer, lr_scheduler=schedule if (folder / "lr_scheduler").exists() else None,
                              sampler=sampler if (folder / "sampler").exists() else None, strict=True)
    result = {"checkpoint": str(folder), "epoch": epoch, "step": step, "tensors": len(weights), "weights_differ": differing(weights, model.state_dict())}
    result["moments_differ"], result["moments"] = moments_differ(optimizer, folder / "optimizer")
    if has_ema:
        from safetensors.torch import load_file
        result["ema_differs"] = differing(load_file(folder / "ema.safetensors"), ema.state_dict())
    if not result["moments"]:
        result["moments_differ"] = ["none found"]
    if (folder / "lr_scheduler").exists():
        result["schedule_differs"] = [] if schedule.loaded.get("last_epoch") is not None else ["last_epoch"]
    running = json.loads((folder / "running_states.json").read_text())
    result["counters_differ"] = [name for name, value in (("epoch", epoch), ("step", step)) if running[name] != value]
    result["equal"] = not any(value for name, value in result.items() if name.endswith(("_differ", "_differs")))
    return result


def spare_the_device():
    """Without a GPU there is no memory to pin and no device to wait for."""
    from colossalai.accelerator import get_accelerator
    torch.Tensor.pin_memory = lambda tensor, *_: tensor
    empty = torch.empty
    torch.empty = lambda *sizes, pin_memory=False, **options: empty(*sizes, **options)
    get_accelerator().synchronize = lambda *_: None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", required=True, type=pathlib.Path)
    parser.add_argument("checkpoints", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.checkout / "opensora/utils/ckpt.py").exists():
        sys.exit(f"original_reader.py: {arguments.checkout} is no checkout of Open-Sora 2.0: it has no opensora/utils/ckpt.py")
    sys.path.insert(0, str(arguments.checkout))
    if not torch.cuda.is_available():
        spare_the_device()
    with tempfile.TemporaryDirectory() as rendezvous:
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}/r", rank=0, world_size=1)
        from colossalai.booster import Booster
        from opensora.utils.ckpt import CheckpointIO
        reader, booster = CheckpointIO(), Booster()
        results = [check(folder.resolve(), reader, booster) for folder in arguments.checkpoints]
        dist.destroy_process_group()
    for result in results:
        print(json.dumps({**result, "gpu": torch.cuda.is_available()}))
    sys.exit(0 if all(result["equal"] for result in results) else 1)


main()
