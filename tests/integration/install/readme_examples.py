#!/usr/bin/python3
"""Writes the examples of README.md, whole programs and how they are built, into a folder.

  readme_examples.py FOLDER

The folder gets main.cc, main.c, main.py, CMakeLists.txt, and build.sh with the commands that build the first
two by pkg-config. An example that is missing, or that there are several of, is an error.
"""
import pathlib
import re
import sys

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"
# File: the heading that its block is below, and the language of the block.
EXAMPLES = {
    "main.cc": ("Use it from C++", "cpp"),
    "main.c": ("Use it from C", "c"),
    "main.py": ("Use it from Python", "python"),
    "CMakeLists.txt": ("Build an application", "cmake"),
    "build.sh": ("Build an application", "sh"),
}
SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples_of(readme):
    """File -> text, for all EXAMPLES. ValueError if one of them isn't there exactly once."""
    blocks = [(heading, language, text) for heading, section in SECTION.findall(readme)
              for language, text in BLOCK.findall(section)]
    found = {}
    for file, wanted in EXAMPLES.items():
        texts = [text for *place, text in blocks if tuple(place) == wanted]
        if len(texts) != 1:
            heading, language = wanted
            raise ValueError(f"README.md has {len(texts)} blocks of {language} below \"{heading}\" instead of one, "
                             f"from which {file} is taken; add it, or change EXAMPLES in {__file__}")
        found[file] = texts[0]
    return found


def write_examples(folder):
    found = examples_of(README.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in found.items():
        (folder / file).write_text(text, encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    try:
        write_examples(pathlib.Path(sys.argv[1]))
    except ValueError as error:
        raise SystemExit(f"readme_examples: {error}") from error


if __name__ == "__main__":
    main()
