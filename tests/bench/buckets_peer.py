"""Bucket assignment and batch order as Open-Sora 2.0 makes them (opensora/datasets/{bucket,sampler}.py): pandas, one Python call and one numpy generator
a row. Usage: buckets_peer.py TABLE. Prints one JSON object; "assigned" maps bucket to count, to be compared with ours."""
import json
import math
import sys
import time
from collections import OrderedDict, defaultdict

import numpy as np
import pandas as pd

FPS_MAX, SEED, GRANULARITY = 24, 42, 16
CONFIG = {"256px": {1: (1.0, 50), 33: ((0.5, 0.5), 10), 129: (0.7, 4)}, "768px": {1: (0.5, 13), 33: (0.3, 1)}, "1024px": {1: (0.3, 7)}}
NAMES = ["2.39:1", "2:1", "16:9", "1.85:1", "9:16", "5:8", "3:2", "4:3", "1:1"]


def aspects(pixels):
    """Name -> (height, width): near the pixel count, multiples of the granularity, duplicates left out, mirrored ones behind."""
    first, mirrored, seen = OrderedDict(), OrderedDict(), set()
    for name in NAMES:
        w, h = (float(part) for part in name.split(":"))
        width = int(math.sqrt(pixels * w / h) // GRANULARITY) * GRANULARITY
        height = int(pixels / width // GRANULARITY) * GRANULARITY
        best = (height, width)
        for candidate in [(height - GRANULARITY, width), (height + GRANULARITY, width), (height, width - GRANULARITY), (height, width + GRANULARITY)]:
            if abs(candidate[0] * candidate[1] - pixels) < abs(best[0] * best[1] - pixels):
                best = candidate
        if best in seen:
            continue
        seen.update({best, (best[1], best[0])})
        first[name] = best
        mirrored[":".join(reversed(name.split(":")))] = (best[1], best[0])
    first.update(mirrored)
    return first


TABLES = {name: aspects(int(name[:-2]) ** 2) for name in CONFIG}
ORDER = sorted(CONFIG, key=lambda name: -int(name[:-2]))
BUCKETS = sum(len(CONFIG[name]) * len(TABLES[name]) for name in CONFIG)


def closest(height, width, table):
    ratio = height / width
    return min(table, key=lambda name: abs(ratio - float(name.split(":")[1]) / float(name.split(":")[0])))


def bucket_of(frames, height, width, fps, row):
    if not np.isnan(fps) and fps >= FPS_MAX:
        frames = frames // math.ceil(fps / FPS_MAX)
    generator = np.random.default_rng(SEED + row * BUCKETS)
    for name in ORDER:
        pixels = int(name[:-2]) ** 2
        if height * width < 0.8 * pixels:
            continue
        if frames == 1:
            if 1 in CONFIG[name] and generator.random() < CONFIG[name][1][0]:
                return name, 1, closest(height, width, TABLES[name])
            continue
        for count in sorted(CONFIG[name], reverse=True):
            if count == 1 or frames < count:
                continue
            probability = CONFIG[name][count][0]
            if isinstance(probability, tuple):
                if probability[1] >= 1 or generator.random() <= probability[1]:
                    continue
                probability = probability[0]
            if probability >= 1 or generator.random() <= probability:
                return name, count, closest(height, width, TABLES[name])
            break
    return None


def main():
    data = pd.read_csv(sys.argv[1])
    begun = time.perf_counter()
    data["id"] = data.index
    ids = data.apply(lambda row: bucket_of(row["num_frames"], row["height"], row["width"], row["fps"], row["id"]), axis=1)
    groups = OrderedDict()
    for row, bucket in ids.items():
        if bucket is not None:
            groups.setdefault(bucket, []).append(row)
    shuffle = np.random.default_rng(SEED)
    access = []
    for bucket, rows in groups.items():
        size = CONFIG[bucket[0]][bucket[1]][1]
        rows = rows[: len(rows) - len(rows) % size]
        rows = [rows[i] for i in shuffle.permutation(len(rows))]
        access += [bucket] * (len(rows) // size)
    access = [access[i] for i in shuffle.permutation(len(access))]
    seconds = time.perf_counter() - begun
    counts = defaultdict(int)
    for bucket, rows in groups.items():
        counts["/".join(map(str, bucket))] = len(rows)
    print(json.dumps({"seconds": seconds, "rows": len(data), "batches": len(access), "assigned": counts}))


main()
