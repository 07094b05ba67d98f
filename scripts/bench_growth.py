#!/usr/bin/env python3
"""How the time of each report grows with what it reports: plugins, nodes, partitions, inputs, entries of a store, keys.

bench_growth.py BUILD [--sizes 10,100,1000,10000] [--limit SECONDS] [--only WORD]

Prints a table of processor seconds, and the growth between the last two sizes: about 10 where the work is linear, and 100
where it is quadratic. A command that takes longer than the limit is not tried at larger sizes.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import onnx
from onnx import TensorProto, helper


def chain(folder, count, operators):
    """A model of `count` nodes in a row, each of the next of the operators."""
    nodes = []
    for i in range(count):
        operator = operators[i % len(operators)]
        inputs = [f"v{i}"] + (["w"] if operator == "MatMul" else [])
        nodes.append(helper.make_node(operator, inputs, [f"v{i + 1}"], name=f"n{i}"))
    return save(folder, nodes, ["v0"], [f"v{count}"])


def wide(folder, count):
    """A model with as many inputs and outputs as nodes."""
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"y{i}"], name=f"n{i}") for i in range(count)]
    return save(folder, nodes, [f"x{i}" for i in range(count)], [f"y{i}" for i in range(count)])


def save(folder, nodes, inputs, outputs):
    values = lambda names: [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in names]
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.25] * 16)
    model = helper.make_model(helper.make_graph(nodes, "g", values(inputs), values(outputs), [weights]),
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def make_plugins(build, folder, count):
    """Manifests of as many providers, in folders of a hundred, and a selection of ten of them."""
    plugins = build / "lib/ephost/plugins"
    text = (plugins / "image.yaml").read_text()
    for i in range(count):
        place = folder / "plugins" / str(i // 100)
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "libephost_image.so").exists():
            shutil.copy(plugins / "libephost_image.so", place)
        (place / f"p{i}.yaml").write_text(text.replace("provider: Image", f"provider: P{i}")
                                          .replace("name: image", f"name: p{i}", 1))
    for name in ("cpu.yaml", "libephost_cpu.so"):
        shutil.copy(plugins / name, folder / "plugins")
    selection = folder / "selection.yaml"
    selection.write_text("selection: 1\nproviders: [" + ", ".join(f"p{i}" for i in range(min(count, 10))) + "]\n")
    return [str(place) for place in (folder / "plugins").iterdir() if place.is_dir()] + [str(folder / "plugins")]


def make_store(ephost, folder, count):
    """A store with one real entry, and copies of it under other names."""
    store = folder / "store"
    model = chain(folder, 4, ["MatMul", "Sin"])
    subprocess.run([ephost, "run", model, "--ep", "dnnl", "--cache-dir", store, "-q"], check=True, stdout=subprocess.DEVNULL)
    inside = store / "ephost-context-cache"
    first = next(path for path in inside.iterdir() if path.is_dir())
    for i in range(count - 1):
        shutil.copytree(first, inside / f"ephost-entry-{i:032x}")
    return store


def make_keys(folder, count):
    trust = folder / "config/ephost/trust"
    trust.mkdir(parents=True)
    key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    for i in range(count):
        (trust / f"k{i}.yaml").write_text(f"trust: 1\nkey: {key}\nname: Key {i}\n")


def commands(build, folder, count):
    """The reports at one size: a name, what it is of, and a command with its environment."""
    ephost = str(build / "bin/ephost")
    directories = make_plugins(build, folder, count)
    path = {"EPHOST_PLUGIN_PATH": ":".join(directories)}
    for name, arguments in [("list", []), ("list --format json", ["--format", "json"]),
                            ("list --selection", ["--selection", folder / "selection.yaml"])]:
        yield "plugins", name, [ephost, "list", *arguments], path
    yield "plugins", "check-selection", [ephost, "check-selection", folder / "selection.yaml"], path
    yield "plugins", "inspect cpu", [ephost, "inspect", "cpu"], path
    for what, model in (("nodes", chain(folder, count, ["Relu"])), ("partitions", None), ("inputs", None)):
        place = folder / what
        place.mkdir()
        if what == "partitions":
            model = chain(place, count, ["MatMul", "Sin"])
        elif what == "inputs":
            model = wide(place, count)
        for name, arguments in [("partition", []), ("partition --explain", ["--explain"]),
                                ("partition --format json", ["--format", "json"]), ("plan", []),
                                ("plan --format json", ["--format", "json"]), ("plan --html", ["--html", place / "p.html"]),
                                ("run", []), ("compile", ["-o", place / "ctx.onnx"])]:
            yield what, name, [ephost, name.split()[0], model, "--ep", "dnnl", *arguments], {}
        yield what, "verify", [ephost, "verify", place / "ctx.onnx"], {}
    store = make_store(ephost, folder, count)
    for verb in ("list", "verify"):
        yield "entries", f"cache {verb}", [ephost, "cache", verb, store], {}
    make_keys(folder, count)
    yield "keys", "trust list", [ephost, "trust", "list"], {"XDG_CONFIG_HOME": str(folder / "config")}


def seconds_of(command, environment, limit):
    """Processor time of one run; None if it was stopped after the limit."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, **environment, "EPHOST_QUARANTINE": "off"},
                               preexec_fn=lambda: __import__("resource").setrlimit(
                                   __import__("resource").RLIMIT_CPU, (limit, limit)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--sizes", default="10,100,1000,10000")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--only", default="")
    flags = parser.parse_args()
    sizes = [int(size) for size in flags.sizes.split(",")]
    times = {}
    slow = set()
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for what, name, command, environment in commands(flags.build.resolve(), pathlib.Path(folder), size):
                key = (what, name)
                if flags.only not in f"{what} {name}" or key in slow:
                    continue
                taken = seconds_of(command, environment, flags.limit)
                times.setdefault(key, {})[size] = taken
                if taken is None:
                    slow.add(key)
    print("| of | report | " + " | ".join(f"{size}" for size in sizes) + " | growth |")
    print("|---|---|" + "---|" * (len(sizes) + 1))
    for (what, name), by_size in times.items():
        cells = ["-" if by_size.get(size) is None else f"{by_size[size]:.2f}" for size in sizes]
        known = [by_size[size] for size in sizes if by_size.get(size)]
        growth = f"{known[-1] / known[-2]:.1f}" if len(known) > 1 else ""
        print(f"| {what} | {name} | " + " | ".join(cells) + f" | {growth} |")


if __name__ == "__main__":
    main()
