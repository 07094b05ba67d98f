#!/usr/bin/env bash
# Runs the tests of a preset that is built, in parallel.
#   scripts/run_ctest.sh PRESET [ctest argument ...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
# The tests also run in checkouts that other users can change, such as volumes of containers.
export EPHOST_ALLOW_WRITABLE_PLUGINS=1
# Plugins that some tests make crash are used by others.
export EPHOST_QUARANTINE=off
# Threads of OpenMP that wait actively take the processors of the tests beside them.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY-passive}
# Many tests wait for processes more than they compute.
ctest --preset "$preset" --parallel "$((($(nproc) * 3 + 1) / 2))" --no-tests=error "$@"

# GoogleTest skips the tests of a suite whose set-up failed, and ctest does not call that a failure.
log=build/${preset%-strict}/Testing/Temporary/LastTest.log
if grep -a -B 40 'FAILED.*: SetUpTestSuite or TearDownTestSuite' "$log"; then
  echo "run_ctest: the set-up of a test suite failed, see above"
  exit 1
fi
