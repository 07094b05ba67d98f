#!/usr/bin/python3
"""Kills `ephost compile` at random moments, runs two of them into one path at the same time, and reads
what several of them replace.

Line 10 of the requirements, with real processes: after each kill the output folder holds the old
context model or the new one (or none, where none was), which `ephost verify` accepts and which
computes what its source model computes; after the next success nothing else is left. Prints what it
did, and exits with 1 at the first breach. The moments depend on the machine, their choice on --seed.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

EPHOST = os.environ["EPHOST"]
MODELS = {name: pathlib.Path(os.environ["EPHOST_TINY_MODELS"]) / name / "model.onnx"
          for name in ("tiny_cnn", "tiny_two_branches")}
OUTPUT = "m_ctx.onnx"
TEMPORARY = re.compile(r"\.ephost-.*\.tmp")
SUPERSEDED = re.compile(r".*\.[0-9a-f]{32}")


class Breach(Exception):
    pass


def clean_environment(folder):
    """What the machine has installed does not matter."""
    kept = {name: value for name, value in os.environ.items()
            if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
    return {**kept, "HOME": str(folder), "XDG_DATA_DIRS": str(folder)}


def start(model, folder):
    return subprocess.Popen(
        [EPHOST, "compile", MODELS[model], "--ep", "dnnl", "--output", folder / OUTPUT, "--quiet"],
        env=clean_environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    error = process.communicate(timeout=120)[1]
    if process.returncode != 0:
        raise Breach(f"an undisturbed generation failed: {error}")


def ephost(folder, *arguments):
    result = subprocess.run([EPHOST, *map(str, arguments)], env=clean_environment(folder),
                            capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Breach(f"ephost {arguments[0]}: {result.stdout}{result.stderr}")
    return result.stdout


def outputs_of(model, folder):
    run = ephost(folder, "run", model, "--ep", "dnnl", "--input", "input=random:5", "--format", "json")
    return [output["first"] for output in json.loads(run)["outputs"]]


def are_close(one, other):
    return len(one) == len(other) and all(
        len(a) == len(b) and all(abs(x - y) <= 1e-4 + 1e-3 * abs(y) for x, y in zip(a, b))
        for a, b in zip(one, other))


def contents(folder):
    """Name -> checksum of all files but temporary ones, which no reader looks at."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in sorted(os.listdir(folder)) if not TEMPORARY.fullmatch(name)}


class Folder:
    """Where contexts are generated, and the states it was found in."""

    def __init__(self, path, scratch):
        self.path = path
        self.complete = {}  # model -> contents after an undisturbed generation
        self.expected = {}  # model -> its outputs
        self.checked = {}   # contents -> model; what is the same needs no second look
        self.checks = 0
        for model, source in MODELS.items():
            clean = scratch / model
            clean.mkdir()
            finish(start(model, clean))
            self.complete[model] = contents(clean)
            self.expected[model] = outputs_of(source, clean)

    def empty(self):
        for name in os.listdir(self.path):
            (self.path / name).unlink()

    def state(self):
        """The model whose context is there; None without one."""
        found = contents(self.path)
        if OUTPUT not in found:
            return None
        key = tuple(found.items())
        if key not in self.checked:
            self.checks += 1
            ephost(self.path, "verify", self.path / OUTPUT)
            outputs = outputs_of(self.path / OUTPUT, self.path)
            models = [model for model in MODELS
                      if found[OUTPUT] == self.complete[model][OUTPUT]
                      and are_close(outputs, self.expected[model])]
            if len(models) != 1:
                raise Breach(f"the context model is neither the old one nor the new: {found}")
            self.checked[key] = models[0]
        return self.checked[key]

    def expect_complete(self, models):
        state = self.state()
        if state not in models:
            raise Breach(f"found the context of {state} instead of {models}")
        left = set(os.listdir(self.path))
        if left != set(self.complete[state]) or contents(self.path) != self.complete[state]:
            raise Breach(f"left after a success: {sorted(left)} instead of "
                         f"{sorted(self.complete[state])}")


def wait_for(folder, pattern, process):
    """Until a name in the folder matches, or the process is over."""
    known = set(os.listdir(folder))
    while process.poll() is None:
        if any(pattern.fullmatch(name) for name in set(os.listdir(folder)) - known):
            return


