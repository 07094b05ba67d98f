#!/usr/bin/env bash
# Compares single operators of the CPU provider with ONNX Runtime's at sizes from real models, one thread
# and no optimisations on both sides. Fails if one takes more than 3 times as long.
#   scripts/bench_operators_vs_onnxruntime.sh [--sessions N] [name ...]
# Both sides run the same model, which holds 32 copies of a node (one where a node takes long), so that
# the time of a run is the nodes' and not that of the way into the library: an empty run takes ONNX
# Runtime about 12 microseconds through Node.js. What is printed is the median run, without what the same
# model takes that has everything but these nodes, divided by the number of copies. Each side has N launches
# (default 5) in turn with the other's, and what counts is the median of the launches.
# Other work on the machine shows in the figures. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu
models=build/release/operator_models
/usr/bin/python3 scripts/make_operator_models.py "$models"
exec node scripts/onnxruntime/compare_operators.mjs build/release "$models" build/release/onnxruntime "$@"
