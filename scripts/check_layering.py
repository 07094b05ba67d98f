#!/usr/bin/python3
"""Checks all includes: modules by the table of host/modules.txt, folders of large modules by having no circles, and
headers of third parties and of the system by the tables below.

Prints every breach and exits with 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def read_modules():
    """Module, a folder of host/ -> the others that it may include, from the lowest module up."""
    lines = (ROOT / "host/modules.txt").read_text().splitlines()
    stated = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {module: allowed.split() for module, _, allowed in stated}


ALLOWED = read_modules()

# Modules whose folders, the rooms, include each other in one direction only. What lies in the folder of the module
# itself is a room, too.
WITH_ROOMS = ("session", "worker", "conformance", "cli")

# Public headers of values that the library and its applications have in common. They reach no function of the library.
VALUES = re.compile(r"ephost/(status|element_type|float16|types/.+)\.h")
# Module: the other public headers that it may include. Those with classes of the C++ API are for applications, which
# `cli`, `python` and `conformance` are. Only `api` knows the C API.
PUBLIC = {
    "api": re.compile(r"ephost/(c_api|c/\w+|detail/fields|detail/records/\w+)\.h"),
    "cli": re.compile(r"ephost/(?!c_api|c/|detail/).+\.h"),
    "conformance": re.compile(r"ephost/(?!c_api|c/|detail/).+\.h"),
    "python": re.compile(r"ephost/(?!c_api|c/|detail/).+\.h"),
}
STANDARD = re.compile(r"[a-z_]+|std(def|int)\.h")
# Standard headers that public ones do without: each would cost every program that includes the API time to compile.
# ephost/types/function.h and ephost/detail/owned.h stand in; paths are texts.
COSTLY = {"algorithm", "deque", "filesystem", "format", "fstream", "functional", "future", "iomanip", "iostream", "map",
          "mutex", "ranges", "regex", "set", "sstream", "thread", "unordered_map", "variant"}

# Third-party header: the one folder that may include it.
OWNERS = {
    r"yaml-cpp/": "host/manifest",
    r"(onnx|google/protobuf)/": "host/onnx_io",
    r"boost/": "host/plugin",
    r"sodium(\.h|/)": "host/trust",
    r"(fmt/|spdlog/|xxhash\.h|openssl/)": "host/base",
    r"(CLI/|nlohmann/)": "host/cli",
    r"pybind11/": "host/python",
    r"seccomp\.h": "host/worker",
    r"(dnnl\.h|dnnl\.hpp|oneapi/)": "plugins",
    r"(jpeglib\.h|jerror\.h|openjpeg\.h|png\.h|tiffio\.h|webp/)": "plugins/image",
}

# Owner of a third-party header: folders that include it too, and that no other folder includes. The conformance kit
# makes models and takes them apart, and reads profiles of runs; workers exchange messages.
USERS = {"host/onnx_io": ("host/conformance/", "host/worker/"), "host/cli": ("host/conformance/",)}

# Headers of host/ that may include a third-party header and be included everywhere: none of its types leaves a call.
TRANSPARENT = {"host/base/format.h"}

# Files of host/ that may include headers of the system (POSIX, Linux, glibc): those of base, which makes services of
# them for all other modules, and units that are about one system as a whole, of which a port has its own.
SYSTEM_UNITS = {
    "host/base/": "the services",
    "host/plugin/calls/call.h": "the end of a thread by unwinding",
    "host/plugin/calls/crash_handler.cc": "signals of crashes",
    "host/plugin/calls/exit_guard.cc": "the end of the process",
    "host/plugin/calls/fault_place.cc": "registers at a crash",
    "host/plugin/loading/elf_object.cc": "the format of libraries",
    "host/plugin/loading/elf_summary.cc": "the format of libraries",
    "host/plugin/loading/guarded_load.cc": "the loader",
    "host/plugin/loading/held_file.cc": "leases of files",
    "host/plugin/loading/library.cc": "the loader",
    "host/plugin/loading/loaded_files.cc": "the loader",
    "host/plugin/loading/loader_gate.cc": "leases of files",
    "host/plugin/loading/private_pages.cc": "the segments of libraries",
    "host/plugin/loading/system_libraries.cc": "the configuration of the loader",
    "host/worker/process/crash_report.cc": "signals of crashes",
    "host/worker/process/file_rules.cc": "the sandbox: landlock",
    "host/worker/process/limits.cc": "limits of resources",
    "host/worker/process/resource_filter.cc": "the sandbox: seccomp",
    "host/worker/process/sandbox.cc": "the sandbox",
    "host/worker/process/system_calls.cc": "the sandbox: seccomp",
    "host/worker/process/watcher.cc": "waiting for many processes at once",
    "host/worker/process/worker_main.cc": "the start of a worker",
    "host/worker/transport/packets.cc": "sockets that pass descriptors",
    "host/worker/transport/turns.cc": "futexes between processes",
    "host/session/facade/async_run.cc": "the end of a thread by unwinding",
    "host/conformance/interface/calls.cc": "the loader",
    "host/conformance/program/main.cc": "the start of a program, its limits and its heap",
    "host/conformance/support/kept_libraries.cc": "the loader",
    "host/conformance/support/process_state.cc": "what a plugin may change in the process",
    "host/cli/measure/allocation_counter.cc": "the loader",
    "host/python/extension/gil.h": "the end of a thread by unwinding",
    "host/python/extension/objects.cc": "forks; sees the public API alone",
}

# What a plugin may include of ephost.
SDK_HEADER = re.compile(r"ephost/(plugin_abi\.h|plugin\.hpp|sdk/.+|ext/.+)")


def all_includes():
    """File (relative to the root) -> headers it includes."""
    found = {}
    for top in ("host", "plugins", "plugin_sdk"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".hpp", ".c", ".cc"):
                found[str(path.relative_to(ROOT))] = INCLUDE.findall(path.read_text())
    return found


def module_of(file):
    """host/cli/report/table.h -> host/cli"""
    return "/".join(file.split("/")[:2])


def room_of(file):
    """host/cli/report/table.h -> host/cli/report"""
    return file.rpartition("/")[0]


def public_breaches(file, headers, includes):
    """Breaches by a header of the public API, which includes the standard library and its like, nothing of the host."""
    for header in headers:
        is_public = "host/include/" + header in includes
        if not is_public and not STANDARD.fullmatch(header):
            yield f"{file} includes {header}; public headers include the standard library and each other only"
        if header in COSTLY:
            yield f"{file} includes {header}, which takes too long to compile for a public header"
        if is_public and VALUES.fullmatch(file.removeprefix("host/include/")) and not VALUES.fullmatch(header):
            yield f"{file} includes {header}; a header of plain values includes such headers only"


def host_breaches(file, headers):
    folder = file.split("/")[1]
    for header in headers:
        if header.startswith("host/"):
            target = header.split("/")[1]
            if target != folder and target not in ALLOWED[folder]:
                yield f"{file} includes {header}"
        elif header.startswith("ephost/") and not SDK_HEADER.fullmatch(header) and not VALUES.fullmatch(header):
            if folder not in PUBLIC or not PUBLIC[folder].fullmatch(header):
                yield f"{file} includes {header}, which is not for {folder}"


def in_circles(edges):
    """The sets of nodes, each in the order of the alphabet, that reach each other. `edges`: node -> nodes."""
    def reached_from(node):
        found, left = set(), [node]
        while left:
            for other in edges.get(left.pop(), ()):
                if other not in found:
                    found.add(other)
                    left.append(other)
        return found

    reached = {node: reached_from(node) for node in edges}
    return {tuple(sorted(other for other in reached[node] if node in reached.get(other, ())))
            for node in edges if node in reached[node]}


def room_breaches(module, includes):
    """Each include between rooms of the module that include each other, directly or by way of others."""
    between = [(file, header) for file, headers in includes.items() if file.startswith(f"host/{module}/")
               for header in headers
               if header.startswith(f"host/{module}/") and room_of(header) != room_of(file)]
    edges = {}
    for file, header in between:
        edges.setdefault(room_of(file), set()).add(room_of(header))
    for circle in sorted(in_circles(edges)):
        for file, header in between:
            if room_of(file) in circle and room_of(header) in circle:
                yield f"{file} includes {header}, in a circle of {', '.join(circle)}"


def third_party(header):
    return next((owner for pattern, owner in OWNERS.items() if re.match(pattern, header)), None)


def is_of_system(header):
    return (header.endswith(".h") and not header.startswith(("host/", "ephost/")) and not STANDARD.fullmatch(header) and
            not third_party(header))


def is_system_unit(file):
    return any(file == unit or unit.endswith("/") and file.startswith(unit) for unit in SYSTEM_UNITS)


def system_breaches(file, headers):
    for header in headers:
        if is_of_system(header) and not is_system_unit(file):
            yield f"{file} includes {header}; base has the services of the system, see host/base/README.md"


def stale_units(includes):
    """Files of SYSTEM_UNITS that include no header of the system."""
    for unit in SYSTEM_UNITS:
        if not any(file.startswith(unit) and is_of_system(header)
                   for file, headers in includes.items() for header in headers):
            yield f"{unit} includes no header of the system; take it out of SYSTEM_UNITS"


def breaches(includes):
    for folder in (path.name for path in (ROOT / "host").iterdir() if path.is_dir()):
        if folder not in ALLOWED and folder != "include":
            yield f"host/{folder} is not in host/modules.txt"
    for module in WITH_ROOMS:
        yield from room_breaches(module, includes)
    exposed = set()  # headers through which a third-party type could leave its folder
    for file, headers in includes.items():
        if file.startswith("host/include/ephost/"):
            yield from public_breaches(file, headers, includes)
        elif file.startswith("host/") and not file.startswith("host/include/"):
            yield from host_breaches(file, headers)
            yield from system_breaches(file, headers)
        for header in headers:
            owner = third_party(header)
            if owner in USERS and file.startswith(USERS[owner]):
                continue
            if owner and not file.startswith(owner + "/"):
                yield f"{file} includes {header}, which belongs to {owner}"
            if owner and file.startswith("host/") and file.endswith(".h") and file not in TRANSPARENT:
                exposed.add(file)
            if not file.startswith("host/"):
                if header.startswith("host/") or (header.startswith("ephost/") and
                                                  not SDK_HEADER.fullmatch(header)):
                    yield f"{file} includes {header}; plugins and the SDK see the SDK only"
    for file, headers in includes.items():
        for header in headers:
            if header in exposed and module_of(file) != module_of(header):
                yield f"{file} includes {header}, which exposes a third-party header"


def main():
    includes = all_includes()
    found = [*breaches(includes), *stale_units(includes)]
    for breach in found:
        print(f"layering: {breach}")
    print(f"layering: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
