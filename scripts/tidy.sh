#!/usr/bin/env bash
# Runs clang-tidy over the sources of a configured preset (default dev), or over the files given.
#   scripts/tidy.sh [--preset NAME] [file ...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=dev
if [ "${1:-}" = --preset ]; then preset=$2; shift 2; fi
[ -f "build/$preset/compile_commands.json" ] || cmake --preset "$preset"
if [ $# -eq 0 ]; then mapfile -t files < <(git ls-files 'host/*.cc' 'plugins/*.cc'); else files=("$@"); fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "build/$preset"
