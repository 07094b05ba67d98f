#!/usr/bin/python3
"""Lists every struct of a C header with its fields in order, and every enumerator, as STRUCT, FIELD and
CONSTANT lines for layout_print.c.

  list_fields.py HEADER OUT

What it cannot read ends it with an error: no field is left out. layout_check.cmake proves that, as the
fields that it finds have to cover each struct.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"^typedef struct (\w+) \{(.*?)^\} \1;$", re.MULTILINE | re.DOTALL)
ENUM = re.compile(r"^enum \{(.*?)\};", re.MULTILINE | re.DOTALL)
# "type name" or "type (*name)(parameters)".
FIELD = re.compile(r"[\w\s*]+\(\*(\w+)\)\(.*\)|[\w\s*]+[\s*](\w+)", re.DOTALL)


def lines_of(header):
    text = COMMENT.sub("", header)
    for struct, body in STRUCT.findall(text):
        yield f"STRUCT({struct})"
        for declaration in body.split(";")[:-1]:
            field = FIELD.fullmatch(declaration.strip())
            if field is None:
                raise SystemExit(f"list_fields: cannot read a field of {struct}: {declaration.strip()}")
            yield f"FIELD({struct}, {field[1] or field[2]})"
    for body in ENUM.findall(text):
        for enumerator in re.findall(r"(\w+)\s*=", body):
            yield f"CONSTANT({enumerator})"


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    lines = list(lines_of(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
    pathlib.Path(sys.argv[2]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
