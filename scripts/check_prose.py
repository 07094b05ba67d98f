#!/usr/bin/python3
"""Checks the prose of comments, messages, help texts and documents for phrases that are not a native engineer's.

  check_prose.py [FILE ...]

PATTERNS are such phrases, each with what to write instead. A pattern matches across line breaks, comment markers and
parts of a string. Code contains no such phrases, so whole files are searched. The first comment of a header says what
the unit is, as a noun phrase ("Descriptions of the configuration entries"), or begins with the name of its function.
An exception belongs into the pattern (`unless`), not into the text.

Prints every finding with a better form, and exits with 1 if there is one. Without arguments, all files are checked.
"""
import pathlib
import re
import sys
from typing import NamedTuple

import check_documents

ROOT = check_documents.ROOT
# Data, and this list with its tests.
DATA = ("tests/data/", "tests/fuzz/corpus/", "scripts/check_prose.py", "tests/integration/checks/")
SUFFIXES = (".c", ".cc", ".cmake", ".h", ".hpp", ".in", ".inc", ".md", ".mjs", ".py", ".sh", ".toml", ".txt", ".yaml")
CONTEXT = 40  # characters on either side of a phrase that an exception may refer to


class Pattern(NamedTuple):
    phrase: str  # a regular expression, where a space stands for any white space
    better: str
    unless: str = r"(?!)"  # an expression that is found around a phrase that is right


PEOPLE = r"users?|people|those|authors?|vendors?|readers|everybody|somebody|root|others"
CODE_VERBS = (r"accepts?|asks?|asked|calls?|claims?|compiles?|computes?|defines?|frees?|gets?|gives?|has|have|holds?|"
              r"includes?|needs?|offers?|owns?|ran|reads?|removes?|runs?|speaks?|takes?|took|uses?|waits?|wants?|"
              r"writes?")
PATTERNS = (
    Pattern(r"\bOf (?:a|an|the|its)\b", 'name the subject first: "The elements of an array", "For a histogram: ..."'),
    Pattern(r"\bOf (?!(?:course|a|an|the|its)\b)[^,.;:=]+[.;:]",
            'a sentence needs a subject: "The messages of one call", "Of several devices, ..."'),
    Pattern(r"\b(?:is|are) none of\b", '"is not one of"'),
    Pattern(r"\bthat (?:is|are) none\b(?! of)", '"that is not one", "that is not a policy"'),
    Pattern(r"\b(?![Tt]here\b)\w[\w`]* (?:is|are|was|were) no (?!longer|more|fewer|less|larger|smaller|other)\w",
            '"is not a", "has no"'),
    Pattern(r"\bhears?\b", '"is told about", "sees"'),
    Pattern(r"\b(?:has|have|had) to do with\b", '"concerns", "host side of"'),
    Pattern(r"\b(?:go|goes|went) on\b", '"continues", "lasts", "during runs"'),
    Pattern(rf"\b[Ww]ho (?:{CODE_VERBS})\b", '"which provider", "the process that"; "who" is for people',
            rf"(?i)\b(?:{PEOPLE}),? who\b"),
    Pattern(r"\b[Ww]hoever\b", '"the process that", "whichever library"; "whoever" is for people',
            r"\b[Ww]hoever (?:can put|installs|signs)\b"),
    Pattern(rf"\b(?:[Nn]obody|[Ss]omebody|[Ss]omeone|[Aa]nybody|[Aa]nyone|[Ee]verybody|[Ee]veryone)(?: else)? "
            rf"(?:may |can |could )?(?:{CODE_VERBS})\b",
            '"no provider", "another owner", or the passive; "nobody" is for people',
            r"\belse may write\b|\bhas signed\b"),
    Pattern(r"\b(?:[Nn]obody|[Ss]omebody|[Ss]omeone) else\b(?! (?:but|may write|who))", '"no other provider"',
            r'somebody else\\?"'),  # names in tests
    Pattern(r"\bstat(?:es?|ing) (?:its|the|a|an|no|that|them|it|one|none|nothing|another|this|all|both|something|more|"
            r"what|how|which|whether|other)\b", '"sets", "gives", "declares", "names"',
            r"(?i)\b(?:the|its|their|an?|each|every|of|initial|hidden|previous|same|solid|specification|"
            r"standard|text) states?\b"),
    Pattern(r"\b(?:does|do|did|may|must|need|cannot) not state\b", '"does not set", "does not declare"'),
    Pattern(r"\b(?:speaks?|tells?) of\b", '"names", "reports"'),
    Pattern(r"\bsays? so of\b", '"reports this for", "returns true for"'),
    Pattern(r"\b[Ww]hat is (?:said|told|known) of\b", '"what is known about", "the state of"'),
    Pattern(r"\banew\b", '"again"'),
    Pattern(r"\bshall\b", '"is to", "should", "must"'),
    Pattern(r"\b(?:wants?|has|have) (?:yet )?to know (?:of|about)\b", '"asks for", "needs"'),
    Pattern(r"\bis of no (?:use|concern|interest)\b", '"is useless", "does not matter"'),
    Pattern(r"\bin vain\b", '"without success"'),
    Pattern(r"\bwhich there are\b", "name the things: \"Descriptions of the configuration entries\""),
)

