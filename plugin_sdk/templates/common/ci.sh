#!/bin/sh
# Builds, checks and packages the plugin, as a build server does. Where ephost is not installed where CMake
# looks, CMAKE_PREFIX_PATH names its prefix.
set -eu
cd "$(dirname "$0")"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build
(cd build && ctest --output-on-failure)
(cd build && cpack)

# SIGNING_KEY names a secret key of "ephost keygen": then there is an archive too, with the signature of the manifest.
if [ -n "${SIGNING_KEY:-}" ]; then
  cmake --install build --prefix build/signed
  ephost sign build/signed/share/ephost/plugins/acme.yaml --key "$SIGNING_KEY"
  tar -C build/signed -czf build/acme-signed.tar.gz .
fi
