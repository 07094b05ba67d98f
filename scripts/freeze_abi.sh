#!/usr/bin/env bash
# Freezes the plugin ABI as it stands: copies its headers, their golden layout, and the plugins that
# are built from them ever after, to plugin_sdk/frozen/NAME. To be run once for each release candidate
# and release; what is frozen never changes. The tests of tests/abi find it there.
#   scripts/freeze_abi.sh NAME [FOLDER]     e.g. 1.0-rc1 or 1.0; FOLDER instead of plugin_sdk/frozen
set -euo pipefail
root=$(dirname "$(realpath "$0")")/..
if [ $# -lt 1 ] || [ $# -gt 2 ] || ! [[ $1 =~ ^[0-9]+\.[0-9]+(-rc[0-9]+)?$ ]]; then
  echo "freeze_abi: give a name such as 1.0-rc1 or 1.0, and at most one folder" >&2
  exit 2
fi
target=${2:-$root/plugin_sdk/frozen}/$1
if [ -e "$target" ]; then
  echo "freeze_abi: $target exists, and what is frozen never changes; take the next number" >&2
  exit 1
fi

# A folder that is complete, or none.
mkdir -p "$(dirname "$target")"
staged=$(mktemp -d "$(dirname "$target")/.freezing.XXXXXX")
trap 'rm -rf "$staged"' EXIT
mkdir -p "$staged/plugins"
(cd "$root/plugin_sdk/include" && find ephost \( -name '*.h' -o -name '*.hpp' \) -print0) |
  while IFS= read -r -d '' header; do
    install -D -m 644 "$root/plugin_sdk/include/$header" "$staged/include/$header"
  done
install -m 644 "$root/tests/abi/layout.golden" "$staged/"
install -m 644 "$root/plugin_sdk/examples/minimal_provider.c" \
  "$root/plugin_sdk/examples/minimal.yaml" "$root/tests/abi/strict_plugin.cc" \
  "$root/tests/abi/strict.yaml" "$staged/plugins/"
chmod 755 "$staged"
mv -T "$staged" "$target"
echo "freeze_abi: wrote $target"
