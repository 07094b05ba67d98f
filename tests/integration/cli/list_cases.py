"""Cases of `ephost list`."""

import json
import os
import re
import shutil
import unittest
from unittest import mock

from command_line import CommandLineTest, PLUGINS

MANIFEST = """schema: 1
provider: OtherExecutionProvider
name: other
vendor: somebody
version: 1.2.3
abi: { major: 1, minor: [0, 0] }
library:
  linux-x86_64: other.so
  linux-aarch64: other.so
devices:
  - type: npu
    vendor: somebody
"""


class ListTest(CommandLineTest):
    def test_shows_the_plugins_that_came_with_the_host(self):
        plugins = {plugin["name"]: plugin for plugin in self.json("list")["plugins"]}
        self.assertEqual(plugins["cpu"]["provider"], "CPUExecutionProvider")
        self.assertEqual(plugins["dnnl"]["provider"], "DnnlExecutionProvider")
        self.assertEqual(plugins["image"]["provider"], "ImageExecutionProvider")
        self.assertEqual(plugins["cpu"]["devices"][0]["type"], "cpu")
        self.assertEqual(plugins["cpu"]["manifest"], str(PLUGINS.resolve() / "cpu.yaml"))

    def test_a_table_has_the_same(self):
        table = self.ephost("list").stdout
        self.assertRegex(table, r"(?m)^provider +name +version +vendor +abi +devices +loadable +manifest$")
        self.assertRegex(table, r"(?m)^CPUExecutionProvider +cpu +\d+\.\d+\.\d+ ")

    def test_loads_nothing(self):
        self.write("plugins/other.yaml", MANIFEST)
        self.write("plugins/other.so", "no library at all")
        plugins = self.json("list", "--plugin-path", "plugins")["plugins"]
        other = [plugin for plugin in plugins if plugin["name"] == "other"]
        self.assertEqual(len(other), 1)
        self.assertEqual(other[0]["version"], "1.2.3")
        self.assertEqual(other[0]["devices"], [{"type": "npu", "vendor": "somebody", "id": ""}])

    @mock.patch.dict(os.environ)
    def test_a_plugin_that_others_can_change_is_not_used_unless_that_is_allowed(self):
        os.environ.pop("EPHOST_ALLOW_WRITABLE_PLUGINS", None)
        self.write("plugins/open/other.yaml", MANIFEST)
        self.write("plugins/open/other.so", "no library at all")
        (self.folder / "plugins/open").chmod(0o777)
        arguments = ("list", "--plugin-path", "plugins")
        report = self.json(*arguments)
        self.assertNotIn("other", [plugin["name"] for plugin in report["plugins"]])
        (skipped,) = report["skipped"]
        self.assertIn("has the mode 0777", json.dumps(skipped))
        allowed = self.json(*arguments, "--allow-writable-plugins")
        self.assertIn("other", [plugin["name"] for plugin in allowed["plugins"]])
        self.assertIn("has the mode 0777", self.refusal("NOT_FOUND", "inspect", "other", "--plugin-path", "plugins"))

    def test_marks_what_can_be_loaded(self):
        self.assertTrue(all(plugin["loadable"] and plugin["problem"] is None
                            for plugin in self.json("list")["plugins"]))
        self.assertRegex(self.ephost("list").stdout, r"(?m)^CPUExecutionProvider .* yes ")

    def test_marks_what_cannot_be_loaded_with_the_reason(self):
        reasons = {
            "kind": ("", "not a shared library"),
            "abi": (MANIFEST.replace("[0, 0]", "[7, 9]"), "1.7 to 1.9"),
            "requires": (MANIFEST + "requires: [acme.magic/3]\n", "acme.magic/3"),
            "checksum": (MANIFEST + f"sha256: {{ linux-x86_64: {64 * 'a'}, linux-aarch64: {64 * 'a'} }}\n", 64 * "a"),
        }
        for name, (manifest, _) in reasons.items():
            self.write(f"plugins/{name}/other.yaml", manifest or MANIFEST)
            self.write(f"plugins/{name}/other.so", "no library at all")
        plugins = {plugin["manifest"].split("/")[-2]: plugin
                   for plugin in self.json("list", "--plugin-path", "plugins")["plugins"]}
        table = self.ephost("list", "--plugin-path", "plugins").stdout
        for name, (_, reason) in reasons.items():
            with self.subTest(name):
                self.assertFalse(plugins[name]["loadable"])
                self.assertIn(reason, plugins[name]["problem"]["message"])
                self.assertIn(reason, table)

    def add_versions(self, *versions):
        """A folder for each version of the plugin `other`, which can be loaded if the version says so."""
        library = PLUGINS.resolve() / "libephost_image.so"
        for name, version, is_loadable in versions:
            self.write(f"plugins/{name}/other.yaml", MANIFEST.replace("1.2.3", version))
            shutil.copy(library, self.folder / "plugins" / name / "other.so") if is_loadable else self.write(
                f"plugins/{name}/other.so", "no library at all")

    def test_marks_the_version_that_wins(self):
        self.add_versions(("a", "1.9.0", True), ("b", "2.0.0", True), ("c", "10.0.0", False), ("d", "2.0.0", True))
        plugins = self.json("list", "--plugin-path", "plugins")["plugins"]
        wins = {plugin["manifest"].split("/")[-2]: plugin["wins"] for plugin in plugins if plugin["name"] == "other"}
        self.assertEqual(wins, {"a": False, "b": True, "c": False, "d": False})
        self.assertTrue(all(plugin["wins"] for plugin in plugins if plugin["name"] != "other"))
        table = self.ephost("list", "--plugin-path", "plugins").stdout
        self.assertRegex(table, r"(?m)^provider .* loadable +wins +manifest$")
        marked = re.findall(r"(?m)^Other.* (\S+) +(\S+) +plugins/(\w)/other.yaml$", table)
        self.assertEqual(marked, [("no", "no", "c"), ("yes", "yes", "b"), ("yes", "no", "d"), ("yes", "no", "a")])
        self.assertNotIn("wins", self.ephost("list").stdout)

    def test_what_wins_is_what_a_session_tries_first(self):
        self.add_versions(("a", "1.0.0", True), ("b", "3.0.0", False), ("c", "2.0.0", True))
        error = self.refusal("EP_FAIL", "inspect", "other", "--plugin-path", "plugins", "--isolation", "none")
        tried = re.findall(r"version (\S+) of", error)
        self.assertEqual(tried[0], "3.0.0")
        wins, = [plugin["version"] for plugin in self.json("list", "--plugin-path", "plugins")["plugins"]
                 if plugin["name"] == "other" and plugin["wins"]]
        self.assertEqual(wins, tried[1])

    def test_with_a_probe_the_version_that_works_wins(self):
        self.add_versions(("a", "1.0.0", True))
        # The library has another provider than its manifest, so that it can be loaded and does not work.
        probed = self.json("list", "--probe", "--plugin-path", "plugins", status=5)["plugins"]
        other, = [plugin for plugin in probed if plugin["name"] == "other"]
        self.assertTrue(other["loadable"])
        self.assertFalse(other["wins"])

    def test_says_why_a_manifest_was_skipped(self):
        self.write("plugins/other.yaml", MANIFEST.replace("vendor: some", "seller: some", 1))
        report = self.json("list", "--plugin-path", "plugins")
        self.assertEqual(len(report["skipped"]), 1)
        self.assertEqual(report["skipped"][0]["reason"]["code"], "INVALID_ARGUMENT")
        self.assertIn("other.yaml:4:1: unknown key \"seller\"", report["skipped"][0]["reason"]["message"])
        self.assertIn("cpu", [plugin["name"] for plugin in report["plugins"]])
        self.assertIn("seller", self.ephost("list", "--plugin-path", "plugins").stdout)

    def test_names_a_directory_that_is_missing(self):
        skipped = self.json("list", "--plugin-path", "nowhere")["skipped"]
        self.assertIn("nowhere", skipped[0]["manifest"])

    def test_verbose_names_the_directories_searched(self):
        self.assertIn(str(PLUGINS), self.ephost("list", "--verbose").stdout)


if __name__ == "__main__":
    unittest.main()
