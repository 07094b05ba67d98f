"""Cases of `ephost quarantine`."""

import time
import unittest

from command_line import CommandLineTest, PLUGINS, tiny


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
        lines = [f"{int(time.time())}\t{name}\t{manifest}\t{files}\t/usr/bin/app\tdied of SIGSEGV\n"] * times
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
        self.assertEqual(failures[0]["program"], "/usr/bin/app")
        self.assertRegex(self.ephost("quarantine", "list", "other").stdout, r"(?m)^other +20\S+Z +/b.yaml +died")
        self.assertIn("2 failures removed", self.ephost("quarantine", "clear", "acme").stdout)
        self.assertEqual(len(self.json("quarantine", "list")["failures"]), 1)
        self.assertIn("\"acme\"", self.refusal("NO_SUCHFILE", "quarantine", "clear", "acme", status=4))

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

    def test_the_provider_that_nothing_can_replace_is_used_with_a_warning(self):
        manifest = PLUGINS.resolve() / "cpu.yaml"
        library = {plugin["name"]: plugin["library"] for plugin in self.json("list")["plugins"]}["cpu"]
        self.fail("cpu", manifest, 3, library=manifest.parent / library)
        for extra in ([], ["--ep", "cpu"], ["--isolation", "worker"], ["--config", "session.quarantine=1/600"]):
            result = self.ephost("run", tiny("tiny_mlp"), *extra)
            self.assertIn("is used nevertheless, as nothing can replace it: it is quarantined until", result.stderr)
            self.assertIn("in /usr/bin/app", result.stderr)

    def test_list_shows_who_is_quarantined_and_what_counts(self):
        manifest = PLUGINS.resolve() / "image.yaml"
        library = manifest.parent / {plugin["name"]: plugin["library"]
                                     for plugin in self.json("list")["plugins"]}["image"]
        self.fail("image", manifest, 2, library=library)
        states = [(one["counts"], one["quarantined_until"]) for one in self.json("quarantine", "list")["failures"]]
        self.assertEqual(states, [(True, None)] * 2)
        self.fail("image", manifest, 1, library=library)
        self.fail("image", manifest, 1)
        *first, last = self.json("quarantine", "list", "ImageExecutionProvider")["failures"]
        self.assertTrue(all(one["counts"] and one["quarantined_until"] for one in first))
        self.assertFalse(last["counts"])
        text = self.ephost("quarantine", "list").stdout
        self.assertRegex(text, r"(?m)^image .* quarantined until 20\S+Z$")
        self.assertRegex(text, r"(?m)^image .* of other files$")
        self.assertIn("4 failures removed", self.ephost("quarantine", "clear", "ImageExecutionProvider").stdout)
        self.ephost("inspect", "image")

    def test_a_session_may_be_stricter_than_the_process(self):
        manifest = PLUGINS.resolve() / "image.yaml"
        library = {plugin["name"]: plugin["library"] for plugin in self.json("list")["plugins"]}["image"]
        self.fail("image", manifest, 1, library=manifest.parent / library)
        run = ["run", tiny("tiny_mlp"), "--ep", "image"]
        self.ephost(*run)
        self.ephost(*run, "--config", "session.quarantine=off")
        self.ephost(*run, "--config", "session.quarantine=2/60")  # two failures, none of which is that old
        for isolation in ("none", "worker"):
            error = self.refusal("EP_FAIL", *run, "--config", "session.quarantine=1/600", "--isolation", isolation)
            self.assertIn("it failed 1 times in 600 s", error)
            self.assertIn("loading \"ImageExecutionProvider\" from", error)
        selection = self.write("selection.yaml", "selection: 1\nproviders: [image]\nquarantine: 1/60\n")
        # The longer time of the process counts.
        error = self.refusal("EP_FAIL", "run", tiny("tiny_mlp"), "--selection", selection)
        self.assertIn("it failed 1 times in 600 s", error)
        self.assertIn("configuration entry \"session.quarantine\" cannot be \"often\"",
                      self.refusal("INVALID_ARGUMENT", *run, "--config", "session.quarantine=often"))

    def test_shows_the_policy_of_the_process(self):
        report = self.json("quarantine", "list")["policy"]
        self.assertEqual(report, {"text": "3/600", "failures": 3, "seconds": 600, "origins": []})
        self.assertIn("after 3 failures in 600 s (the default)", self.ephost("quarantine", "list").stdout)
        text = self.ephost("quarantine", "list", variables={"EPHOST_QUARANTINE": "1/60"}).stdout
        self.assertIn("after 1 failure in 60 s (EPHOST_QUARANTINE)", text)
        text = self.ephost("quarantine", "list", variables={"EPHOST_QUARANTINE": "off"}).stdout
        self.assertIn("no plugin is quarantined (EPHOST_QUARANTINE), unless a session asks for it", text)
        for command in (["quarantine", "list"], ["list"]):
            result = self.ephost(*command, status=2, variables={"EPHOST_QUARANTINE": "often"})
            self.assertIn("error[INVALID_ARGUMENT]: EPHOST_QUARANTINE cannot be \"often\"", result.stderr)

    def test_a_damaged_file_costs_a_warning(self):
        (self.state / "ephost").mkdir(parents=True)
        (self.state / "ephost/failures").write_text("garbage")
        result = self.ephost("inspect", "image")
        self.assertIn("failures of plugins are not known", result.stderr)
        self.assertIsNotNone(self.json("quarantine", "list")["problem"])


if __name__ == "__main__":
    unittest.main()
