#!/usr/bin/env bash
# Installs the packages that ephost needs, on Debian 12 (bookworm) and Debian 13 (trixie). Safe to run
# again: what is already installed is left alone. Needs root (or sudo) only when something is missing.
#   scripts/setup.sh [--build | --test | --all]
#     --build   to compile and run the program, and to make models for it: scripts/run.sh
#     --test    also to compile and run the tests: scripts/test.sh
#     --all     also for everything else in scripts (default)
#   scripts/setup.sh --print [--release NAME] [--build | --test | --all]
#     installs nothing and prints the packages of this or another release, one in each line
set -euo pipefail

usage() {
  sed -n '4,9s/^#   //p' "$0" >&2
  exit 2
}

part=all
release=
print=false
while [ $# -gt 0 ]; do
  case $1 in
    --build | --test | --all) part=${1#--} ;;
    --print) print=true ;;
    --release)
      [ $# -gt 1 ] || { echo "setup: --release needs a name, bookworm or trixie" >&2; exit 2; }
      release=$2
      shift
      ;;
    *)
      echo "setup: there is no option '$1'; the options are:" >&2
      usage
      ;;
  esac
  shift
done
if [ -n "$release" ] && ! $print; then
  echo "setup: --release is for --print only; packages are installed for the release of this machine" >&2
  exit 2
fi
if [ -z "$release" ]; then
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-${ID:-unknown}}")
fi

build=(
  build-essential cmake ninja-build ccache          # tool chain
  libonnx-dev libprotobuf-dev protobuf-compiler     # host/onnx_io
  libboost-dev libboost-filesystem-dev              # host/plugin (Boost.DLL)
  libyaml-cpp-dev                                   # host/manifest
  libspdlog-dev libfmt-dev                          # host/base
  libxxhash-dev libssl-dev                          # host/base/hash
  libseccomp-dev                                    # host/worker
  libcli11-dev nlohmann-json3-dev                   # host/cli
  libsodium-dev                                     # host/trust
  libdnnl-dev libre2-dev                            # plugins
  libjpeg62-turbo-dev libopenjp2-7-dev libpng-dev libtiff-dev libwebp-dev    # plugins/image
  python3-onnx python3-numpy                        # scripts/make_models.py
  python3-dev pybind11-dev                          # host/python
)
tests=(
  libgtest-dev libgmock-dev libbenchmark-dev        # tests
  libonnx-testdata                                  # tests/conformance
  clang abigail-tools                               # tests/abi: another compiler, scripts/check_abi.sh
  minisign                                          # tests/unit/trust
  pkg-config groff                                  # tests/integration/install
  python3-pip python3-venv                          # tests/python: a wheel, and its use in a venv
  chromium libjemalloc2                             # tests/integration/cli: pages, another allocator
  zsh fish                                          # tests/integration/cli: completion
  file                                              # tests/integration/new_plugin: cpack asks it for programs
)
others=(
  clang-format clang-tidy git                       # scripts/format.sh, scripts/tidy.sh
  dpkg-dev lintian debootstrap                      # scripts/package.sh, scripts/check_packages.sh
)
case $release in
  bookworm)
    tests+=(libc++-14-dev libc++abi-14-dev)         # tests/integration/api_neighbours
    others+=(libclang-rt-14-dev)                    # scripts/fuzz.sh
    ;;
  trixie)
    tests+=(libc++-19-dev libc++abi-19-dev libonnxruntime-dev)
    others+=(libclang-rt-19-dev)
    ;;
  *)
    echo "setup: the packages of '$release' are not known, only those of Debian 12 (bookworm) and Debian 13" \
      "(trixie); elsewhere, install what 'scripts/setup.sh --print --release trixie' lists" >&2
    exit 2
    ;;
esac

case $part in
  build) packages=("${build[@]}") ;;
  test) packages=("${build[@]}" "${tests[@]}") ;;
  all) packages=("${build[@]}" "${tests[@]}" "${others[@]}") ;;
esac
if $print; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

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
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}"
echo "setup: done"
