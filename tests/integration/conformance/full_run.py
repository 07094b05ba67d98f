#!/usr/bin/python3
"""Validates a shipped plugin or an example on the level `full`: every check passes that is about something which the
plugin offers. What is left out is listed here, so that nothing vanishes from what is tried without a word.

    full_run.py EPHOST MANIFEST
"""

import json
import pathlib
import subprocess
import sys

NO_CHECKSUM = {"8.3"}  # the manifest of a build tree gives none
NO_MEMORY = {"37.1", "38.1", "38.2", "38.3", "38.4", "65.1", "65.2", "65.3", "65.4", "67.1"}
NO_CAPTURES = {"67.1"}
NO_TARGETS = {"48.1", "48.2", "48.3"}
NO_CONTEXTS = {"20.6", "26.1", "26.2", "27.1", "27.2", "27.3", "28.1", "28.2", "28.3", "30.1", "30.2"}
NO_SHARING = {"32.1"}
NO_OUTSIDE_CONSTANTS = {"58.1", "58.2"}
NO_OPERATORS = {"59.1", "59.2"}
NO_WISHES = {"42.1"}
NO_OPEN_OPTIONS = {"23.5"}
NO_OPTIONS_OF_RUNS = {"52.1", "52.2"}
ONE_OPTION = {"23.3"}

LEFT_OUT = {
    "cpu": NO_CHECKSUM | NO_MEMORY | NO_TARGETS | NO_CONTEXTS | NO_SHARING | NO_OUTSIDE_CONSTANTS | NO_WISHES |
           NO_OPEN_OPTIONS | NO_OPTIONS_OF_RUNS | ONE_OPTION,
    "dnnl": NO_CHECKSUM | NO_MEMORY | NO_TARGETS | NO_OUTSIDE_CONSTANTS | NO_OPERATORS | NO_WISHES | NO_OPEN_OPTIONS |
            NO_OPTIONS_OF_RUNS | {"25.11"},  # operators of single elements are too cheap for it
    # Images come from backend tests of its own; no other model has operators for them.
    "image": NO_CHECKSUM | NO_MEMORY | NO_TARGETS | NO_CONTEXTS | NO_SHARING | NO_OUTSIDE_CONSTANTS | NO_OPERATORS |
             NO_WISHES | NO_OPEN_OPTIONS | NO_OPTIONS_OF_RUNS |
             {"24.10", "25.3", "25.4", "25.6", "25.7", "25.8", "25.10", "25.11", "25.13", "62.1"},
    # It takes a Mul by a constant with the Add of another one behind it.
    "affine": NO_CHECKSUM | NO_MEMORY | NO_SHARING | NO_OPERATORS | NO_WISHES | NO_OPEN_OPTIONS | {"25.10"},
    "minimal": NO_CHECKSUM | NO_MEMORY | NO_TARGETS | NO_SHARING | NO_OUTSIDE_CONSTANTS | NO_OPERATORS | NO_WISHES |
               NO_OPEN_OPTIONS | NO_OPTIONS_OF_RUNS | ONE_OPTION,
    "queue": NO_CHECKSUM | NO_CAPTURES | NO_TARGETS | NO_CONTEXTS | NO_SHARING | NO_OUTSIDE_CONSTANTS | NO_OPERATORS | NO_WISHES |
             NO_OPEN_OPTIONS | NO_OPTIONS_OF_RUNS | ONE_OPTION | {"22.4", "23.2"},
}

# Whether a backend test has nodes for it depends on the version of ONNX.
EITHER_WAY = {"affine": {"25.1", "25.2"}}


def main():
    ephost, manifest = sys.argv[1:]
    said = subprocess.run([ephost, "validate", manifest, "--level", "full", "--reproduce", "1", "--jobs", "1", "--format",
                           "json"], stdout=subprocess.PIPE, text=True, timeout=3500)
    checks = json.loads(said.stdout)["plugins"][0]["checks"]
    for check in checks:
        print(f"{check['result']:8}  {check['id']:5} {check['name']}  {check['seconds']:.1f} s  {check['figures']}")
    failed = [check for check in checks if check["result"] == "failed"]
    print(json.dumps(failed, indent=1))
    plugin = pathlib.Path(manifest).stem
    left_out = {check["id"] for check in checks if check["result"] == "left out"} - EITHER_WAY.get(plugin, set())
    expected = LEFT_OUT[plugin]
    for what, ids in (("left out, and should be tried", left_out - expected),
                      ("tried, and is said to be left out", expected - left_out)):
        if ids:
            print(f"{what}: {', '.join(sorted(ids))}")
    return 1 if failed or said.returncode != 0 or left_out != expected else 0


if __name__ == "__main__":
    sys.exit(main())
