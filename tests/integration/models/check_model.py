#!/usr/bin/python3
"""Runs one generated model in every way the host knows and compares what comes out.

  check_model.py EPHOST MODEL_FOLDER WORK_FOLDER

CPU only, dnnl and CPU, and from context models with the payload beside and inside the model: each has to
give the test data's expected outputs (`ephost test`), and on random inputs all have to agree with each
other. The written context models have to pass onnx.checker.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx

RTOL, ATOL = 1e-3, 1e-4


def run(*arguments):
    print("$", *arguments, flush=True)
    subprocess.run([str(argument) for argument in arguments], check=True, timeout=1400)


def compile_context(ephost, model, folder, *flags):
    """A backend test folder whose model is the context model of `model`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(ephost, "compile", model / "model.onnx", "--ep", "dnnl", "-o", folder / "model.onnx", *flags)
    for data_set in model.glob("test_data_set_*"):
        os.symlink(data_set, folder / data_set.name)
    onnx.checker.check_model(str(folder / "model.onnx"))
    return folder


def outputs(ephost, model, folder, *flags):
    """Output name -> array, of a run on seeded random inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(ephost, "run", model / "model.onnx", "--output-dir", folder, *flags)
    return {path.name: numpy.load(path) for path in sorted(folder.glob("*.npy"))}


def main():
    ephost, model, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    ways = {
        "cpu": (model, ()),
        "dnnl": (model, ("--ep", "dnnl")),
        "external context": (compile_context(ephost, model, work / "external"), ("--ep", "dnnl")),
        "embedded context": (compile_context(ephost, model, work / "embedded", "--embed"),
                             ("--ep", "dnnl")),
    }
    results = {}
    for way, (folder, flags) in ways.items():
        run(ephost, "test", folder, "--rtol", RTOL, "--atol", ATOL, *flags)
        results[way] = outputs(ephost, folder, work / "outputs", *flags)
    expected = results["cpu"]
    assert expected, "the run wrote no outputs"
    for way, arrays in results.items():
        assert arrays.keys() == expected.keys(), way
        for name, array in arrays.items():
            numpy.testing.assert_allclose(array, expected[name], RTOL, ATOL, err_msg=f"{way}: {name}")
    print(f"{model.name}: {len(results)} ways agree")


if __name__ == "__main__":
    main()
