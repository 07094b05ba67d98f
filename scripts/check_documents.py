#!/usr/bin/python3
"""Checks that the documents agree with each other and with the sources.

- Lines of documents, CMake files and shell scripts have at most 120 columns.
- Relative links, and paths of sources in backticks, lead somewhere; each module and plugin has a page;
  scripts/README.md names each script.
- ARCHITECTURE.md has the include table of check_layering.py, and host/include/README.md every
  configuration entry.

Prints every fault and exits with 1 if there is one.
"""
import pathlib
import re
import sys

import check_layering

ROOT = check_layering.ROOT
FOLDERS = (".ci", "host", "manifests", "plugin_sdk", "plugins", "scripts", "tests")
MAX_COLUMNS = 120
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]*)\)")
SOURCE_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|hpp|c|cc|inc|py|mjs|sh|md|txt|yaml))`")
ENTRY = re.compile(r'(?:Entry\{|Key = )"((?:ep|session|optimization)\.\w+)"')
ENTRY_ROW = re.compile(r"^\| `((?:ep|session|optimization)\.\w{2,})` \|", re.MULTILINE)
TABLE_ROW = re.compile(r"^\| \[(\w+)\]\([^)]+\) \|[^|]+\| ([^|]*)\|", re.MULTILINE)


def files():
    """Every file of the repository, relative to its root."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(path.relative_to(ROOT) for path in found)


def is_wrapped(path):
    return path.suffix in (".md", ".cmake", ".sh") or str(path) == ".ci/run" or path.name == "CMakeLists.txt"


def long_lines(paths):
    for path in filter(is_wrapped, paths):
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                yield f"{path}:{number}: {len(line)} columns"


def anchors(text):
    """The fragments by which the headings of a document are linked to."""
    for heading in re.findall(r"^#+ (.*)$", CODE_BLOCK.sub("", text), re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def dead_links(path, text):
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        document = ROOT / path.parent / target if target else ROOT / path
        if not document.exists():
            yield f"{path}: there is no {link}"
        elif anchor and anchor not in anchors(document.read_text()):
            yield f"{path}: {link} names no heading"


def dead_paths(path, text, paths):
    known = ["/" + str(other) for other in paths]
    for name in SOURCE_PATH.findall(text):
        if not any(other.endswith("/" + name) for other in known):
            yield f"{path}: there is no file {name}"


def missing_pages():
    for folder in sorted([*(ROOT / "host").iterdir(), *(ROOT / "plugins").iterdir()]):
        if folder.is_dir() and not (folder / "README.md").exists():
            yield f"{folder.relative_to(ROOT)} has no README.md"


def missing_scripts():
    text = (ROOT / "scripts/README.md").read_text()
    for script in sorted((ROOT / "scripts").iterdir()):
        if script.suffix in (".sh", ".py") and f"`{script.name}" not in text:
            yield f"scripts/README.md does not name {script.name}"


def include_table():
    """Breaches of "the table in ARCHITECTURE.md is the one in check_layering.py"."""
    rows = TABLE_ROW.findall((ROOT / "host/ARCHITECTURE.md").read_text())
    stated, above = {}, set()
    for module, allowed in rows:
        words = set(re.findall(r"\w+", allowed)) - {"nothing"}
        stated[module] = set(above) if "all of the above" in allowed else words
        if module != "include":
            above.add(module)
    stated.pop("include", None)
    for module in sorted({*stated, *check_layering.ALLOWED}):
        enforced = set(check_layering.ALLOWED.get(module, "").split())
        if module not in stated or stated[module] != enforced:
            yield f"host/ARCHITECTURE.md: {module} may include {', '.join(sorted(enforced)) or 'nothing'}"


def configuration_entries(paths):
    sources = [path for path in paths if path.parts[0] == "host" and path.suffix in (".h", ".cc")]
    known = {key for path in sources for key in ENTRY.findall((ROOT / path).read_text())}
    listed = set(ENTRY_ROW.findall((ROOT / "host/include/README.md").read_text()))
    for key in sorted(known ^ listed):
        problem = "is not listed" if key in known else "does not exist"
        yield f"host/include/README.md: the entry {key} {problem}"


def faults():
    paths = files()
    yield from long_lines(paths)
    for path in paths:
        if path.suffix == ".md":
            text = CODE_BLOCK.sub("", (ROOT / path).read_text())
            yield from dead_links(path, text)
            yield from dead_paths(path, text, paths)
    yield from missing_pages()
    yield from missing_scripts()
    yield from include_table()
    yield from configuration_entries(paths)


def main():
    found = list(faults())
    for fault in found:
        print(f"documents: {fault}")
    print(f"documents: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
