#!/usr/bin/env bash
# Tries scripts/export_abi.sh and scripts/check_abi.sh in a temporary clone, whose history has one tag.
#   freezing_test.sh ROOT GROWN GROWN_API   the latter two: headers of a later version
set -euo pipefail
root=$1
grown=$2
grown_api=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "freezing: $1"
  exit 1
}

clone=$work/clone
for folder in plugin_sdk tests/abi host/include tests/integration/c_api_example tests/integration/public_api_example; do
  mkdir -p "$clone/$folder"
  cp -r "$root/$folder/." "$clone/$folder"
done
install -D "$root/scripts/export_abi.sh" "$clone/scripts/export_abi.sh"
git -C "$clone" init --quiet
git -C "$clone" add .
git -C "$clone" -c user.name=test -c user.email=test@example.org commit --quiet --message "Freeze"
git -C "$clone" tag abi-9.9-rc1
echo changed >> "$clone/tests/abi/layout.golden"  # which the tag has not
export_abi() { "$clone/scripts/export_abi.sh" "$@"; }

frozen=$work/plugin/abi-9.9-rc1
export_abi plugin abi-9.9-rc1 "$frozen"
diff -r -x '*.md' "$root/plugin_sdk/include" "$frozen/include" || fail "the headers differ"
cmp "$root/tests/abi/layout.golden" "$frozen/layout.golden"
for file in minimal_provider.c minimal.yaml strict_plugin.cc strict.yaml; do
  [ -f "$frozen/plugins/$file" ] || fail "$file is missing"
done
frozen_api=$work/api/abi-9.9-rc1
export_abi api abi-9.9-rc1 "$frozen_api"
diff -r -x '*.md' "$root/host/include" "$frozen_api/include" || fail "the headers of the API differ"
cmp "$root/tests/abi/api/layout.golden" "$frozen_api/layout.golden"
for file in main.c main.cc; do
  [ -f "$frozen_api/programs/$file" ] || fail "$file is missing"
done
if export_abi nothing abi-9.9-rc1 "$work/api/other" 2> /dev/null; then fail "any interface is accepted"; fi
if export_abi api abi-9.9-rc2 "$work/api/other" 2> /dev/null; then fail "any tag is accepted"; fi
if export_abi api abi-9.9-rc1 "$frozen_api" 2> /dev/null; then fail "a second one took its place"; fi
[ "$(ls -A "$work/api")" = abi-9.9-rc1 ] || fail "something is left over: $(ls -A "$work/api")"

if ! command -v abidiff > /dev/null; then
  echo "freezing: abidiff is not installed, so check_abi.sh is not tried"
  exit 0
fi
"$root/scripts/check_abi.sh" "$frozen"
"$root/scripts/check_abi.sh" "$frozen" "$grown"
"$root/scripts/check_abi.sh" "$frozen_api"
"$root/scripts/check_abi.sh" "$frozen_api" "$grown_api"
# $1: what was frozen, $2: today's headers, $3: one of them, $4: what must be found, $5: a change of that one, for sed.
expect_breach() {
  rm -rf "$work/broken"
  cp -r "$2" "$work/broken"
  sed -i "$5" "$work/broken/ephost/$3"
  if cmp -s "$work/broken/ephost/$3" "$2/ephost/$3"; then
    fail "the change $5 has no effect; adapt this test"
  fi
  if "$root/scripts/check_abi.sh" "$1" "$work/broken" > "$work/report" 2>&1; then
    fail "a breach is not found: $4"
  fi
  grep -q "$4" "$work/report" || fail "the report does not say \"$4\": $(cat "$work/report")"
}
expect_plugin_breach() { expect_breach "$frozen" "$root/plugin_sdk/include" plugin_abi.h "$1" "$2"; }
expect_api_breach() { expect_breach "$frozen_api" "$root/host/include" "$@"; }
expect_plugin_breach "'uint64_t in_between', at offset" 's/^  uint64_t workspace_bytes;/  uint64_t in_between;\n&/'
expect_plugin_breach "eph_node_info::since_version' changed" \
  's/^  int32_t since_version; \/\* of the operator/  u&/; s/  u  int32/  uint32/'
expect_plugin_breach "eph_kernel_def" 's/^  const eph_type_rule\* rules;/  uint64_t frozen_grew;\n&/'
expect_api_breach c/value.h \
  "'uint64_t in_between', at offset" 's/^  const char\* device_type;.*/  uint64_t in_between;\n&/'
expect_api_breach c/status.h "ephost_string" 's/^  const char\* data;/  uint64_t frozen_grew;\n&/'
echo "freezing: works"
