#!/usr/bin/env bash
# Measures the order and the memory plan of seven models: makes the models, builds the release preset, and prints
# planned bytes, lower bound, their ratio and the planning time. Run it on an otherwise idle machine.
#   scripts/bench_planning.sh [benchmark flag ...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost_benchmarks
models=build/release/planning_models
for name in resnet50 mobilenetv2 bert_base densenet121 inception_v3 nasnet_mobile unet; do
  [ -d "$models/$name" ] || /usr/bin/python3 scripts/make_models.py "$models" "$name" --no-outputs
done
build/release/tests/benchmarks/ephost_benchmarks "$models" --benchmark_filter=/planning/ \
  --benchmark_min_time=0.01 --benchmark_repetitions=5 "$@"
