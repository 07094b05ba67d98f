"""Reads Prometheus' text exposition format 0.0.4, and refuses what breaks one of its rules."""

import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


def take(pattern, text, at):
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(f"a name was expected at {text[at:]!r}")
    return match[0], match.end()


def quoted(text, at):
    """The label value that begins with a quotation mark at `at`, and where it ends."""
    if text[at] != '"':
        raise ValueError(f"a label value is not quoted: {text!r}")
    value, at = "", at + 1
    while text[at] != '"':
        if text[at] == "\\":
            value += {"\\": "\\", "n": "\n", '"': '"'}[text[at + 1]]
            at += 2
        else:
            value += text[at]
            at += 1
    return value, at + 1


def sample_of(line):
    """Name, labels and value of a line."""
    name, at = take(NAME, line, 0)
    labels = {}
    if line[at] == "{":
        at += 1
        while line[at] != "}":
            label, at = take(LABEL, line, at)
            if line[at] != "=" or label in labels:
                raise ValueError(f"a bad or repeated label: {line!r}")
            labels[label], at = quoted(line, at + 1)
            if line[at] == ",":
                at += 1
        at += 1
    if line[at] != " ":
        raise ValueError(f"no value: {line!r}")
    return name, labels, float(line[at + 1:])


def check_histogram(family):
    """Buckets are cumulative, ascending by `le`, and end with +Inf, which is the count."""
    series = {}
    for (name, labels), value in family["samples"].items():
        if name.endswith("_bucket"):
            of = frozenset(label for label in labels if label[0] != "le")
            series.setdefault(of, {"buckets": []})["buckets"].append((float(dict(labels)["le"]), value))
        else:
            series.setdefault(labels, {"buckets": []})[name.rsplit("_", 1)[1]] = value
    for labels, one in series.items():
        bounds = [bound for bound, _ in one["buckets"]]
        counts = [count for _, count in one["buckets"]]
        if bounds != sorted(set(bounds)) or bounds[-1] != math.inf or counts != sorted(counts):
            raise ValueError(f"bad buckets: {labels} {one}")
        if one["count"] != counts[-1] or one["sum"] < 0 or (one["count"] == 0) != (one["sum"] == 0):
            raise ValueError(f"sum and count do not fit: {labels} {one}")


def parse(text):
    """Families by name: help, type, and samples by name and labels."""
    if not text.endswith("\n") or "\r" in text:
        raise ValueError("lines do not end as they have to")
    families, current = {}, None
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            kind, name, rest = line[2:].split(" ", 2)
            if kind == "HELP":
                if name in families or not NAME.fullmatch(name):
                    raise ValueError(f"a bad or repeated name: {line!r}")
                current = families[name] = {"help": rest, "type": None, "samples": {}}
            elif kind == "TYPE":
                if families.get(name) is not current or current["type"] or rest not in TYPES:
                    raise ValueError(f"a TYPE out of place: {line!r}")
                current["type"] = rest
            continue
        name, labels, value = sample_of(line)
        family = re.sub(r"_(bucket|sum|count)$", "", name) if current["type"] == "histogram" else name
        if families.get(family) is not current:
            raise ValueError(f"a sample outside of its family: {line!r}")
        if name.endswith("_bucket") != ("le" in labels) or (value < 0 and current["type"] == "counter"):
            raise ValueError(f"a bad sample: {line!r}")
        key = name, frozenset(labels.items())
        if key in current["samples"]:
            raise ValueError(f"a repeated sample: {line!r}")
        current["samples"][key] = value
    for family in families.values():
        if family["type"] == "histogram" and family["samples"]:
            check_histogram(family)
    return families
