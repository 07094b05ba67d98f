#!/usr/bin/env bash
# Runs random graphs on the providers, at the optimization levels and through context models, and
# compares the results (tests/differential), under AddressSanitizer and UndefinedBehaviorSanitizer.
#   scripts/check_random_graphs.sh [count, default 1500] [first seed, default 1] [preset, default asan-ubsan]
# Builds only what that needs. A failure names its seed; the program's --shrink shows why.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-1500}
first=${2:-1}
preset=${3:-asan-ubsan}

scripts/setup.sh --test
cmake --preset "$preset"
cmake --build --preset "$preset" --target random_graphs
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:intercept_tls_get_addr=0:max_free_fill_size=4096}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
build/"$preset"/tests/differential/random_graphs --seed "$first" --count "$count" --jobs "$(nproc)"
