"""The same training step in Python, written as one writes it with torch: the peer of stagewright-step-bench.

Reads one JSON object on standard input: the sizes of the model and of the batch, the number of steps and threads, and how many blocks are
checkpointed. Prints one JSON object with what each step took. Same Torch, same threads, same sizes, same arithmetic (fp32).
"""
import json
import math
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def embed(u, dim=256):
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(dim // 2, dtype=torch.float32) / (dim // 2))
    angles = 1000.0 * u.float()[:, None] * frequencies[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1).to(u.dtype)


def rope_tables(ids, axes, theta):
    parts = []
    for axis, dim in enumerate(axes):
        omega = theta ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
        parts.append(ids[..., axis].float()[..., None] * omega)
    angles = torch.cat(parts, dim=-1)
    return torch.cat([angles, angles], -1).cos()[:, None], torch.cat([angles, angles], -1).sin()[:, None]


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale


class Embedder(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.in_layer, self.out_layer = nn.Linear(size, hidden), nn.Linear(hidden, hidden)

    def forward(self, x):
        return self.out_layer(F.silu(self.in_layer(x)))


def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


class Stream(nn.Module):
    def __init__(self, c):
        super().__init__()
        h = c["hidden_size"]
        self.count = c["num_heads"]
        self.mod = nn.Linear(h, 6 * h)
        self.q, self.k, self.v, self.proj = (nn.Linear(h, h) for _ in range(4))
        self.qn, self.kn = RmsNorm(h // self.count), RmsNorm(h // self.count)
        self.mlp = nn.Sequential(nn.Linear(h, int(h * c["mlp_ratio"])), nn.GELU(approximate="tanh"), nn.Linear(int(h * c["mlp_ratio"]), h))

    def begin(self, x, vec):
        self_mod = self.mod(F.silu(vec))[:, None].chunk(6, -1)
        a = (1 + self_mod[1]) * F.layer_norm(x, x.shape[-1:], eps=1e-6) + self_mod[0]
        return self_mod, self.qn(heads(self.q(a), self.count)), self.kn(heads(self.k(a), self.count)), heads(self.v(a), self.count)

    def end(self, x, mod, attention):
        x = x + mod[2] * self.proj(attention)
        return x + mod[5] * self.mlp((1 + mod[4]) * F.layer_norm(x, x.shape[-1:], eps=1e-6) + mod[3])


def attend(q, k, v, cos, sin):
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Double(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.img, self.txt = Stream(c), Stream(c)

    def forward(self, x, y, vec, cos, sin):
        mi, qi, ki, vi = self.img.begin(x, vec)
        mt, qt, kt, vt = self.txt.begin(y, vec)
        o = attend(torch.cat([qt, qi], 2), torch.cat([kt, ki], 2), torch.cat([vt, vi], 2), cos, sin)
        return self.img.end(x, mi, o[:, y.shape[1]:]), self.txt.end(y, mt, o[:, : y.shape[1]])


class Single(nn.Module):
    def __init__(self, c):
        super().__init__()
        h = c["hidden_size"]
        self.h, self.count = h, c["num_heads"]
        self.q, self.k, self.v_mlp = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, h + int(h * c["mlp_ratio"]))
        self.linear2 = nn.Linear(h + int(h * c["mlp_ratio"]), h)
        self.qn, self.kn = RmsNorm(h // self.count), RmsNorm(h // self.count)
        self.mod = nn.Linear(h, 3 * h)

    def forward(self, z, vec, cos, sin):
        shift, scale, gate = self.mod(F.silu(vec))[:, None].chunk(3, -1)
        a = (1 + scale) * F.layer_norm(z, z.shape[-1:], eps=1e-6) + shift
        v, u = self.v_mlp(a).split([self.h, self.linear2.in_features - self.h], -1)
        o = attend(self.qn(heads(self.q(a), self.count)), self.kn(heads(self.k(a), self.count)), heads(v, self.count), cos, sin)
        return z + gate * self.linear2(torch.cat([o, F.gelu(u, approximate="tanh")], -1))


class Mmdit(nn.Module):
    def __init__(self, c):
        super().__init__()
        h = c["hidden_size"]
        self.c = c
        self.img_in, self.txt_in = nn.Linear(c["in_channels"], h), nn.Linear(c["context_in_dim"], h)
        self.time_in, self.vector_in = Embedder(256, h), Embedder(c["vec_in_dim"], h)
        self.double_blocks = nn.ModuleList(Double(c) for _ in range(c["depth"]))
        self.single_blocks = nn.ModuleList(Single(c) for _ in range(c["depth_single_blocks"]))
        self.mod, self.linear = nn.Linear(h, 2 * h), nn.Linear(h, c["in_channels"])

    def forward(self, img, ids, txt, t, y):
        x, z = self.img_in(img), self.txt_in(txt)
        vec = self.time_in(embed(t)) + self.vector_in(y)
        cos, sin = rope_tables(ids, self.c["axes_dim"], self.c["theta"])
        for i, block in enumerate(self.double_blocks):
            if i < self.c["checkpointed"][0]:
                x, z = checkpoint(block, x, z, vec, cos, sin, use_reentrant=True)
            else:
                x, z = block(x, z, vec, cos, sin)
        length = z.shape[1]
        z = torch.cat([z, x], 1)
        for i, block in enumerate(self.single_blocks):
            if i < self.c["checkpointed"][1]:
                z = checkpoint(block, z, vec, cos, sin, use_reentrant=True)
            else:
                z = block(z, vec, cos, sin)
        shift, scale = self.mod(F.silu(vec))[:, None].chunk(2, -1)
        return self.linear((1 + scale) * F.layer_norm(z[:, length:], z.shape[-1:], eps=1e-6) + shift)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def main():
    c = json.load(sys.stdin)
    torch.set_num_threads(c["threads"])
    torch.manual_seed(42)
    before = resident()
    model = Mmdit(c)
    parameters = list(model.parameters())
    average = [p.detach().clone() for p in parameters]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0, fused=True)
    b, (t, h, w), lt = c["batch"], c["grid"], c["text_tokens"]
    grid = torch.stack(torch.meshgrid(torch.arange(t), torch.arange(h), torch.arange(w), indexing="ij"), -1).reshape(1, -1, 3)
    ids = torch.cat([torch.zeros(1, lt, 3), grid.float()], 1).expand(b, -1, -1)
    x0 = torch.randn(b, t * h * w, c["in_channels"])
    txt, y = torch.randn(b, lt, c["context_in_dim"]), torch.randn(b, c["vec_in_dim"])
    took = []
    for _ in range(c["steps"]):
        begin = time.perf_counter()
        u = torch.sigmoid(torch.randn(b))
        x1 = torch.randn_like(x0)
        r = (1 - u)[:, None, None]
        xt = r * x0 + (1 - (1 - 1e-5) * r) * x1
        target = (1 - 1e-5) * x1 - x0
        loss = (model(xt, ids, txt, u, y) - target).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            torch._foreach_lerp_(average, parameters, 0.01)
        loss.item()
        took.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": took, "threads": torch.get_num_threads(), "peak_resident_growth": peak - before, "torch": torch.__version__}))


main()
