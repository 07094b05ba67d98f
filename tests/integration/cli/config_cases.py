"""Cases of `ephost config list`, and whether the documents list the same entries."""

import os
import pathlib
import re
import unittest

from command_line import CommandLineTest

SOURCE = pathlib.Path(os.environ["EPHOST_SOURCE"])
ROW = re.compile(r"^\| `([^`]+)` \| (.*?) \| (.*) \|$")


def documented():
    """The entries that host/include/README.md lists, as `config list` prints them."""
    text = (SOURCE / "host/include/README.md").read_text()
    entries, subject, in_table = {}, None, False
    for line in text[text.index("\n## Configuration entries"):text.index("\n## When a plugin")].splitlines():
        if line.startswith("### "):
            subject = line[4:]
        if not line.startswith("|"):
            in_table = False
        in_table = in_table or line == "| key | default | meaning |"
        row = ROW.match(line)
        if not in_table or not row:
            continue
        key, default, meaning = (cell.replace("`", "") for cell in row.groups())
        entries[key] = {"subject": subject, "default": default, "own": meaning.startswith("*own*: "),
                        "meaning": meaning.removeprefix("*own*: ")}
    return entries


class ConfigTest(CommandLineTest):
    def entries(self, *pattern):
        return self.json("config", "list", *pattern)["entries"]

    def test_lists_what_the_readme_lists_and_nothing_else(self):
        listed = {entry["key"]: {name: entry[name] for name in ("subject", "default", "own", "meaning")}
                  for entry in self.entries()}
        self.assertEqual(listed, documented())
        self.assertGreater(len(listed), 45)

    def test_lists_the_environment_variables_that_the_code_reads(self):
        read = set()
        for file in (SOURCE / "host").rglob("*.cc"):
            if "frozen" not in file.parts:
                read |= set(re.findall(r'(?:getenv|environment_value|read_variable)\("(EPHOST_\w+)"', file.read_text()))
        self.assertEqual({entry["key"] for entry in self.entries() if entry["scope"] == "process"}, read)
        self.assertEqual(len(self.entries("EPHOST_CACHE_DIR")), 1)

    def test_lists_the_session_entries_that_the_schema_lists(self):
        text = (SOURCE / "manifests/SCHEMA.md").read_text()
        table = text[text.index("| subject | keys |"):text.index("\n\n", text.index("| subject | keys |"))]
        self.assertEqual(sorted(re.findall(r"`([^`]+)`", table)),
                         sorted(entry["key"] for entry in self.entries() if entry["scope"] == "session"))

    def test_describes_each_entry_whole(self):
        for entry in self.entries():
            self.assertEqual(list(entry), ["key", "scope", "subject", "values", "default", "meaning", "own"])
            self.assertIn(entry["scope"], ("session", "run", "process"))
            for name in ("subject", "values", "default", "meaning"):
                self.assertTrue(entry[name], entry)

    def test_every_session_entry_is_known_to_sessions(self):
        for entry in self.entries():
            # The values are wrong, but a key that sessions do not know would be warned about.
            if entry["scope"] == "session" and entry["values"] == "0 or 1":
                error = self.ephost("partition", os.environ["EPHOST_TINY_MODELS"] + "/tiny_add/model.onnx",
                                    "--config", entry["key"] + "=maybe", status=2).stderr
                self.assertIn(entry["key"], error)
                self.assertNotIn("is unknown", error)

    def test_shows_one_entry_with_everything(self):
        text = self.ephost("config", "list", "ep.cache_max_bytes").stdout
        for part in ("10737418240", "whole number", "limit of the store", "ephost", "session"):
            self.assertIn(part, text)
        self.assertEqual([entry["key"] for entry in self.entries("ep.share_ep_contexts")],
                         ["ep.share_ep_contexts"])

    def test_takes_a_part_of_keys_or_a_pattern(self):
        shapes = ["specialize", "runs_before", "max_specializations", "profiles"]
        keys = [f"session.shapes.{name}" for name in shapes]
        self.assertEqual([entry["key"] for entry in self.entries("shapes")], keys)
        self.assertEqual([entry["key"] for entry in self.entries("session.sh*")], keys)

    def test_groups_the_table_by_subject(self):
        text = self.ephost("config", "list").stdout
        self.assertRegex(text, r"(?m)^Threads and time$")
        self.assertRegex(text, r"(?m)^session\.execution_mode +sequential or parallel +sequential +")

    def test_suggests_the_key_that_was_meant(self):
        self.assertIn('did you mean "ep.cache_dir"?',
                      self.refusal("INVALID_ARGUMENT", "config", "list", "ep.cache_dri", status=2))
        self.assertIn('"ephost config list" has all of them',
                      self.refusal("INVALID_ARGUMENT", "config", "list", "weather", status=2))


if __name__ == "__main__":
    unittest.main()
