#!/usr/bin/env bash
# Sets up, builds and runs all tests.
#   scripts/test.sh [preset] [ctest argument ...]
# Presets: dev (default), release, asan-ubsan, tsan.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
[ $# -eq 0 ] || shift

scripts/setup.sh --test
cmake --preset "$preset"
cmake --build --preset "$preset"
scripts/run_ctest.sh "$preset" "$@"
