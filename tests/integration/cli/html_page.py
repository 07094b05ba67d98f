"""Pages of the commands as headless Chromium shows them."""

import html.parser
import os
import re
import subprocess

CHROMIUM = os.environ.get("CHROMIUM", "chromium")  # scripts/setup.sh installs it
VOID = {"meta", "link", "br", "img", "input", "hr"}
LIGHT = ()
DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children = []

    def __getitem__(self, name):
        return self.attributes.get(name)

    @property
    def classes(self):
        return (self["class"] or "").split()

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, **attributes):
        """Elements below it in their order; `kind` is one of their classes."""
        kind = attributes.pop("kind", None)
        for child in self.children:
            if isinstance(child, str):
                continue
            if ((tag is None or child.tag == tag) and (kind is None or kind in child.classes) and
                    all(child[name] == value for name, value in attributes.items())):
                yield child
            yield from child.all(tag, **attributes, **({"kind": kind} if kind else {}))

    def first(self, tag=None, **attributes):
        return next(self.all(tag, **attributes))

    def rows(self):
        return [[cell.text for cell in row.all("td")] for row in self.all("tr") if any(row.all("td"))]


class Page(html.parser.HTMLParser):
    """A tree of elements."""

    def __init__(self, text):
        super().__init__()
        self.root = self.at = Element("", {}, None)
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        self.at.children.append(Element(tag, dict(attributes), self.at))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        at = self.at
        while at is not None and at.tag != tag:
            at = at.parent
        if at is not None:
            self.at = at.parent

    def handle_data(self, text):
        self.at.children.append(text)


def browse(folder, file, *flags):
    return subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={folder}/profile", "--virtual-time-budget=10000", "--window-size=1200,900", *flags,
         (folder / file).as_uri()],
        capture_output=True, text=True, timeout=300, check=True).stdout


def page(folder, file, script=""):
    """The page after its scripts, and after `script`, which runs at its end."""
    text = (folder / file).read_text()
    if script:
        file = "scripted_" + file
        (folder / file).write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    return Page(browse(folder, file, "--dump-dom")).root


def check_is_self_contained(case, file):
    text = (case.folder / file).read_text()
    case.assertEqual(re.findall(r"https?:|//[a-z]|@import|url\(|\bsrc=|\bhref=", text), [])
    root = page(case.folder, file)
    references = [one[name] for one in root.all() for name in ("src", "href", "xlink:href", "data", "action")
                  if one[name]]
    case.assertEqual(references, [])
    policy = root.first("meta", **{"http-equiv": "Content-Security-Policy"})["content"]
    case.assertIn("default-src 'none'", policy)


def check_is_named(case, root):
    """What a reader can reach has a name; pictures have a role."""
    for one in root.all():
        if one["tabindex"] is None and one.tag not in ("button", "input", "select", "summary"):
            continue
        titles = [child for child in one.all("title")]
        case.assertTrue(one["aria-label"] or one.text.strip() or titles, f"{one.tag} {one.attributes}")
    for one in root.all("svg"):
        case.assertTrue(one["role"] and one["aria-label"] or one["aria-hidden"] == "true" or
                        one.parent.tag == "svg", one.attributes)


def check_follows_the_colour_scheme(case, file):
    pictures = []
    for name, flags in (("light.png", LIGHT), ("dark.png", DARK)):
        browse(case.folder, file, f"--screenshot={case.folder / name}", *flags)
        pictures.append((case.folder / name).read_bytes())
    case.assertNotEqual(*pictures)
