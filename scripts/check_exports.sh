#!/usr/bin/env bash
# Checks that a plugin exports eph_plugin_v1 and nothing else, and has no GNU unique symbols (which
# would keep it from being unloaded).
#   scripts/check_exports.sh plugin.so ...
set -euo pipefail
status=0
for library in "$@"; do
  exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u)
  if [ "$exported" != eph_plugin_v1 ]; then
    echo "exports: $library exports: ${exported//$'\n'/, }"
    status=1
  fi
  if readelf -Ws "$library" | grep -q ' UNIQUE '; then
    echo "exports: $library has GNU unique symbols; add -fno-gnu-unique"
    status=1
  fi
done
echo "exports: checked $# libraries"
exit $status
