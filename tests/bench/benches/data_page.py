"""From a keystroke on the Data page to its counts, on millions of rows, and how long the window's thread is ever busy meanwhile."""
import json
import os

TARGETS = {"edit_to_counts_ms": 100, "longest_stall_ms": 50}
BUCKETS = "bucket_config: {256px: {1: !tuple [1.0, 50], 33: !tuple [1.0, 10], 129: !tuple [1.0, 4]}, 768px: {1: !tuple [0.5, 13], 33: !tuple [0.3, 1]}, 1024px: {1: !tuple [0.3, 7]}}\n"


def run(bench):
    program = bench.programs / "stagewright-window-bench"
    if not program.exists():
        return bench.out("data_page", skipped="this build has no window")
    table, stage = bench.folder / "page.csv", bench.folder / "page.yaml"
    bench.write_table(table, 20_000 if bench.small else 2_000_000)
    stage.write_text(f"dataset: {{type: video_text, data_path: {table}, fps_max: 24}}\n{BUCKETS}")
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    figures = json.loads(bench.checked([program, "data", stage, 5 if bench.small else 30], env=environment, cwd=bench.folder))
    bench.out("data_page", **figures, targets=TARGETS)
