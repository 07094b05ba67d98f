#!/usr/bin/env bash
# Measures what the C API and the C++ wrapper add to a run, beside the classes behind them in the same
# process: makes MobileNetV2 and a model without nodes, builds the release preset, and runs both. Run it on an
# otherwise idle machine.
#   scripts/bench_api.sh [benchmark flag ...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost_api_benchmark
models=build/release/api_models
for name in empty mobilenetv2; do
  [ -d "$models/$name" ] || /usr/bin/python3 scripts/make_models.py "$models" "$name" --no-outputs
done
build/release/tests/benchmarks/ephost_api_benchmark "$models"/{empty,mobilenetv2}/model.onnx \
  --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true \
  --benchmark_report_aggregates_only=true "$@"
