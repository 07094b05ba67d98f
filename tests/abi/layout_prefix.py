#!/usr/bin/python3
"""Whether a later layout of the ABI has an earlier one as a prefix.

  layout_prefix.py EARLIER LATER     two files in the form of layout.golden

Records with a size, among them all tables and those of extensions, may have grown at their end; other
records are frozen. No record, field or constant may be missing, or have moved or changed. Prints each
breach and exits with 1 if there is one.
"""
import re
import sys

LINE = re.compile(r"^(SIZE|FIELD|CONSTANT)\(([a-zA-Z0-9_, -]+)\)$", re.MULTILINE)


def read_layout(text):
    """Sizes by record, (offset, size) by field, in order, and numbers by constant."""
    sizes, fields, constants = {}, {}, {}
    for kind, words in LINE.findall(text):
        words = words.split(", ")
        if kind == "SIZE":
            sizes[words[0]] = int(words[1])
        elif kind == "FIELD":
            fields.setdefault(words[0], {})[words[1]] = (int(words[2]), int(words[3]))
        else:
            constants[words[0]] = int(words[1])
    if not sizes or not constants:
        raise SystemExit("layout_prefix: not a layout of the ABI: it has no records or no constants")
    return sizes, fields, constants


def breaches(earlier_text, later_text):
    """What of the earlier layout the later one does not keep, one sentence each."""
    sizes, fields, constants = read_layout(earlier_text)
    later_sizes, later_fields, later_constants = read_layout(later_text)
    found = []
    for record, size in sizes.items():
        if record not in later_sizes:
            found.append(f"{record} is missing")
            continue
        can_grow = "struct_size" in fields.get(record, {})
        later_size = later_sizes[record]
        if later_size < size or (later_size > size and not can_grow):
            what = "shrank" if later_size < size else "has no struct_size and grew"
            found.append(f"{record} {what}, from {size} to {later_size} bytes")
        for field, (offset, width) in fields.get(record, {}).items():
            now = later_fields.get(record, {}).get(field)
            if now is None:
                found.append(f"{record}.{field} is missing")
            elif now != (offset, width):
                found.append(f"{record}.{field} has {width} bytes at {offset}, later {now[1]} at {now[0]}")
        for field, (offset, _) in later_fields.get(record, {}).items():
            if field not in fields.get(record, {}) and offset < size:
                found.append(f"{record}.{field} came in before the end of the record, at {offset}")
    for name, number in constants.items():
        now = later_constants.get(name)
        if now != number:
            found.append(f"{name} was {number} and is {'missing' if now is None else now}")
    return found


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as earlier, open(sys.argv[2], encoding="utf-8") as later:
        found = breaches(earlier.read(), later.read())
    for breach in found:
        print(f"layout_prefix: {breach}")
    if found:
        raise SystemExit(f"layout_prefix: {sys.argv[2]} breaks what was built with {sys.argv[1]}")
    print(f"layout_prefix: {sys.argv[2]} has {sys.argv[1]} as a prefix")


if __name__ == "__main__":
    main()
