#!/usr/bin/env bash
# Tries scripts/freeze_abi.sh and scripts/check_abi.sh in a temporary folder.
#   freezing_test.sh ROOT GROWN     GROWN: headers of a later version
set -euo pipefail
root=$1
grown=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "freezing: $1"
  exit 1
}

"$root/scripts/freeze_abi.sh" 9.9-rc1 "$work"
frozen=$work/9.9-rc1
diff -r -x '*.md' "$root/plugin_sdk/include" "$frozen/include" || fail "the headers differ"
cmp "$root/tests/abi/layout.golden" "$frozen/layout.golden"
for file in minimal_provider.c minimal.yaml strict_plugin.cc strict.yaml; do
  [ -f "$frozen/plugins/$file" ] || fail "$file is missing"
done
[ "$(ls -A "$work")" = 9.9-rc1 ] || fail "something is left over: $(ls -A "$work")"
if "$root/scripts/freeze_abi.sh" 9.9-rc1 "$work" 2> /dev/null; then fail "a second version took its place"; fi
if "$root/scripts/freeze_abi.sh" ../9.9 "$work" 2> /dev/null; then fail "any name is accepted"; fi

if ! command -v abidiff > /dev/null; then
  echo "freezing: abidiff is not installed, so check_abi.sh is not tried"
  exit 0
fi
"$root/scripts/check_abi.sh" "$frozen"
"$root/scripts/check_abi.sh" "$frozen" "$grown"
# $1: what must be found, $2: a change of plugin_abi.h, for sed.
expect_breach() {
  rm -rf "$work/broken"
  cp -r "$root/plugin_sdk/include" "$work/broken"
  sed -i "$2" "$work/broken/ephost/plugin_abi.h"
  if cmp -s "$work/broken/ephost/plugin_abi.h" "$root/plugin_sdk/include/ephost/plugin_abi.h"; then
    fail "the change $2 has no effect; adapt this test"
  fi
  if "$root/scripts/check_abi.sh" "$frozen" "$work/broken" > "$work/report" 2>&1; then
    fail "a breach is not found: $1"
  fi
  grep -q "$1" "$work/report" || fail "the report does not say \"$1\": $(cat "$work/report")"
}
expect_breach "'uint64_t in_between', at offset" 's/^  uint64_t workspace_bytes;/  uint64_t in_between;\n&/'
expect_breach "eph_node_info::since_version' changed" \
  's/^  int32_t since_version; \/\* of the operator/  u&/; s/  u  int32/  uint32/'
expect_breach "eph_kernel_def" 's/^  const eph_type_rule\* rules;/  uint64_t frozen_grew;\n&/'
echo "freezing: works"