# What joins the lines of a comment, or the parts of a string.
JOINT = re.compile(r'(?<=\n)[ \t]*(?://+|\*(?!/)|#+)(?= )|"[ \t]*\n[ \t]*f?"')
TITLE = re.compile(r"\A(?:#.*\n)*(?://|/\*\*?\n? \*?)\s*(?:[\w.]+\.h(?:pp)?: )?(?P<title>\S+ \S+)")
QUESTION = re.compile(r"(?:How|What|When|Where|Whether|Which|Who|Whom|Whose|Why) ", re.IGNORECASE)
VERB = re.compile(
    r"(?:Adds|Agrees|Answers|Applies|Asks|Builds|Calls|Changes|Checks|Collects|Compares|Compiles|Completes|Computes|"
    r"Connects|Converts|Copies|Counts|Decides|Declares|Derives|Detects|Divides|Draws|Encodes|Ends|Estimates|Examines|"
    r"Explains|Exports|Extracts|Finds|Gives|Groups|Grows|Holds|Imports|Infers|Judges|Keeps|Limits|Lists|Loads|Locks|"
    r"Makes|Matches|Moves|Names|Notes|Notices|Opens|Orders|Parses|Picks|Places|Plans|Prints|Protects|Puts|Reads|"
    r"Receives|Records|Removes|Renders|Renumbers|Replaces|Reports|Rewrites|Runs|Separates|Signs|Tells|Turns|Verifies|"
    r"Writes) (?!and\b|as\b|between\b|by\b|for\b|from\b|in\b|of\b|on\b|that\b|to\b|with\b)",
    re.IGNORECASE)


def joined(text):
    """The text with spaces in place of what joins its lines; all other characters keep their places."""
    return JOINT.sub(lambda joint: re.sub(r"[^\n]", " ", joint[0]), text)


def findings(text):
    """(offset, phrase, better form) of everything that PATTERNS find in the text."""
    text = joined(text)
    for pattern in PATTERNS:
        for match in re.finditer(pattern.phrase.replace(" ", r"\s+"), text):
            around = text[max(0, match.start() - CONTEXT):match.end() + CONTEXT]
            if not re.search(pattern.unless, " ".join(around.split())):
                yield match.start(), " ".join(match[0].split()), pattern.better


def title_finding(text):
    """What is wrong with the first comment of a header; empty: nothing."""
    match = TITLE.match(joined(text))
    title = match["title"] if match else ""
    return title if QUESTION.match(title) or VERB.match(title) else ""


def files(names):
    if names:
        return [pathlib.Path(name).resolve().relative_to(ROOT) for name in names]
    return [path for path in check_documents.files()
            if path.suffix in SUFFIXES and "frozen" not in path.parts and not str(path).startswith(DATA)]


def faults(path):
    text = (ROOT / path).read_text()
    for offset, phrase, better in sorted(findings(text)):
        yield f'{path}:{text.count(chr(10), 0, offset) + 1}: "{phrase}"; better: {better}'
    if path.suffix in (".h", ".hpp") and (title := title_finding(text)):
        yield f'{path}:1: "{title} ..." is not a noun phrase; better: what the unit is'


def main():
    found = [fault for path in files(sys.argv[1:]) for fault in faults(path)]
    for fault in found:
        print(f"prose: {fault}")
    print(f"prose: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
