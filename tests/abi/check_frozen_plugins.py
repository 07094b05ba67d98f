#!/usr/bin/python3
"""Runs plugins that were built from other headers of the ABI than this host: from those of a frozen
version, or of a later one.

They have to be found and loaded; the example has to get its nodes, run them, and write and load its EP
context.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "integration/external_plugin"))
from check_external_plugin import (PROVIDER, check_context, check_listed, check_partitioning, output_of,  # noqa: E402
                                   run, write_model)


def check_inspected(ephost, name, flags):
    report = json.loads(output_of(ephost, "inspect", name, *flags, "--format", "json"))
    assert report["negotiated_abi"][0] == 1, report
    assert "device_error" not in report, report
    return report


def main():
    parser = argparse.ArgumentParser()
    for name in ("ephost", "plugins", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model = write_model(work / "model")
    selection = work / "selection.yaml"
    selection.write_text(f"selection: 1\nproviders:\n  - {PROVIDER}\n")
    found = ("--plugin-path", arguments.plugins)
    flags = (*found, "--selection", selection)
    check_listed(arguments.ephost, found)
    assert check_inspected(arguments.ephost, PROVIDER, found)["compiles"]
    check_partitioning(arguments.ephost, model, flags)
    run(arguments.ephost, "test", model, *flags)
    check_context(arguments.ephost, model, work / "context", flags)
    # The strict plugin declares every function and has no memory, which the host says after it has
    # taken all of its tables.
    check_inspected(arguments.ephost, "EverythingExecutionProvider", found)
    refused = subprocess.run([arguments.ephost, "test", model, *map(str, found), "--ep", "everything"],
                             capture_output=True, text=True)
    assert "has no memory" in refused.stdout + refused.stderr, refused
    print(f"frozen plugins: {arguments.plugins} run under this host")


if __name__ == "__main__":
    main()
