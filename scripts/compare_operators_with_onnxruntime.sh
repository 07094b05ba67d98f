#!/usr/bin/env bash
# Compares the results of the CPU provider's operators with ONNX Runtime's (npm package onnxruntime-node) on
# the cases of scripts/operator_cases, and prints a table. Fails on a difference that
# scripts/onnxruntime/deviations.txt does not explain.
#   scripts/compare_operators_with_onnxruntime.sh [--record FILE] [--verbose] [case or operator ...]
# Needs Node.js 18 or later with npm. tests/data/README.md says what --record is for.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
cmake --preset release
cmake --build --preset release --target ephost ephost_cpu
exec /usr/bin/python3 scripts/compare_operators.py build/release/bin/ephost build/release/onnxruntime \
  build/release/compared_operators "$@"
