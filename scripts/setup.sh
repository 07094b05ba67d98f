#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing ephost needs. Safe to run again: what is
# already installed is left alone. Needs root (or sudo) only when something is missing.
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache          # tool chain
  libonnx-dev libprotobuf-dev protobuf-compiler     # host/onnx_io
  libboost-dev libboost-filesystem-dev              # host/plugin (Boost.DLL)
  libyaml-cpp-dev                                   # host/manifest
  libspdlog-dev libfmt-dev                          # host/base
  libxxhash-dev libssl-dev                          # host/base/hash
  libcli11-dev nlohmann-json3-dev                   # host/cli
  libdnnl-dev libre2-dev                            # plugins
  libgtest-dev libgmock-dev libbenchmark-dev        # tests
  clang libclang-rt-14-dev                          # tests/fuzz
  libonnx-testdata python3-onnx python3-numpy       # conformance data, model scripts
  chromium                                          # tests of the pages that ephost writes
  clang-format clang-tidy                           # scripts/format.sh, scripts/tidy.sh
  abigail-tools                                     # scripts/check_abi.sh
  libjemalloc2                                      # tests/integration/cli: another allocator
)

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} Debian packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
echo "setup: done"
