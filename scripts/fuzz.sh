#!/usr/bin/env bash
# Builds the fuzz targets with clang, AddressSanitizer and UndefinedBehaviorSanitizer, and runs each for an equal share
# of the time, starting from its committed corpus.
#   scripts/fuzz.sh [seconds in total, default 60]
# An input that crashes, hangs or takes too much memory fails the run and is kept in build/fuzz/found;
# `build/fuzz/tests/fuzz/fuzz_<target> FILE` runs it alone. New corpus entries are kept in build/fuzz/learned for the
# next run.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=(onnx_import context_model signature dnnl_container image_decoder)

scripts/setup.sh
cmake --preset fuzz
cmake --build --preset fuzz
mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/learned/$target"
  log=build/fuzz/$target.log
  if ! build/fuzz/tests/fuzz/"fuzz_$target" -max_total_time=$((seconds / ${#targets[@]})) \
    -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=65536 \
    -artifact_prefix="build/fuzz/found/$target-" \
    "build/fuzz/learned/$target" "tests/fuzz/corpus/$target" > "$log" 2>&1; then
    grep -v -E '(NEW|REDUCE|pulse) ' "$log" | tail -n 80
    echo "fuzz: $target failed"
    exit 1
  fi
  echo "fuzz: $target: $(grep DONE "$log")"
done
