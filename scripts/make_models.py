#!/usr/bin/python3
"""Writes the models of ephost's tests, benchmarks and README as ONNX backend test folders.

Each becomes OUT_DIR/<name>/model.onnx with inputs and expected outputs in test_data_set_*. Weights
are random but seeded: the same name always gives the same bytes. Expected outputs and the ranges
of quantised models come from the numpy evaluator in models/reference.py.
"""

import argparse
import os
import sys
import time

try:
    import onnx  # noqa: F401
except ImportError:
    sys.exit("make_models: this Python has no onnx; install python3-onnx and use /usr/bin/python3")

from models import catalog, files


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_dir", nargs="?", metavar="OUT_DIR", help="where the model folders go")
    parser.add_argument("names", nargs="*", metavar="name",
                        help=f"models or groups ({', '.join(catalog.GROUPS)}); default: {', '.join(catalog.BY_DEFAULT)}")
    parser.add_argument("-n", type=int, metavar="N", help="number of nodes of the synthetic models")
    parser.add_argument("--no-outputs", action="store_true", help="write no expected outputs")
    parser.add_argument("--list", action="store_true",
                        help="print name, group and description of every model, and stop")
    arguments = parser.parse_args()
    if not arguments.list and not arguments.out_dir:
        parser.error("OUT_DIR is missing")
    if arguments.n is not None and arguments.n < 2:
        parser.error(f"-n {arguments.n}: the smallest size is 2")
    try:
        arguments.entries = catalog.select(arguments.names)
    except KeyError as unknown:
        parser.error(f"no model or group is called {unknown}; --list prints them all")
    if arguments.n is not None and not any(entry.nodes for entry in arguments.entries):
        parser.error("-n has no effect: none of the chosen models takes a size")
    return arguments


def print_list():
    for entry in catalog.CATALOG:
        print(f"{entry.name:23} {entry.group:10} {entry.description}")


def write_models(arguments):
    for entry in arguments.entries:
        start = time.monotonic()
        folder = os.path.join(arguments.out_dir, entry.name)
        files.write(entry.make(arguments.n), folder, with_outputs=not arguments.no_outputs)
        kilobytes = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)
                        if os.path.isfile(os.path.join(folder, name))) / 1000
        print(f"{entry.name:23} {kilobytes:10.1f} kB {time.monotonic() - start:6.2f} s", flush=True)


def main():
    arguments = parse_arguments()
    if arguments.list:
        print_list()
        return
    try:
        write_models(arguments)
    except OSError as error:
        sys.exit(f"make_models: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
