#!/usr/bin/env bash
# Measures what streams of a device cost and gain, on a simulated device that takes known times: the time of a run as a
# ratio to what the device alone needs, with calls that wait for their work and with work that is enqueued. Run it on an
# otherwise idle machine.
#   scripts/bench_streams.sh [benchmark flag ...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost_streams_benchmark
build/release/tests/benchmarks/ephost_streams_benchmark --benchmark_min_time=0.2 "$@"
