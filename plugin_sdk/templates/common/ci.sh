#!/bin/sh
# Builds, checks and packages the plugin, as a build server does. Where ephost is not installed where CMake
# looks, CMAKE_PREFIX_PATH names its prefix.
set -eu
cd "$(dirname "$0")"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build
(cd build && ctest --output-on-failure)
(cd build && cpack)
