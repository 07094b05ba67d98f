#!/usr/bin/python3
"""Measures runs through Python beside the same runs of `ephost bench` and of ONNX Runtime; see bench_python.sh.

  bench_python.py --build FOLDER --models FOLDER --runtime FOLDER [--model NAME,...] [--threads N,...]
                  [--repetitions N] [--runs N] [--ep NAME]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INSTALL = "import { installRuntime } from '%s'; installRuntime('%s');"
# A process of its own: a session, and the times of its runs.
MEASURE = """
import json, sys, time
import numpy as np
import ephost
model, provider, threads, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
options = ephost.SessionOptions()
options.intra_op_num_threads = threads
session = ephost.InferenceSession(model, options, providers=[provider])
random = np.random.default_rng(0)
feed = {one.name: random.standard_normal(one.shape).astype(np.float32) for one in session.get_inputs()}
for _ in range(5):
    session.run(None, feed)
seconds = []
for _ in range(runs):
    begin = time.perf_counter()
    session.run(None, feed)
    seconds.append(time.perf_counter() - begin)
print(json.dumps(seconds))
"""


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.build, self.runtime = pathlib.Path(arguments.build).resolve(), pathlib.Path(arguments.runtime).resolve()

    def output(self, threads, *command):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(self.build / "python")}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"bench_python: {command[0]} failed:\n{done.stderr}")
        return done.stdout

    def with_python(self, model, threads):
        """The median of the seconds that a run takes; so do the functions below."""
        seconds = self.output(threads, sys.executable, "-c", MEASURE, model, self.arguments.ep, threads,
                              self.arguments.runs)
        return statistics.median(json.loads(seconds))

    def with_cc(self, model, threads):
        report = self.output(threads, self.build / "bin" / "ephost", "bench", model, "--sessions", 1, "--runs",
                             self.arguments.runs, "--ep", self.arguments.ep, "--intra-op-threads", threads,
                             "--format", "json", "--quiet")
        return json.loads(report)["run"]["median_seconds"]

    def with_onnxruntime(self, model, threads):
        report = self.output(threads, "node", HERE / "onnxruntime" / "measure_session.mjs", self.runtime, model,
                             self.arguments.runs, "--threads", threads, "--optimize")
        return statistics.median(json.loads(report)["runSeconds"])

    def compare(self, name, threads):
        """The three sides in turns, and the medians over the repetitions."""
        model = pathlib.Path(self.arguments.models).resolve() / name / "model.onnx"
        sides = (self.with_python, self.with_cc, self.with_onnxruntime)
        rounds = [[side(model, threads) for side in sides] for _ in range(self.arguments.repetitions)]
        python, cc, onnxruntime = (statistics.median(side) for side in zip(*rounds))
        print(f"{name:14} {threads:7} {python * 1e3:11.4f} {cc * 1e3:8.4f} {onnxruntime * 1e3:15.4f} "
              f"{python / cc:10.3f} {(python - cc) * 1e6:9.2f} {python / onnxruntime:17.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Measures runs through Python")
    for name in ("build", "models", "runtime"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--model", default="mobilenetv2,tiny_mlp")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--ep", default="dnnl")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    install = INSTALL % (HERE / "onnxruntime" / "runtime.mjs", bench.runtime)
    bench.output(1, "node", "--input-type=module", "-e", install)
    print(f"{'model':14} {'threads':>7} {'Python (ms)':>11} {'C++ (ms)':>8} {'ONNX Runtime':>15} {'Python/C++':>10} "
          f"{'more (us)':>9} {'Python/ORT':>17}")
    for name in arguments.model.split(","):
        for threads in arguments.threads.split(","):
            bench.compare(name, int(threads))


if __name__ == "__main__":
    main()
