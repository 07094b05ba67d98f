#!/usr/bin/env bash
# Compares `run` through Python with `ephost bench`, which is C++, and with ONNX Runtime (npm package onnxruntime-node,
# as bench_models_vs_onnxruntime.sh installs it): makes MobileNetV2 and a tiny model, builds the release preset, runs
# the three sides in turns, each time in a process of its own, and prints medians and ratios.
#   scripts/bench_python.sh [--model NAME,...] [--threads N,...] [--repetitions N] [--runs N] [--ep NAME]
# BUILD=FOLDER takes what is built in that folder instead. Run it on an otherwise idle machine.
# Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build/release}
if [ -z "${BUILD:-}" ]; then
  scripts/setup.sh --test
  cmake --preset release
  cmake --build --preset release --target ephost python_package ephost_cpu ephost_dnnl
fi
models=$build/benchmark_models_python
names=mobilenetv2,tiny_mlp
for ((i = 1; i < $#; ++i)); do
  next=$((i + 1))
  if [ "${!i}" = --model ]; then names=${!next}; fi
done
for name in ${names//,/ }; do
  [ -d "$models/$name" ] || /usr/bin/python3 scripts/make_models.py "$models" "$name" --no-outputs
done
exec /usr/bin/python3 scripts/bench_python.py --build "$build" --models "$models" --runtime "$build/onnxruntime" "$@"
