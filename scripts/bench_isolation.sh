#!/usr/bin/env bash
# Measures what worker processes cost: runs of a fused call of some microseconds and of ResNet-50 with dnnl, and the
# creation of a session over 10,000 nodes in 100 partitions, in the process of the host and in a worker, in turns.
# Prints medians, their difference, and the median of the ratios of neighbouring turns. Makes the models and builds
# the release preset. Run it on an otherwise idle machine.
#   scripts/bench_isolation.sh
# BUILD=FOLDER takes the programs of a build folder as they are.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${BUILD:-}" ]; then
  scripts/setup.sh --test
  cmake --preset release
  cmake --build --preset release --target ephost_isolation_benchmark
  BUILD=build/release
fi
models=$BUILD/isolation_models
for name in tiny_mlp resnet50 chain; do
  [ -d "$models/$name" ] || /usr/bin/python3 scripts/make_models.py "$models" "$name" --no-outputs
done
EPHOST_WORKER_PROGRAM=$(realpath "$BUILD/lib/ephost/ephost-worker") \
  "$BUILD/tests/benchmarks/ephost_isolation_benchmark" "$models"
