#!/usr/bin/env bash
# Measures runs beside other programs that keep processors busy, with ephost and ONNX Runtime (npm package
# onnxruntime-node): no busy threads, half as many as there are processors, as many, three times as many, and a session
# of ONNX Runtime whose threads spin between its runs. Makes the models and builds the release preset.
#   scripts/bench_busy.sh [--models NAME,...] [--forms FORM,...] [--threads N,...] [--loads LOAD,...]
#                         [--repetitions N] [--runs N] [--ep NAME ...] [--json FILE]
# Forms are float and int8; loads are 0, half, all, triple and session. Threads are 1, 2, 4, ... up to the number of
# processors unless the flag says otherwise.
# The table has the median of a run in milliseconds, and its ratio to the same on the quiet machine (load 0), to one
# thread under the same load, and to ONNX Runtime under the same load. In each repetition every side runs in a process
# of its own, in turns; the medians are over the repetitions, 3 unless the flag says otherwise.
# PROCESSORS=0-3 lets everything, the other programs too, run on these processors alone.
# BUILD=FOLDER takes the programs of a build folder as they are.
# Run it on an otherwise idle machine. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${BUILD:-}" ]; then
  scripts/setup.sh --test
  cmake --preset release
  cmake --build --preset release --target ephost ephost_cpu ephost_dnnl
  BUILD=build/release
fi
[ -z "${PROCESSORS:-}" ] || taskset -p -c "$PROCESSORS" $$ >/dev/null
exec node scripts/onnxruntime/compare_busy.mjs "$BUILD" "$BUILD/benchmark_models_onnxruntime" "$BUILD/onnxruntime" "$@"
