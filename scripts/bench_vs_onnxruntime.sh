#!/usr/bin/env bash
# Compares ephost with ONNX Runtime (npm package onnxruntime-node): makes the models, builds the release preset, and
# prints for both sides session creation, first run, run, dispatch per node, planned memory, allocations and resident
# memory, with one thread and without optimizations.
#   scripts/bench_vs_onnxruntime.sh [--sessions N] [--runs N] [--json FILE]
# Run it on an otherwise idle machine. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu ephost_count_allocations
models=build/release/onnxruntime_models
for nodes in 2 1000 10000 100000; do
  for kind in chain fanout; do
    if [ "$kind-$nodes" = fanout-2 ] || [ -d "$models/$kind-$nodes" ]; then continue; fi
    /usr/bin/python3 scripts/make_models.py "$models" "$kind" -n "$nodes" --no-outputs
    mv "$models/$kind" "$models/$kind-$nodes"
  done
done
# 10,000 values that are live at once.
if [ ! -d "$models/gather-10000" ]; then
  /usr/bin/python3 scripts/make_models.py "$models" gather -n 10000 --no-outputs
  mv "$models/gather" "$models/gather-10000"
fi
for name in resnet50 mobilenetv2 bert_base densenet121 unet; do
  [ -d "$models/$name" ] || /usr/bin/python3 scripts/make_models.py "$models" "$name" --no-outputs
done
exec node scripts/onnxruntime/compare.mjs build/release "$models" build/release/onnxruntime "$@"
