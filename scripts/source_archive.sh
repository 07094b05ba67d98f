#!/usr/bin/env bash
# Makes a source archive of a commit. It carries the interfaces of tests/abi/frozen_tags.txt, which a clone reads from
# its history.
#   scripts/source_archive.sh [COMMIT, default HEAD]   writes ephost-<git describe>.tar.gz to the current folder
set -euo pipefail
root=$(dirname "$(realpath "$0")")/..
commit=${1:-HEAD}
name=ephost-$(git -C "$root" describe --tags --always "$commit")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$root" archive --prefix="$name/" "$commit" | tar --extract --directory "$work"
while read -r tag; do
  for interface in plugin api; do
    "$root/scripts/export_abi.sh" "$interface" "$tag" "$work/$name/frozen/$interface/$tag"
  done
done < <(grep -v '^#' "$work/$name/tests/abi/frozen_tags.txt")
tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --file "$name.tar.gz" --directory "$work" "$name"
echo "source_archive: wrote $name.tar.gz"
