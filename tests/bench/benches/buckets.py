"""Assigning and ordering a table's rows against pandas as Open-Sora 2.0 uses it; what-if edits; memory."""
import json
import subprocess


def run(bench):
    rows = 20_000 if bench.small else 2_000_000
    peer_rows = rows if bench.small else 100_000
    table, part = bench.folder / "table.csv", bench.folder / "part.csv"
    bench.write_table(table, rows)
    ours = json.loads(bench.checked([bench.data_bench, "buckets", table]))
    bench.out("buckets", **ours, bytes_limit=2 * 10**9, within=ours["resident_bytes"] < 2 * 10**9)
    python = bench.peer
    if not python or subprocess.run([str(python), "-c", "import pandas"], capture_output=True).returncode != 0:
        bench.out("buckets_peer", skipped="no Python with pandas: --install-peer makes one, --peer-python names one")
        return
    bench.write_table(part, peer_rows)
    ours = json.loads(bench.checked([bench.data_bench, "buckets", part]))
    theirs = json.loads(bench.checked([python, bench.here / "buckets_peer.py", part]))
    if theirs["batches"] != ours["batches"]:
        bench.fail(f"pandas makes {theirs['batches']} batches and we make {ours['batches']}")
    bench.out("buckets_peer", rows=peer_rows, ours_seconds=ours["assign_and_order_seconds"], pandas_seconds=theirs["seconds"],
              times_faster=theirs["seconds"] / ours["assign_and_order_seconds"])
