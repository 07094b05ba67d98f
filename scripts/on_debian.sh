#!/usr/bin/env bash
# Runs a command on another Debian release: in a chroot that debootstrap makes, in a copy of this tree.
#   scripts/on_debian.sh [--mirror URL] [--cache FOLDER] SUITE COMMAND [ARGUMENT ...]
#   scripts/on_debian.sh trixie scripts/test.sh
# SUITE is a release that scripts/setup.sh knows. The copy has the files of the commit with their
# uncommitted changes, but no history, and no files that git does not know. Needs root and the packages
# debootstrap and git. The exit status is that of the command, or 125 if it could not be started.
#
# The mirror is $DEBIAN_MIRROR or http://deb.debian.org/debian. The chroot stays in FOLDER/SUITE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/ephost/debian/SUITE, with its packages and its ccache, so that the next run
# is fast; nothing but the tree is replaced. Mounts are made in a mount namespace of the run: the kernel undoes
# them when its last process ends, however it ends. To remove the chroot, remove the folder.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ephost/debian

fail() {
  echo "on_debian: $*" >&2
  exit 125
}

while [ $# -gt 0 ]; do
  case $1 in
    --mirror | --cache)
      [ $# -gt 1 ] || fail "$1 needs a value"
      if [ "$1" = --mirror ]; then mirror=$2; else cache=$2; fi
      shift 2
      ;;
    -*) fail "there is no option '$1'; give --mirror URL, --cache FOLDER, or a suite and a command" ;;
    *) break ;;
  esac
done
[ $# -ge 2 ] || fail "give a suite and a command, e.g. trixie scripts/test.sh"
suite=$1
shift
"$root/scripts/setup.sh" --print --release "$suite" > /dev/null || fail "there is no suite '$suite' to run on"
[ "$(id -u)" -eq 0 ] || fail "making and entering a chroot takes root rights; run it with sudo"
for tool in debootstrap git unshare flock; do
  command -v "$tool" > /dev/null || fail "$tool is not installed; install debootstrap, git and util-linux"
done

mkdir -p "$cache"
cache=$(realpath "$cache")
chroot=$cache/$suite
exec 9> "$cache/$suite.lock"
flock --nonblock 9 || fail "another run uses $chroot"

# Runs a shell script in namespaces of its own, in which it is process 1: its mounts and processes end with it,
# and it ends with this shell. $1: script; the others are its arguments.
inside() {
  setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
    bash -euc "$@" <&0 &
  local child=$! status=0
  trap 'kill -KILL "$child" 2> /dev/null; wait "$child" 2> /dev/null || true; exit 143' TERM
  trap 'kill -KILL "$child" 2> /dev/null; wait "$child" 2> /dev/null || true; exit 130' INT
  trap 'kill -KILL "$child" 2> /dev/null; wait "$child" 2> /dev/null || true; exit 129' HUP
  wait "$child" || status=$?
  trap - TERM INT HUP
  return "$status"
}

if [ ! -d "$chroot" ]; then
  echo "on_debian: making a chroot of $suite in $chroot"
  rm -rf --one-file-system -- "$chroot.partial"
  # shellcheck disable=SC2016 # expanded by the shell inside
  inside 'debootstrap --force-check-gpg --variant=minbase --include=ca-certificates "$1" "$2" "$3"' \
    bash "$suite" "$chroot.partial" "$mirror" || fail "debootstrap failed; see $chroot.partial/debootstrap"
  # Packages that start a service would do so on the machine.
  printf '#!/bin/sh\nexit 101\n' > "$chroot.partial/usr/sbin/policy-rc.d"
  chmod +x "$chroot.partial/usr/sbin/policy-rc.d"
  mv "$chroot.partial" "$chroot"
fi

tree=$chroot/ephost
rm -rf --one-file-system -- "$tree"
mkdir "$tree"
# A file that was deleted without git is still listed.
git -C "$root" ls-files -z | (cd "$root" && while IFS= read -r -d '' file; do
  if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done) | tar -C "$root" --null --files-from=- --create | tar -C "$tree" --extract --no-same-owner
cp --dereference /etc/resolv.conf "$chroot/etc/resolv.conf"

kept=()
for name in http_proxy https_proxy no_proxy TERM; do
  if [ -n "${!name:-}" ]; then kept+=("$name=${!name}"); fi
done
status=0
# shellcheck disable=SC2016
inside '
  chroot=$1
  shift
  mount -t proc proc "$chroot/proc"
  mount --rbind /dev "$chroot/dev"
  mount --rbind /sys "$chroot/sys"
  status=0
  chroot "$chroot" /usr/bin/env -i "$@" || status=$?  # not process 1, which signals do not end
  exit "$status"
' bash "$chroot" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
  CCACHE_DIR=/var/cache/ccache "${kept[@]}" sh -c 'cd /ephost && exec "$@"' sh "$@" || status=$?
exit "$status"
