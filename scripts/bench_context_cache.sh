#!/usr/bin/env bash
# Measures the EP context cache: makes the models, builds the release preset, runs the benchmarks and prints their times
# and ratios. Run it on an otherwise idle machine.
#   scripts/bench_context_cache.sh [benchmark flag ...]
# For example --benchmark_filter='resnet50|partitions', --benchmark_out=results.json. Each benchmark is repeated three
# times, in random order, unless the flags say otherwise; the tables show medians.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost_benchmarks
models=build/release/benchmark_models
/usr/bin/python3 scripts/make_models.py "$models" resnet50 mobilenetv2 bert_base --no-outputs
/usr/bin/python3 scripts/make_models.py "$models" chain -n 10000 --no-outputs
build/release/tests/benchmarks/ephost_benchmarks "$models" \
  --benchmark_min_time=0.01 --benchmark_repetitions=3 --benchmark_enable_random_interleaving=true \
  --benchmark_out_format=json "$@"
