#!/usr/bin/env bash
# Compares single operators of the CPU provider with ONNX Runtime's (npm package onnxruntime-node) at
# sizes from real models, one thread on both sides. Fails if one takes more than 3 times as long.
#   scripts/bench_operators_vs_onnxruntime.sh [name ...]
# Nothing else should run on the machine meanwhile. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu
models=build/release/operator_models
/usr/bin/python3 scripts/make_operator_models.py "$models"
exec node scripts/onnxruntime/compare_operators.mjs build/release "$models" build/release/onnxruntime "$@"