def measure(folder):
    """Seconds that a generation takes, and those from its first temporary file to its end."""
    totals, writing = [], []
    for _ in range(3):
        for model in MODELS:
            begin = time.monotonic()
            process = start(model, folder.path)
            wait_for(folder.path, TEMPORARY, process)
            first_file = time.monotonic()
            finish(process)
            totals.append(time.monotonic() - begin)
            writing.append(time.monotonic() - first_file)
    return min(totals), min(writing)


def kill_one(folder, model, moment, times, generator):
    """Starts a generation and kills it. Returns what became of it."""
    before, names_before = folder.state(), set(os.listdir(folder.path))
    process = start(model, folder.path)
    if moment == "any time":
        time.sleep(generator.uniform(0, times[0]))
    elif moment == "writing":
        wait_for(folder.path, TEMPORARY, process)
        time.sleep(generator.uniform(0, times[1]))
    else:
        wait_for(folder.path, SUPERSEDED, process)
    process.kill()
    process.communicate(timeout=120)
    if process.returncode == 0:
        folder.expect_complete([model])
        return "finished before the kill"
    after = folder.state()
    if after not in (before, model):
        raise Breach(f"a killed generation of {model} turned {before} into {after}")
    if any(SUPERSEDED.fullmatch(name) for name in set(os.listdir(folder.path)) - names_before):
        return "killed while publishing"
    if after == model and before != model:
        return "killed after publishing"
    return "killed before publishing"


def check_kills(folder, rounds, generator):
    times = measure(folder)
    print(f"a generation takes {times[0] * 1000:.0f} ms, {times[1] * 1000:.0f} ms of it with files open")
    outcomes = collections.Counter()
    most_left = 0
    for number in range(rounds):
        if number % 10 == 0:
            # The next success, in a folder in which ten have died.
            finish(start("tiny_cnn", folder.path))
            folder.expect_complete(["tiny_cnn"])
            if number % 20 == 0:
                folder.empty()
        model = generator.choice(list(MODELS))
        moment = ("any time", "writing", "publishing")[number % 3]
        outcomes[kill_one(folder, model, moment, times, generator)] += 1
        most_left = max(most_left, sum(1 for name in os.listdir(folder.path)
                                       if TEMPORARY.fullmatch(name)))
    finish(start("tiny_cnn", folder.path))
    folder.expect_complete(["tiny_cnn"])
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:4} {outcome}")
    print(f"{rounds} generations, {folder.checks} different states loaded and run; up to {most_left} "
          "temporary files lay there before a success cleared them away")
    if most_left == 0:
        raise Breach("no kill left a temporary file; the test proves nothing")


def check_races(folder, rounds):
    winners = collections.Counter()
    for _ in range(rounds):
        processes = [start(model, folder.path) for model in MODELS]
        for process in processes:
            finish(process)
        folder.expect_complete(list(MODELS))
        winners[folder.state()] += 1
    print(f"{rounds} races of two generations, won by {dict(winners)}")


def check_readers(folder, writers, readers, rounds):
    """Readers of a context model that several writers replace again and again: none may fail."""
    finish(start("tiny_cnn", folder.path))
    writing = {}
    sessions = 0
    for _ in range(rounds):
        running = []
        for _ in range(readers):
            for number in range(writers):
                if number not in writing or writing[number].poll() is not None:
                    if number in writing:
                        finish(writing[number])
                    writing[number] = start(list(MODELS)[(number + sessions) % 2], folder.path)
            running.append(subprocess.Popen(
                [EPHOST, "run", folder.path / OUTPUT, "--ep", "dnnl", "--quiet"],
                env=clean_environment(folder.path), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True))
            sessions += 1
        for process in running:
            error = process.communicate(timeout=120)[1]
            if process.returncode != 0:
                raise Breach(f"a reader met a publication: {error}")
    for process in writing.values():
        finish(process)
    folder.expect_complete(list(MODELS))
    print(f"{sessions} sessions of a context model that {writers} writers were replacing")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, metavar="N", help="generations to kill")
    parser.add_argument("--races", type=int, default=10, metavar="N",
                        help="pairs of generations at the same time")
    parser.add_argument("--reads", type=int, default=20, metavar="N",
                        help="rounds of readers beside writers")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary).resolve()
        path = scratch / "out"
        path.mkdir()
        folder = Folder(path, scratch)
        try:
            check_kills(folder, arguments.rounds, random.Random(arguments.seed))
            check_races(folder, arguments.races)
            check_readers(folder, writers=5, readers=3, rounds=arguments.reads)
        except Breach as breach:
            sys.exit(f"check_crashes: {breach}")


if __name__ == "__main__":
    main()
