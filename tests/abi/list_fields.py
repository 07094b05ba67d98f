#!/usr/bin/python3
"""Lists every struct of C headers with its fields in order, and every enumerator, as STRUCT, FIELD and
CONSTANT lines for layout_print.c.

  list_fields.py OUT INCLUDE_DIR HEADER...   the headers by their names in INCLUDE_DIR, as in an #include;
                                             writes OUT_fields.inc, and OUT_headers.h, which includes them all

What it cannot read ends it with an error: no field is left out. layout_check.cmake proves that, as the
fields that it finds have to cover each struct.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{(.*?)^\}(?: \1)?;$", re.MULTILINE | re.DOTALL)
ENUM = re.compile(r"^enum \{(.*?)\};", re.MULTILINE | re.DOTALL)
# "type name" or "type (*name)(parameters)", where a macro may follow.
FIELD = re.compile(r"[\w\s*]+\(\*(\w+)\)\(.*\)\s*\w*|[\w\s*]+[\s*](\w+)", re.DOTALL)


def struct_lines(text):
    for struct, body in STRUCT.findall(text):
        yield f"STRUCT({struct})"
        for declaration in body.split(";")[:-1]:
            field = FIELD.fullmatch(declaration.strip())
            if field is None:
                raise SystemExit(f"list_fields: cannot read a field of {struct}: {declaration.strip()}")
            yield f"FIELD({struct}, {field[1] or field[2]})"


def constant_lines(text):
    for body in ENUM.findall(text):
        for enumerator in re.findall(r"(\w+)\s*=", body):
            yield f"CONSTANT({enumerator})"


def write(path, lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main():
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    out, include_dir, *headers = sys.argv[1:]
    texts = [COMMENT.sub("", pathlib.Path(include_dir, header).read_text(encoding="utf-8")) for header in headers]
    write(f"{out}_headers.h", [f"#include <{header}>" for header in headers])
    write(f"{out}_fields.inc", [line for lines_of in (struct_lines, constant_lines) for text in texts
                                for line in lines_of(text)])


if __name__ == "__main__":
    main()
