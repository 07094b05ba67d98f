#!/usr/bin/python3
"""Defects that no check was written for are found by checks of what every plugin has to do
(tests/fixtures/defective), and plugins without them pass."""

import unittest

import kit

# The rules whose checks need graphs (host/conformance/README.md: claims, runs, lifecycles and contexts).
RULES_WITH_GRAPHS = (20, 22, 24, 25, 26, 27, 28, 30, 32, 36, 50, 51, 52, 53)

# Build of the defective plugin: checks that find its defect.
DEFECTS = {
    "workspace": {"guarded-random-graphs"},
    "race": {"concurrent-runs"},
    "context": {"same-bytes-in-other-processes", "same-bytes"},
    "padding": {"same-bytes-in-other-processes"},
    "claim": {"claims-in-other-processes"},
    "descriptor": {"storm-of-sessions", "storm-without-runs"},
}


class DefectCases(kit.KitTest):
    def check(self, manifest, status=0):
        rules = [word for rule in RULES_WITH_GRAPHS for word in ("--check", rule)]
        return self.results(manifest, *rules, status=status)

    def failed(self, results):
        return {one["name"]: one["findings"] for one in results.values() if one["result"] == "failed"}

    def test_each_defect_is_found(self):
        for defect, checks in DEFECTS.items():
            with self.subTest(defect=defect):
                folder = kit.FIXTURES / f"defective_{defect}"
                failed = self.failed(self.check(folder / "defective.yaml", status=1))
                self.assertLessEqual(checks, set(failed), failed)

    def test_the_same_plugin_without_a_defect_passes(self):
        results = self.check(kit.FIXTURES / "defective_none" / "defective.yaml")
        passed = [one for one in results.values() if one["result"] == "passed"]
        self.assertGreater(len(passed), 30, results)

    def test_good_plugins_pass(self):
        for manifest in (kit.PLUGINS / "cpu.yaml", kit.PLUGINS / "dnnl.yaml", kit.PLUGINS / "image.yaml",
                         kit.EXAMPLES / "minimal.yaml", kit.EXAMPLES / "affine.yaml"):
            with self.subTest(plugin=manifest.stem):
                self.assertEqual(self.failed(self.check(manifest)), {})


if __name__ == "__main__":
    unittest.main()
