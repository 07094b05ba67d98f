#!/usr/bin/python3
"""Runs the cases of operator_cases/ with ephost's CPU provider and with ONNX Runtime and compares:
see compare_operators_with_onnxruntime.sh.

    compare_operators.py EPHOST CACHE_DIR OUT_DIR [--record FILE] [--verbose] [case or operator ...]

OUT_DIR gets the models, and the ONNX backend tests that ONNX Runtime's results make. --record writes the results on
which both agree. The exit status tells whether all differences are among the known ones.
"""

import argparse
import base64
import collections
import fnmatch
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import operator_cases
from operator_cases import messages, record

SCRIPTS = pathlib.Path(__file__).parent
DEVIATIONS = SCRIPTS / "onnxruntime" / "deviations.txt"


# ---- ONNX Runtime --------------------------------------------------------------------------------

def tensor_to_json(value):
    element_type = messages.element_type(value)
    data = ([str(text) for text in value.flatten()] if element_type == messages.STRING
            else base64.b64encode(value.tobytes()).decode())
    return {"type": element_type, "dims": list(value.shape), "data": data}


def tensor_from_json(tensor):
    dtype = record.dtype_of(tensor["type"])
    data = tensor["data"]
    flat = (np.array(data, object) if dtype.kind == "O"
            else np.frombuffer(base64.b64decode(data), dtype))
    return tensor["type"], flat.reshape(tensor["dims"])


def run_with_onnxruntime(cases, folder, cache):
    """{case: result}: "outputs" or "error". Continues after a case that ends the process."""
    folder.mkdir(parents=True)
    requests = []
    for case in cases:
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.model().SerializeToString())
        inputs = {name: tensor_to_json(value) for name, value in case.named_inputs().items()}
        requests.append(json.dumps({"name": case.name, "model": str(path), "inputs": inputs}))
    results = {}
    while len(results) < len(cases):
        command = ["node", SCRIPTS / "onnxruntime" / "run_cases.mjs", cache]
        text = "\n".join(requests[len(results):])
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        for answer in done.stdout.splitlines():
            result = json.loads(answer)
            results[result["name"]] = result
        if len(results) < len(cases):
            name = cases[len(results)].name
            results[name] = {"name": name, "error": f"the process ended with {done.returncode}"}
    return results


# ---- ephost --------------------------------------------------------------------------------------

def run_tests(ephost, folder, names, options):
    """{name: what `ephost test` reports}, without those that pass."""
    if not names:
        return {}
    command = [ephost, "test", "--quiet", *options, *(str(folder / name) for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if " passed, " in done.stdout:
        return dict(line[len("FAIL "):].split(": ", 1) for line in done.stdout.splitlines()
                    if line.startswith("FAIL "))
    if len(names) == 1:
        return {names[0]: f"the process ended with {done.returncode} {done.stderr.strip()[-200:]}"}
    middle = len(names) // 2
    return {**run_tests(ephost, folder, names[:middle], options),
            **run_tests(ephost, folder, names[middle:], options)}


# ---- Verdicts ------------------------------------------------------------------------------------

def judge(result, said):
    """The verdict and its reason. A difference, unlike a failure, names an output."""
    theirs = result.get("error")
    ours = None if said is None or 'output "y' in said else said
    if theirs is None:
        return ("agree" if said is None else "differ" if ours is None else "theirs only"), said
    theirs = "ONNX Runtime: " + " ".join(theirs.split())[-200:]
    return ("ours only", theirs) if ours is None else ("neither", f"{ours} | {theirs}")


def known_deviations():
    entries = {}
    for line in DEVIATIONS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(": ", 1)
            entries[pattern] = reason
    return entries


def find_deviation(entries, name):
    return next((pattern for pattern in entries if fnmatch.fnmatchcase(name, pattern)), None)


def print_table(cases, verdicts):
    columns = ["agree", "differ", "ours only", "theirs only", "neither"]
    counts = collections.defaultdict(collections.Counter)
    for case in cases:
        for key in (case.op_type, "all"):
            counts[key][verdicts[case.name][0]] += 1
    print(f"{'':30}{'cases':>7}" + "".join(f"{column:>13}" for column in columns))
    for op_type in sorted(counts, key=lambda key: (key == "all", key)):
        row = counts[op_type]
        print(f"{op_type:30}{sum(row.values()):7}" + "".join(f"{row[key] or '':>13}" for key in columns))


def report(cases, verdicts, verbose):
    """Prints the table and all unexpected cases; returns their number."""
    print_table(cases, verdicts)
    entries = known_deviations()
    unexpected = 0
    for case in cases:
        verdict, why = verdicts[case.name]
        pattern = find_deviation(entries, case.name)
        good = "agree" if case.is_valid else "neither"
        if verdict == good and pattern is not None:
            unexpected += 1
            print(f"{verdict}, although the list says otherwise: {case.name}: {entries[pattern]}")
        elif verdict not in (good, "ours only" if case.is_valid else good) and pattern is None:
            unexpected += 1
            print(f"{verdict.upper()} {case.name}: {why}")
        elif verbose and verdict != "agree":
            print(f"{verdict} {case.name}: {entries.get(pattern) or why}")
    return unexpected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ephost")
    parser.add_argument("cache")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("chosen", nargs="*")
    given = parser.parse_intermixed_args()
    cases = [case for case in operator_cases.all_cases()
             if not given.chosen or case.name in given.chosen or case.op_type in given.chosen]
    for part in ("models", "tests"):  # anything else in that folder was not made by this script
        shutil.rmtree(given.out / part, ignore_errors=True)
    results = run_with_onnxruntime(cases, given.out / "models", given.cache)
    tests = given.out / "tests"
    outputs = {}
    for case in cases:
        made = {name: tensor_from_json(tensor)
                for name, tensor in results[case.name].get("outputs", {}).items()}
        outputs[case.name] = made
        # Where ONNX Runtime refuses, the expected output is one that no case yields, to show what ephost does.
        expected = ({name: value for name, (_, value) in made.items()} or
                    {case.output_names()[0]: np.array(["refused by ONNX Runtime"], object)})
        messages.write_test(tests / case.name, case.model(), case.named_inputs(), expected)
    said = {}
    for options, names in operator_cases.by_tolerance(cases):
        said.update(run_tests(given.ephost, tests, names, options))
    verdicts = {case.name: judge(results[case.name], said.get(case.name)) for case in cases}
    if given.record:
        lines = [record.line(case, outputs[case.name]) for case in cases
                 if verdicts[case.name][0] == "agree" and case.is_recorded]
        given.record.write_text("".join(line + "\n" for line in lines))
    sys.exit(1 if report(cases, verdicts, given.verbose) else 0)


if __name__ == "__main__":
    main()
