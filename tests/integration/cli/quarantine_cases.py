"""Cases of `ephost quarantine`."""

import time
import unittest

from command_line import CommandLineTest, PLUGINS


class QuarantineTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"

    def fail(self, name, manifest, times, library=None):
        """Records failures that have just happened, as the host records them."""
        def version(path):
            info = path.stat()
            seconds, nanoseconds = divmod(info.st_mtime_ns, 10**9)
            return f"{info.st_dev}:{info.st_ino}:{info.st_size}:{seconds}.{nanoseconds:09}"
        (self.state / "ephost").mkdir(parents=True, exist_ok=True)
        files = f"{version(manifest)} {version(library)}" if library else "1"
        lines = [f"{int(time.time())}\t{name}\t{manifest}\t{files}\tdied of SIGSEGV\n"] * times
        path = self.state / "ephost/failures"
        path.write_text((path.read_text() if path.exists() else "ephost failures 1\n") + "".join(lines))

    def test_lists_nothing_at_first(self):
        self.assertEqual(self.json("quarantine", "list")["failures"], [])
        self.assertIn("no failures are recorded", self.ephost("quarantine", "list").stdout)
        self.assertEqual(self.json("quarantine", "clear")["removed"], 0)

    def test_lists_and_clears_by_name(self):
        self.fail("acme", "/a.yaml", 2)
        self.fail("other", "/b.yaml", 1)
        failures = self.json("quarantine", "list")["failures"]
        self.assertEqual([failure["name"] for failure in failures], ["acme", "acme", "other"])
        self.assertEqual(failures[0]["what"], "died of SIGSEGV")
        self.assertRegex(self.ephost("quarantine", "list", "other").stdout, r"(?m)^other +20\S+Z +/b.yaml +died")
        self.assertIn("2 failures removed", self.ephost("quarantine", "clear", "acme").stdout)
        self.assertEqual(len(self.json("quarantine", "list")["failures"]), 1)
        self.assertIn("\"acme\"", self.refusal("NOT_FOUND", "quarantine", "clear", "acme"))

    def test_a_quarantined_plugin_is_refused_until_it_is_cleared(self):
        manifest = PLUGINS.resolve() / "image.yaml"
        report = {plugin["name"]: plugin for plugin in self.json("list")["plugins"]}["image"]
        self.assertTrue(report["loadable"])
        self.fail("image", manifest, 3, library=manifest.parent / report["library"])
        report = {plugin["name"]: plugin for plugin in self.json("list")["plugins"]}
        self.assertIn("quarantined until", str(report["image"]["problem"]))
        self.assertTrue(report["cpu"]["loadable"])
        error = self.refusal("EP_FAIL", "inspect", "image")
        self.assertIn("it failed 3 times in 600 s; last it died of SIGSEGV", error)
        self.assertIn("ephost quarantine clear image", error)
        self.ephost("quarantine", "clear", "image")
        self.ephost("inspect", "image")

    def test_a_damaged_file_costs_a_warning(self):
        (self.state / "ephost").mkdir(parents=True)
        (self.state / "ephost/failures").write_text("garbage")
        result = self.ephost("inspect", "image")
        self.assertIn("failures of plugins are not known", result.stderr)
        self.assertIsNotNone(self.json("quarantine", "list")["problem"])


if __name__ == "__main__":
    unittest.main()
