#!/usr/bin/env bash
# Checks that each library exports one function and nothing else, and has no GNU unique symbols (which
# would keep it from being unloaded).
#   scripts/check_exports.sh [--function NAME] library.so ...     by default that of plugins, eph_plugin_v1
set -euo pipefail
expected=eph_plugin_v1
if [ "${1:-}" = --function ]; then
  expected=$2
  shift 2
fi
status=0
for library in "$@"; do
  # "A" are the nodes of version scripts.
  exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u)
  if [ "$exported" != "$expected" ]; then
    echo "exports: $library exports: ${exported//$'\n'/, }; not just $expected"
    status=1
  fi
  if readelf -Ws "$library" | grep -q ' UNIQUE '; then
    echo "exports: $library has GNU unique symbols; add -fno-gnu-unique"
    status=1
  fi
done
echo "exports: checked $# libraries"
exit $status
