#!/usr/bin/python3
"""Makes a later version of an interface for a trial: appends a field to every record with a size.

  scripts/grow_abi.py plugin OUT  the plugin ABI: writes OUT/include, the headers of a later minor version,
                                  and OUT/host/plugin/record_layout.h and slots.h, by which a host knows
                                  their fields
  scripts/grow_abi.py api OUT     the C API: writes OUT/include

Plugins built from these headers must run under today's host, a host that knows these fields must take
today's plugins, and programs built from these headers must run with today's library (tests/abi).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELD = "added_by_trial"

# A record with a size: "typedef struct eph_x {" or "struct eph_x {", and its struct_size first.
RECORD = re.compile(r"^(?P<head>(typedef )?struct (?P<name>eph(?:ost)?_[a-z_]+) \{\n  uint64_t struct_size;.*?)"
                    r"^(?P<tail>\}( (?P=name))?;)$", re.MULTILINE | re.DOTALL)


def grown_header(text):
    return RECORD.subn(lambda match: f"{match['head']}  uint64_t {FIELD};\n{match['tail']}", text)


# Headers of host/plugin, with what becomes of their text: every table and record ends with the new field.
GROWN_HEADERS = {
    "record_layout.h": {
        "COVERED(struct_size), __VA_ARGS__}": f"COVERED(struct_size), __VA_ARGS__, OPTIONAL({FIELD})}}",
        "head..., field(slots)...}": f'head..., field(slots)..., Field{{"{FIELD}", sizeof(Table) - sizeof(uint64_t), '
                                     "sizeof(Table), Need::kOptional}}",
        "  eph_string vendor;\n};": f"  eph_string vendor;\n  uint64_t {FIELD};\n}};",
    },
    "slots.h": {"sizeof(Table) == end;": "sizeof(Table) == end + sizeof(uint64_t);"},
}


def grown_host_header(name):
    text = (ROOT / "host/plugin" / name).read_text()
    for old, new in GROWN_HEADERS[name].items():
        if text.count(old) != 1:
            raise SystemExit(f"grow_abi: {old!r} occurs {text.count(old)} times in {name}")
        text = text.replace(old, new)
    return text


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    # An unchanged file keeps its time, so that nothing is built again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_headers(headers, out):
    """Returns how many records have a further field."""
    count = 0
    for header in sorted((headers / "ephost").rglob("*.h*")):
        text, grown = grown_header(header.read_text()) if header.suffix == ".h" else (header.read_text(), 0)
        write(out / "include" / header.relative_to(headers), text)
        count += grown
    return count


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("plugin", "api"):
        raise SystemExit(__doc__)
    is_plugin = sys.argv[1] == "plugin"
    out = pathlib.Path(sys.argv[2])
    count = write_headers(ROOT / ("plugin_sdk/include" if is_plugin else "host/include"), out)
    layout = ROOT / ("tests/abi/layout.golden" if is_plugin else "tests/abi/api/layout.golden")
    listed = layout.read_text().count(", struct_size, ")
    if count != listed:
        raise SystemExit(f"grow_abi: found {count} records with a size, and {layout.name} has {listed}")
    if is_plugin:
        for name in GROWN_HEADERS:
            write(out / "host/plugin" / name, grown_host_header(name))
    print(f"grow_abi: {count} records have a further field in {out}")


if __name__ == "__main__":
    main()
