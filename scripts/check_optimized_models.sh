#!/usr/bin/env bash
# Lets ONNX Runtime (npm package onnxruntime-node) save every generated model at its optimisation levels basic and
# extended, runs what it saved with ephost, and compares the outputs with those of ONNX Runtime's own session.
#   scripts/check_optimized_models.sh [--levels LEVEL,...] [--ep NAME ...] [MODEL ...]
# Without names it takes the groups tiny, full, quantized and open, about 12 GB in
# build/release/benchmark_models_onnxruntime. Needs Node.js 18 or later with npm.
set -euo pipefail
cd "$(dirname "$0")/.."

models=build/release/benchmark_models_onnxruntime
names=()
options=()
while (($# > 0)); do
  case "$1" in
    --levels | --ep) options+=("$1" "$2"); shift 2 ;;
    -*) echo "check_optimized_models.sh: unknown option $1" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu ephost_dnnl
groups=(tiny full quantized open)
((${#names[@]} == 0)) || groups=("${names[@]}")
/usr/bin/python3 scripts/make_models.py "$models" "${groups[@]}" --no-outputs
exec node scripts/onnxruntime/check_optimized.mjs build/release "$models" build/release/onnxruntime \
  "${options[@]}" "${names[@]}"
