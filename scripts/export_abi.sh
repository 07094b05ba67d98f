#!/usr/bin/env bash
# Writes an interface as a commit has it: its headers, their golden layout, and sources to build from them. The tests of
# tests/abi build what they list in frozen_tags.txt from this and run it with today's host.
#   scripts/export_abi.sh plugin COMMIT FOLDER  the plugin ABI, the example and the strict plugin
#   scripts/export_abi.sh api COMMIT FOLDER     the C API, its C++ wrapper and their examples
# COMMIT is a tag such as abi-1.0-rc2, or any other name of a commit. FOLDER is made.
set -euo pipefail
root=$(dirname "$(realpath "$0")")/..
if [ $# -ne 3 ]; then
  echo "export_abi: give plugin or api, a commit, and a folder" >&2
  exit 2
fi
case $1 in
  plugin)
    headers=plugin_sdk/include
    layout=tests/abi/layout.golden
    part=plugins
    sources=(plugin_sdk/examples/minimal_provider.c plugin_sdk/examples/minimal.yaml tests/abi/strict_plugin.cc
      tests/abi/strict.yaml)
    ;;
  api)
    headers=host/include
    layout=tests/abi/api/layout.golden
    part=programs
    sources=(tests/integration/c_api_example/main.c tests/integration/public_api_example/main.cc)
    ;;
  *)
    echo "export_abi: there is no interface '$1'; give plugin or api" >&2
    exit 2
    ;;
esac
if [ -e "$3" ]; then
  echo "export_abi: $3 exists; give a folder that does not" >&2
  exit 1
fi

# A folder that is complete, or none.
mkdir -p "$(dirname "$3")"
staged=$(mktemp -d "$(dirname "$3")/.exporting.XXXXXX")
trap 'rm -rf "$staged"' EXIT
mkdir "$staged/tree" "$staged/interface" "$staged/interface/$part"
git -C "$root" archive "$2" "$headers" "$layout" "${sources[@]}" | tar --extract --directory "$staged/tree"
cd "$staged/tree"
find "$headers" -name '*.md' -delete
mv "$headers" "$staged/interface/include"
mv "$layout" "$staged/interface/layout.golden"
mv "${sources[@]}" "$staged/interface/$part"
cd - > /dev/null
mv -T "$staged/interface" "$3"
