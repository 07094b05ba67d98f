#!/usr/bin/env bash
# Runs clang-tidy over the sources of a configured preset (default dev-incremental), and fails if it finds anything.
#   scripts/tidy.sh [--preset NAME] [--changed | file ...]
# Without files: all of host and plugins. --changed: those that differ from the commit $TIDY_BASE, default the
# one before the last; of more than $TIDY_MOST (default 40), those with the most changed lines.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=dev-incremental
if [ "${1:-}" = --preset ]; then preset=$2; shift 2; fi
cmake --preset "$preset" > /dev/null
cmake --build --preset "$preset" --target generated_headers > /dev/null
sources=('host/*.cc' 'plugins/*.cc')
if [ "${1:-}" = --changed ]; then
  # A checkout without history has nothing to compare with.
  base=$(git rev-parse --verify --quiet "${TIDY_BASE:-HEAD~1}^{commit}") || base=HEAD
  mapfile -t files < <(git diff --numstat --no-renames --diff-filter=d "$base" -- "${sources[@]}" |
    sort --key=1,1nr | cut --fields=3)
  most=${TIDY_MOST:-40}
  if [ ${#files[@]} -gt "$most" ]; then
    echo "tidy: ${#files[@]} sources changed; checking the $most with the most changed lines"
    files=("${files[@]:0:most}")
  fi
elif [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files "${sources[@]}")
else
  files=("$@")
fi
echo "tidy: ${#files[@]} sources"
[ ${#files[@]} -gt 0 ] || exit 0
# clang does not know all options of gcc.
database=build/$preset/tidy
mkdir -p "$database"
sed -E 's/ -(fno-gnu-unique|fpch-preprocess|fno-trapping-math)\b//g' "build/$preset/compile_commands.json" \
  > "$database/compile_commands.json"
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet --warnings-as-errors='*' -p "$database" \
    2> >(grep -v 'warnings generated' >&2 || true)
