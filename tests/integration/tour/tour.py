"""Runs the commands of host/TOUR.md in their order, in an empty folder, and compares what they print.

The page has blocks of the form

    ```console
    $ command
    > its next line
    what it prints, where ... stands for any text, and a line with nothing else for any lines
    ```

A command has to end with status 0, or with the one that a comment `# status N` at its end gives. The number
of spaces between words does not count, nor do empty lines.
"""

import dataclasses
import os
import pathlib
import re
import subprocess


@dataclasses.dataclass
class Step:
    line: int  # of the page
    command: str
    status: int
    expected: list[str]


def read_steps(text):
    """The commands of a page, with what they are said to print."""
    steps = []
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif not inside:
            continue
        elif line.startswith("$ "):
            steps.append(Step(number, line[2:], 0, []))
        elif not steps:
            raise ValueError(f"line {number}: a block of commands begins without one")
        elif line.startswith("> ") and not steps[-1].expected:
            steps[-1].command += "\n" + line[2:]
        else:
            steps[-1].expected.append(line)
    for step in steps:
        stated = re.search(r" # status (\d+)$", step.command)
        step.status = int(stated[1]) if stated else 0
    return steps


def words(lines):
    return [" ".join(line.split()) for line in lines if line.strip()]


def agrees(expected, printed):
    """Whether lines are those that are expected."""
    pattern = ""
    for line in words(expected):
        if line == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in words(printed))) is not None


def run(steps, folder, environment):
    """Runs the steps in one shell; yields each with its status and the lines that it printed. Ends with the first
    step that the shell does not survive."""
    mark = " end of step"
    script = "".join(f"{step.command}\nprintf '\\n{mark} %s\\n' $?\n" for step in steps)
    done = subprocess.run(["bash", "--noprofile", "--norc"], input=script, cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    printed = []
    rest = iter(steps)
    for line in done.stdout.splitlines():
        if not line.startswith(mark):
            printed.append(line)
            continue
        yield next(rest), int(line.rsplit(" ", 1)[1]), printed
        printed = []


def environment_of(program, source, folder):
    """The environment of a user after installing ephost, with nothing of this machine's own."""
    environment = {name: value for name, value in os.environ.items()
                   if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
    environment.update(
        PATH=f"{pathlib.Path(program).resolve().parent}:/usr/bin:/bin", HOME=str(folder),
        XDG_DATA_DIRS=str(folder / "share"), EPHOST_SOURCE=str(source), LC_ALL="C.UTF-8")
    return environment
