#!/usr/bin/env bash
# Freezes an interface as it stands: copies its headers, their golden layout, and the sources that are
# built from them ever after. To be run once for each release candidate and release; what is frozen never
# changes. The tests of tests/abi find it.
#   scripts/freeze_abi.sh plugin NAME [FOLDER]  the plugin ABI, to plugin_sdk/frozen/NAME
#   scripts/freeze_abi.sh api NAME [FOLDER]     the C API and its C++ wrapper, to host/include/frozen/NAME
# NAME is e.g. 1.0-rc1 or 1.0. FOLDER replaces the folder of NAME.
set -euo pipefail
root=$(dirname "$(realpath "$0")")/..
if [ $# -lt 2 ] || [ $# -gt 3 ] || ! [[ $2 =~ ^[0-9]+\.[0-9]+(-rc[0-9]+)?$ ]]; then
  echo "freeze_abi: give plugin or api, a name such as 1.0-rc1 or 1.0, and at most one folder" >&2
  exit 2
fi
case $1 in
  plugin)
    headers=$root/plugin_sdk/include
    layout=$root/tests/abi/layout.golden
    folder=$root/plugin_sdk/frozen
    sources=("plugins/minimal_provider.c=$root/plugin_sdk/examples/minimal_provider.c"
      "plugins/minimal.yaml=$root/plugin_sdk/examples/minimal.yaml"
      "plugins/strict_plugin.cc=$root/tests/abi/strict_plugin.cc"
      "plugins/strict.yaml=$root/tests/abi/strict.yaml")
    ;;
  api)
    headers=$root/host/include
    layout=$root/tests/abi/api/layout.golden
    folder=$root/host/include/frozen
    sources=("programs/main.c=$root/tests/integration/c_api_example/main.c"
      "programs/main.cc=$root/tests/integration/public_api_example/main.cc")
    ;;
  *)
    echo "freeze_abi: there is no interface '$1'; give plugin or api" >&2
    exit 2
    ;;
esac
target=${3:-$folder}/$2
if [ -e "$target" ]; then
  echo "freeze_abi: $target exists, and what is frozen never changes; take the next number" >&2
  exit 1
fi

# A folder that is complete, or none.
mkdir -p "$(dirname "$target")"
staged=$(mktemp -d "$(dirname "$target")/.freezing.XXXXXX")
trap 'rm -rf "$staged"' EXIT
(cd "$headers" && find ephost \( -name '*.h' -o -name '*.hpp' \) -print0) |
  while IFS= read -r -d '' header; do
    install -D -m 644 "$headers/$header" "$staged/include/$header"
  done
install -m 644 "$layout" "$staged/layout.golden"
for source in "${sources[@]}"; do
  install -D -m 644 "${source#*=}" "$staged/${source%%=*}"
done
chmod 755 "$staged"
mv -T "$staged" "$target"
echo "freeze_abi: wrote $target"
