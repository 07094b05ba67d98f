#!/usr/bin/env bash
# Kills a thousand workers (or as many as stated) at random moments of calls, and fails unless descriptors, memory and
# processes are afterwards what they were before.
#
# usage: scripts/kill_workers.sh [NUMBER] [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
EPHOST_KILLS="${1:-1000}" "${2:-build/dev}"/tests/unit/unit_plugin_test --gtest_filter='StormTest.*'
