"""Operators whose results were recorded when ONNX Runtime and ephost agreed on them: the cases of
scripts/operator_cases with the results of tests/data, as ONNX backend tests, which `ephost test` runs.
Usage: recorded_operators.py EPHOST"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import operator_cases  # noqa: E402
from operator_cases import messages, record  # noqa: E402

RESULTS = ROOT / "tests" / "data" / "operator_results.jsonl"
# The tests are ten thousand small files, which a disk can take minutes to make and remove.
MEMORY = "/dev/shm"


def main():
    cases = {case.name: case for case in operator_cases.all_cases()}
    results = record.read(RESULTS)
    stale = [name for name, (checksum, _) in results.items()
             if name not in cases or cases[name].checksum() != checksum]
    for name in stale:
        print(f"{name}: this is no longer the case that was recorded; record it again (tests/data/README.md)")
    failed = bool(stale) or not results
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        root = pathlib.Path(folder)
        for number, (options, names) in enumerate(operator_cases.by_tolerance(cases.values())):
            for name in names:
                if name in results and name not in stale:
                    messages.write_test(root / str(number) / name, cases[name].model(),
                                        cases[name].named_inputs(), results[name][1])
            command = [sys.argv[1], "test", *options, root / str(number)]
            failed |= subprocess.run(command, check=False, timeout=1500).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
