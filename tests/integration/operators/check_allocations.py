#!/usr/bin/python3
"""Counts what runs of the models of make_operator_models.py allocate, after the first ones.

  check_allocations.py EPHOST COUNTER MODELS_DIR ONEDNN_VERSION

COUNTER is the library of tests/support/count_allocations.c.

Neither the host nor the CPU provider may take memory from the heap: outputs, workspaces and scratch
memory have their places by then, those of outputs whose size depends on values too. What remains is
oneDNN's: dnnl_primitive_execute puts the arguments into a hash map, a node each.
"""
import json
import os
import pathlib
import subprocess
import sys

# Allocations of a run within dnnl_primitive_execute, with one thread, by the library's major version. A
# recurrent layer executes products of 7 allocations each: an LSTM one for all inputs and one a step, a GRU
# two.
PRODUCTS = {
    "ConvTranspose 2x2": 6,
    "MatMul": 6,
    "MatMul, batched": 6,
    "Gemm": 7,
    "Einsum": 6,
    "LSTM": 65 * 7,
    "GRU": 130 * 7,
}
WITHIN_ONEDNN = {
    2: PRODUCTS | {"Conv 1x1": 6, "Conv 3x3": 13, "Conv 3x3, depthwise": 12, "Conv 7x7, stride 2": 12},
    3: PRODUCTS | {"Conv 1x1": 12, "Conv 3x3": 17, "Conv 3x3, depthwise": 15, "Conv 7x7, stride 2": 16},
}


def measure(ephost, model, environment):
    command = [ephost, "bench", model, "--sessions", "1", "--runs", "1", "--warm-up", "1",
               "--format", "json", "--quiet"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True,
                                       env={**os.environ, **environment}, timeout=500).stdout)
    return report["allocations_per_run"], report["host_allocations_per_run"]


def main():
    ephost, counter, models = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    names = json.loads((models / "cases.json").read_text())
    within_onednn = WITHIN_ONEDNN[int(sys.argv[4].split(".")[0])]
    assert within_onednn.keys() <= names.keys(), within_onednn.keys() - names.keys()
    failures = []
    for name in names:
        limit = within_onednn.get(name, 0)
        environment = {"LD_PRELOAD": str(counter)} | ({"OMP_NUM_THREADS": "1"} if limit else {})
        everywhere, host = measure(ephost, models / name / "model.onnx", environment)
        print(f"{name}: {everywhere} allocations a run, {host} of them the host's")
        if everywhere > limit or host > 0:
            failures.append(f"{name}: {everywhere}, expected at most {limit} and none of the host")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
