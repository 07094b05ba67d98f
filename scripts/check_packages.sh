#!/usr/bin/env bash
# Installs the packages of scripts/package.sh in a fresh Debian and uses them there: a model is run by the
# command, and by the examples of README.md, which are built as it says. Needs root, the network and some
# minutes.
#   scripts/check_packages.sh [SUITE [FOLDER]]   the release of this machine and build/package/packages;
#                                                else one that the packages of FOLDER were built on
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
folder=${2:-build/package/packages}

if [ "$(id -u)" -ne 0 ]; then
  echo "check_packages: debootstrap and chroot need root; run it as root" >&2
  exit 1
fi
packages=("$folder"/*.deb)
if [ ! -e "${packages[0]}" ]; then
  echo "check_packages: $folder has no packages; run scripts/package.sh first" >&2
  exit 1
fi

root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror"
mount -t proc proc "$root/proc"
mkdir "$root/work"
cp "${packages[@]}" "$root/work"
/usr/bin/python3 tests/integration/install/readme_examples.py "$root/work/examples"
models=$(mktemp -d)
/usr/bin/python3 scripts/make_models.py "$models" tiny_cnn > /dev/null
cp "$models/tiny_cnn/model.onnx" "$root/work"
rm -rf "$models"

# Runs a command in the chroot, without any variable of ours.
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
# Installs packages there; $1 may have patterns.
get() { inside sh -c "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $1"; }

inside apt-get update -q
get "/work/ephost_*.deb /work/libephost0_*.deb /work/ephost-plugin-[cdi]*_*.deb"
inside ephost list --format json | grep '"/usr/share/ephost/plugins/cpu.yaml"'
inside ephost run /work/model.onnx --ep dnnl
inside ephost run /work/model.onnx --ep dnnl --isolation worker
inside ephost validate /usr/share/ephost/plugins/dnnl.yaml --check 8 --check unloads --check backend-tests \
  | grep '5 passed, 0 failed, 0 left out'
get "/work/libephost-dev_*.deb g++ cmake make pkg-config"
inside cmake -S /work/examples -B /work/examples/build
inside cmake --build /work/examples/build
inside sh -ec 'cd /work/examples; . ./build.sh'
for program in run_cc run_c build/run_cc build/run_c; do
  inside "/work/examples/$program" /work/model.onnx | grep '^logits: '
done
get "/work/python3-ephost_*.deb"
inside python3 /work/examples/main.py /work/model.onnx | grep '^logits: '
inside python3 -c 'import ephost; assert ephost.__file__ == "/usr/lib/python3/dist-packages/ephost/__init__.py"'
inside apt-get remove -y -q ephost  # the library alone has what isolation takes
inside python3 -c 'import ephost, sys
options = ephost.SessionOptions()
options.add_session_config_entry("session.isolation", "worker")
ephost.InferenceSession(sys.argv[1], options)' /work/model.onnx
get "/work/ephost-plugin-sdk_*.deb"
inside sh -ec 'cc -std=c11 -fsyntax-only $(pkg-config --cflags ephost_plugin_sdk) \
  /usr/share/ephost_plugin_sdk/examples/minimal_provider.c'
inside sh -c 'apt-get remove -y -q ephost-plugin-cpu ephost-plugin-dnnl ephost-plugin-image \
  python3-ephost libephost0 > /dev/null'
if [ -e "$root/usr/share/ephost" ] || [ -e "$root/usr/lib/python3/dist-packages/ephost" ]; then
  echo "check_packages: files are left after the packages were removed" >&2
  exit 1
fi
echo "check_packages: installed, used, built against and removed"
