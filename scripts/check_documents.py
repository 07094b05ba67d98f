#!/usr/bin/python3
"""Checks that the documents agree with each other and with the sources.

- Lines of documents, CMake files and shell scripts have at most 120 columns.
- Relative links, and paths of sources in backticks, lead somewhere; each module and plugin has a page;
  scripts/README.md names each script.
- ARCHITECTURE.md has the include table of host/modules.txt, and host/include/README.md every
  configuration entry and every public header.
- host/include/ONNXRUNTIME.md names every function of the C API, and what it names of the API exists.

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
# Keys, and beginnings of keys, which end with a dot; in the document a word in capitals stands for the rest.
ENTRY = re.compile(r'(?:KnownEntry\{|(?:Key|Prefix) =\s+)"((?:ep|session|optimization)\.[a-z_\d.]{2,})(?:[A-Z]+)?"')
ENTRY_ROW = re.compile(r"^\| `((?:ep|session|optimization)\.[a-z_\d.]{2,})(?:[A-Z]+)?` \|", re.MULTILINE)
FIELD = re.compile(r"\(\*(\w+)\)\(|(\w+);")  # of a record of the C API
HEADER_ROW = re.compile(r"^\| ((?:`[\w/]+\.h`(?:, )?)+) \|", re.MULTILINE)
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
    """Breaches of "the table in ARCHITECTURE.md is the one of host/modules.txt"."""
    rows = TABLE_ROW.findall((ROOT / "host/ARCHITECTURE.md").read_text())
    stated, above = {}, set()
    for module, allowed in rows:
        words = set(re.findall(r"\w+", allowed)) - {"nothing"}
        stated[module] = set(above) if "all of the above" in allowed else words
        if module != "include":
            above.add(module)
    stated.pop("include", None)
    for module in sorted({*stated, *check_layering.ALLOWED}):
        enforced = set(check_layering.ALLOWED.get(module, ()))
        if module not in stated or stated[module] != enforced:
            yield f"host/ARCHITECTURE.md: {module} may include {', '.join(sorted(enforced)) or 'nothing'}"


def configuration_entries(paths):
    sources = [path for path in paths if path.parts[0] == "host" and path.suffix in (".h", ".cc")]
    known = {key for path in sources for key in ENTRY.findall((ROOT / path).read_text())}
    listed = set(ENTRY_ROW.findall((ROOT / "host/include/README.md").read_text()))
    for key in sorted(known ^ listed):
        problem = "is not listed" if key in known else "does not exist"
        yield f"host/include/README.md: the entry {key} {problem}"


def public_headers():
    folder = ROOT / "host/include/ephost"
    rows = HEADER_ROW.findall((ROOT / "host/include/README.md").read_text())
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    known = {str(path.relative_to(folder)) for path in folder.rglob("*.h")}
    known -= {name for name in known if name.startswith(("c/", "detail/"))} | {"ephost.h"}
    for name in sorted(known ^ listed):
        problem = "is not listed" if name in known else "does not exist"
        yield f"host/include/README.md: the header {name} {problem}"


def declared_in_c(header):
    """"ephost_session_api": {"struct_size", "create", ...}, for each record and table of the C API."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    records = re.findall(r"^typedef struct (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {name: {function or field for function, field in FIELD.findall(body)} for name, body in records}


def declared_in_cc(headers):
    """"Session": the text between its braces, for each class and struct of the C++ API."""
    return dict(re.findall(r"^(?:class|struct) (?:\[\[nodiscard\]\] )?(\w+)[^;{]*\{(.*?)^\};", headers,
                           re.MULTILINE | re.DOTALL))


def api_names(text, header, headers):
    """Breaches of "the text names every function of the C API, and nothing that does not exist".

    `header` has the headers of `c/`, `headers` are all public headers. A name in lower case that stands alone, such as that of a
    field, has to be a word of these.
    """
    records, classes, words = declared_in_c(header), declared_in_cc(headers), set(re.findall(r"\w+", headers))
    page = "host/include/ONNXRUNTIME.md"
    functions = {(record[len("ephost_"):-len("_api")], field) for record, fields in records.items()
                 for field in fields - {"struct_size"} if re.fullmatch(r"ephost_\w+_api", record)}
    named = set(re.findall(r"`(\w+)->(\w+)`", text))
    for table, function in sorted(functions ^ named):
        problem = "is not named" if (table, function) in functions else "does not exist"
        yield f"{page}: {table}->{function} {problem}"
    for record, field in re.findall(r"`(ephost_\w+)\.(\w+)`", text):
        if field not in records.get(record, ()):
            yield f"{page}: {record}.{field} does not exist"
    for name, member in re.findall(r"`(\w+)::(\w+)`", text):
        if name != "Ort" and not re.search(rf"\b{member}\b", classes.get(name, "")):
            yield f"{page}: {name}::{member} does not exist"
    for name in re.findall(r"`\.?([a-z]\w*)`", text):
        if name not in words:
            yield f"{page}: {name} does not exist"


def onnxruntime_page():
    folder = ROOT / "host/include/ephost"
    headers = "".join(path.read_text() for path in sorted(folder.rglob("*.h")))
    c_headers = "".join(path.read_text() for path in (*sorted((folder / "c").glob("*.h")), folder / "c_api.h"))
    yield from api_names((ROOT / "host/include/ONNXRUNTIME.md").read_text(), c_headers, headers)


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
    yield from public_headers()
    yield from onnxruntime_page()


def main():
    found = list(faults())
    for fault in found:
        print(f"documents: {fault}")
    print(f"documents: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
