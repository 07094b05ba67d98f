#!/usr/bin/env bash
# Compares single operators of the CPU provider with ONNX Runtime's at sizes from real models, with one thread and
# without optimizations on both sides. Fails if an operator takes more than 3 times as long.
#   scripts/bench_operators_vs_onnxruntime.sh [--sessions N] [name ...]
# Both sides run the same model, which contains 32 copies of a node (one if a node takes long), so that the time of a
# run is dominated by the nodes and not by calls into the library: an empty run takes ONNX Runtime about 12 microseconds
# through Node.js. The table shows the median run, minus that of the same model without these nodes, divided by the
# number of copies. Each side is launched N times (default 5), alternating with the other; the result is the median over
# the launches. Run it on an otherwise idle machine. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu
models=build/release/operator_models
/usr/bin/python3 scripts/make_operator_models.py "$models"
exec node scripts/onnxruntime/compare_operators.mjs build/release "$models" build/release/onnxruntime "$@"
