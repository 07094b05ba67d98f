#!/usr/bin/python3
"""Compiles sources and headers alone: builds in unity batches do not show that an include is missing.

  scripts/check_sources.py [--changed | FILE ...]

Without files: all of host, plugins, plugin_sdk and tests. --changed: those that differ from the commit $CHECK_BASE,
default the one before the last, and the sources that include a header that does, of which at most $CHECK_MOST (default
100) are taken. Nothing is written but what the build generates; precompiled headers are not used.
Exits with 1 if a file does not compile.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESET = "dev-incremental"
FOLDERS = ("host", "plugins", "plugin_sdk", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiler_arguments(command):
    """The compiler and its flags in a line of the database, without launcher, input, output and precompiled header."""
    words = shlex.split(command)
    while os.path.basename(words[0]) in ("cmake", "ccache", "-E", "env") or "=" in words[0]:
        del words[0]
    kept = []
    following = iter(words)
    for word in following:
        if word in ("-o", "-c"):
            next(following)
        elif word == "-include":
            header = next(following)
            if "cmake_pch" not in header:
                kept += [word, header]
        elif word not in ("-Winvalid-pch", "-fpch-preprocess"):
            kept.append(word)
    return kept


def configured_sources():
    """Source -> (folder, compiler and flags), as the preset would compile it."""
    run("cmake", "--preset", PRESET)
    run("cmake", "--build", "--preset", PRESET, "--target", "generated_headers")
    database = json.loads((ROOT / "build" / PRESET / "compile_commands.json").read_text())
    commands = {}
    for entry in database:
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            name = str(path.relative_to(ROOT))
            commands.setdefault(name, (entry["directory"], compiler_arguments(entry["command"])))
    return commands


def nearest(header, commands):
    """The source whose flags a header is compiled with: one of its own folder or the nearest one."""
    def distance(source):
        common = os.path.commonpath([os.path.dirname(header), os.path.dirname(source)])
        return (-len(common), len(source), source)
    language = ".cc" if header.endswith((".h", ".hpp")) else os.path.splitext(header)[1]
    return min((source for source in commands if source.endswith(language)), key=distance)


def tracked(pattern):
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *FOLDERS).split("\n")
    return [file for file in files if file.endswith(pattern) and (ROOT / file).exists()]


def changed_files(commands):
    base = os.environ.get("CHECK_BASE", "HEAD~1")
    if subprocess.run(["git", "rev-parse", "--verify", "--quiet", base + "^{commit}"], cwd=ROOT,
                      capture_output=True).returncode != 0:
        base = "HEAD"  # a checkout without history has nothing to compare with
    changed = set(run("git", "diff", "--name-only", "--no-renames", "--diff-filter=d", base, "--", *FOLDERS).split())
    headers = {file for file in changed if file.endswith((".h", ".hpp"))}
    readers = []
    for source in sorted(set(commands) - changed):
        includes = INCLUDE.findall((ROOT / source).read_text(errors="replace"))
        if any(header == include or header.endswith("/include/" + include) for include in includes for header in headers):
            readers.append(source)
    most = int(os.environ.get("CHECK_MOST", "100"))
    if len(readers) > most:
        print(f"check_sources: {len(readers)} sources include a changed header; compiling the first {most}")
    return sorted(changed & (set(commands) | set(tracked((".h", ".hpp"))))) + readers[:most]


def compile_alone(file, commands):
    """The compiler's complaints, or nothing."""
    if file in commands:
        folder, arguments = commands[file]
        command = [*arguments, "-fsyntax-only", str(ROOT / file)]
    else:
        folder, arguments = commands[nearest(file, commands)]
        command = [*arguments, "-fsyntax-only", "-x", "c++", "-include", str(ROOT / file), os.devnull]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return result.stderr if result.returncode != 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    commands = configured_sources()
    if options.changed:
        files = changed_files(commands)
    elif options.files:
        files = [str((pathlib.Path.cwd() / file).resolve().relative_to(ROOT)) for file in options.files]
    else:
        files = sorted(commands) + tracked((".h", ".hpp"))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, complaints in zip(files, pool.map(lambda file: compile_alone(file, commands), files)):
            if complaints:
                failed += 1
                print(f"check_sources: {file} does not compile alone:\n{complaints}", flush=True)
    print(f"check_sources: {len(files) - failed} of {len(files)} files compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
