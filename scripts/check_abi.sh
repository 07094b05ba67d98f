#!/usr/bin/env bash
# Compares an interface as it was frozen with that of today's headers, with abidiff: the plugin ABI by a
# plugin, the C API by its function. Appended fields do not count as a difference; everything else does.
# abidiff cannot see through the untyped tables of extensions: the golden layouts cover those
# (tests/abi/layout_prefix.py).
#   scripts/check_abi.sh FROZEN [INCLUDE]   a folder that export_abi.sh wrote, and headers to compare
#                                           instead of plugin_sdk/include or host/include
set -euo pipefail
root=$(dirname "$(realpath "$0")")/..
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -d "$1/include" ]; then
  echo "check_abi: give a folder that scripts/export_abi.sh wrote, and at most one of headers" >&2
  exit 2
fi
frozen=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -f "$frozen/plugins/minimal_provider.c" ]; then
  what="plugins built from"
  include=${2:-$root/plugin_sdk/include}
  cp "$frozen/plugins/minimal_provider.c" "$work/source.c"
else
  what="programs built from"
  include=${2:-$root/host/include}
  cat > "$work/source.c" <<'EOF'
#include <ephost/c_api.h>
const ephost_api* ephost_api_v1(void) { return NULL; }
EOF
fi

build() {  # $1: headers, $2: library
  "${CC:-cc}" -std=c11 -g -O0 -fPIC -shared -fvisibility=hidden -I"$1" "$work/source.c" -o "$2"
}
build "$frozen/include" "$work/frozen.so"
build "$include" "$work/today.so"

# The report has a block for each struct that changed. abidiff's own suppressions cannot tell a field at
# the end from one in the middle, so the lines about those at the end are taken out here.
status=0
abidiff --leaf-changes-only "$work/frozen.so" "$work/today.so" > "$work/report" || status=$?
if [ $((status & 3)) -ne 0 ]; then
  cat "$work/report" >&2
  echo "check_abi: abidiff failed" >&2
  exit 1
fi
awk '
  /^Leaf changes summary|^Changed leaf types summary|^$/ { next }
  /^Removed\/Changed\/Added (functions|variables) summary: 0 Removed, 0 Changed, 0 Added/ { next }
  /^\x27struct .* changed:$/ { block = $0; size = -1; next }
  /^  type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ && $7 > $5 { size = $5 + 0; next }
  /^  [0-9]+ data member insertions?:$/ { next }
  size >= 0 && match($0, /, at offset [0-9]+ \(in bits\)/) {
    if (substr($0, RSTART + 12, RLENGTH - 22) + 0 >= size) next
  }
  { if (block != "") print block; block = ""; print; found = 1 }
  END { exit found }
' "$work/report" > "$work/broken" || status=broken
if [ "$status" = broken ]; then
  cat "$work/broken" >&2
  echo "check_abi: the headers in $include break $what $frozen" >&2
  exit 1
fi
echo "check_abi: $what $frozen fit the headers in $include"
