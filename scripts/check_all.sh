#!/usr/bin/env bash
# Runs the checks that take too long for continuous integration: hours on two processors.
#   scripts/check_all.sh [part ...]        without parts: all of them, in this order
# Parts:
#   tidy                clang-tidy over host and plugins
#   sources             every source and header compiled alone
#   dev release tsan    all tests
#   asan                all tests under AddressSanitizer and UndefinedBehaviorSanitizer, with a large
#                       quarantine and freed memory overwritten
#   containers          all tests with the checks of the standard library (preset checked-containers),
#                       and 20,000 random graphs
#   malloc              all tests of `dev` with memory that is overwritten when allocated and freed, and
#                       100,000 random graphs
#   graphs              20,000 random graphs under the sanitizers
#   fuzz                ten minutes of fuzzing
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
parts=("$@")
[ $# -gt 0 ] || parts=(tidy sources dev release tsan asan containers malloc graphs fuzz)

# $1: preset to build, $2: test preset, default the same.
run_tests() {
  cmake --preset "$1"
  cmake --build --preset "$1"
  EPHOST_LONG_RUN=1 scripts/run_ctest.sh "${2:-$1}" --build-config long
}

run_part() {
  case $1 in
    tidy) scripts/tidy.sh ;;
    sources) scripts/check_sources.py ;;
    dev | release | tsan)
      [ "$1" = tsan ] || export EPHOST_RANDOM_MODELS=2500  # of each kind of stream
      run_tests "$1"
      ;;
    asan) run_tests asan-ubsan asan-ubsan-strict ;;
    containers)
      run_tests checked-containers
      scripts/check_random_graphs.sh 20000 200001 checked-containers
      ;;
    malloc)
      # Without thread caches, blocks of all sizes are overwritten.
      export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=165
      run_tests dev
      scripts/check_random_graphs.sh 100000 300001 dev
      ;;
    graphs) scripts/check_random_graphs.sh 20000 100001 ;;
    fuzz) scripts/fuzz.sh 600 ;;
    *)
      echo "check_all: there is no part '$1'"
      return 2
      ;;
  esac
}

if [ $# -eq 1 ]; then
  scripts/setup.sh
  run_part "$1"
  exit
fi
failed=()
for part in "${parts[@]}"; do
  echo "check_all: $part"
  # In a separate process: variables that a part exports do not leak, and a part that fails ends alone.
  scripts/check_all.sh "$part" || failed+=("$part")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "check_all: failed: ${failed[*]}"
  exit 1
fi
echo "check_all: all parts passed"
