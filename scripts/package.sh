#!/usr/bin/env bash
# Makes the Debian packages of ephost in build/package/packages and examines them with lintian, whose
# errors fail. DEBFULLNAME and DEBEMAIL name the maintainer; without them the packages have no address
# that exists and are only for one's own use.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
umask 022
maintainer=()
unknown=(--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog)
if [ -n "${DEBFULLNAME:-}" ] && [ -n "${DEBEMAIL:-}" ]; then
  maintainer=("-DEPHOST_MAINTAINER=$DEBFULLNAME <$DEBEMAIL>")
  unknown=()
fi
cmake --preset package -U EPHOST_MAINTAINER "${maintainer[@]}"
cmake --build --preset package
rm -rf build/package/packages
(cd build/package && cpack)
lintian --fail-on error --tag-display-limit 0 "${unknown[@]}" build/package/packages/*.deb
ls -l build/package/packages/*.deb
