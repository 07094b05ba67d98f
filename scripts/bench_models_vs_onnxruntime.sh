#!/usr/bin/env bash
# Compares whole models with ONNX Runtime (npm package onnxruntime-node): makes the models, builds the release preset,
# and prints the ratios, ours to theirs, of session creation, first run, run (median) and peak memory, with one thread
# and with two.
#   scripts/bench_models_vs_onnxruntime.sh [--models NAME,...] [--forms FORM,...] [--threads N,...] [--repetitions N]
#                                          [--runs N] [--ep NAME ...] [--json FILE]
# Forms:
#   float, int8         the model itself; with 8-bit activations and weights (QDQ)
#   dynamic, int4       8-bit products that quantise as they run; 4-bit weights in MatMulNBits
#   open                batch, and height and width or sequence, have no fixed size
#   context             ephost starts from its context model, ONNX Runtime from the model that it has optimised and
#                       saved
# Both sides apply all optimizations and get the same inputs. ephost asks dnnl first unless --ep says otherwise. In each
# repetition each side runs in a process of its own, in turns; the table has the medians over the repetitions, 5 unless
# the flag says otherwise. Memory is the peak above that of a session of two nodes, and "process" the peak of the whole
# process. What cannot be measured is named, and the exit status is 1 then. The models take about 5 GB in
# build/release/benchmark_models_onnxruntime. Run it on an otherwise idle machine.
# Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu ephost_dnnl
exec node scripts/onnxruntime/compare_models.mjs build/release build/release/benchmark_models_onnxruntime \
  build/release/onnxruntime "$@"
