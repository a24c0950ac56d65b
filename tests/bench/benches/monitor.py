"""What the monitor costs a step, and what viewers cost, taken turn by turn inside one training."""
import json
import statistics
import subprocess
import time

TURN = 20                # steps a turn
SETTLE = 4               # steps of a turn that are not counted: programs start and end in them
STARTING = 16            # the same where viewers come and go: ten of them start and read the history meanwhile


def run(bench):
    monitor(bench)
    viewers(bench)


def ratio_of_turns(turns, wanted, other):
    """The median over neighbouring turns of the ratio of their median step times, so that a machine that grows slower counts for neither."""
    ratios = []
    for (kind, seconds), (next_kind, next_seconds) in zip(turns, turns[1:]):
        if (kind, next_kind) == (other, wanted):
            ratios.append(statistics.median(next_seconds) / statistics.median(seconds))
        elif (kind, next_kind) == (wanted, other):
            ratios.append(statistics.median(seconds) / statistics.median(next_seconds))
    return statistics.median(ratios)


def monitor(bench):
    """History, lease, socket and TensorBoard file against a sink that takes nothing: a turn with, a turn without."""
    rounds = 1 if bench.small else 12
    steps = bench.steps(bench.source / "configs/demo.yaml", rounds * 2 * TURN, 128, 9, 2, "--dataset.data-path", "none.csv", "--ckpt-every", 0,
                        "--monitor-turn", TURN)["steps"]
    seconds = [s["seconds"] for s in steps]
    turns = [(at // TURN % 2, seconds[at + SETTLE:at + TURN]) for at in range(0, len(seconds), TURN)]
    bench.out("monitor", monitored_to_bare=ratio_of_turns(turns, 1, 0), turns=len(turns))


def viewers(bench):
    counts = [0, 1, 10, 1]
    rounds = 1 if bench.small else 6
    turns = [counts[at % len(counts)] for at in range(len(counts) * rounds + 1)]
    stage = bench.demo_stage()
    # One bucket only, so that every step is the same work. It is stopped when the last turn is over.
    launched = json.loads(bench.checked([bench.cli, "train", stage, "--detach", "--json", "--bucket_config", '{"128px": {9: (1.0, 2)}}',
                                         "--max-train-steps", "1000000", "--ckpt-every", "0"], cwd=bench.folder))
    history = bench.folder / launched["run"] / "events.jsonl"
    watching, measured, steps = [], [], Steps(history)
    try:
        for wanted in turns:
            while len(watching) > wanted:
                watching[-1].terminate()
                watching.pop().wait(60)
            while len(watching) < wanted:
                watching.append(subprocess.Popen([str(bench.cli), "attach", launched["run"], "--json"], cwd=bench.folder,
                                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            steps.read()
            begun = len(steps.seconds)
            while len(steps.seconds) < begun + STARTING + TURN:
                if any(process.poll() is not None for process in watching):
                    bench.fail("a viewer ended while the run went on")
                time.sleep(0.5)
                steps.read()
            measured.append((wanted, steps.seconds[begun + STARTING:begun + STARTING + TURN]))
    finally:
        bench.checked([bench.cli, "stop", launched["run"], "--no-save"], cwd=bench.folder)
        for process in watching:
            process.wait(60)
    bench.out("viewers", one_to_none=ratio_of_turns(measured, 1, 0), ten_to_one=ratio_of_turns(measured, 10, 1), turns=len(measured))


class Steps:
    """The seconds of each step without its wait for data, read from the history as it grows: each line once, so that looking costs the run nothing."""

    def __init__(self, history):
        self.history, self.file, self.rest, self.seconds = history, None, "", []

    def read(self):
        if not self.file:
            if not self.history.exists():
                return
            self.file = open(self.history)
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        for line in lines:
            if line.startswith('{"event":"step"'):
                step = json.loads(line)
                self.seconds.append(step["seconds"] - step.get("data_wait_seconds", 0))
