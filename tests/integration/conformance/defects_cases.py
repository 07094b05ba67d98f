#!/usr/bin/python3
"""Defects that no check was written for are found by checks of what every plugin has to do
(tests/fixtures/defective), and the same plugin without them passes."""

import unittest

import kit

# The rules whose checks need graphs (host/conformance/README.md: claims, runs, lifecycles and contexts).
RULES_WITH_GRAPHS = (20, 22, 24, 25, 26, 27, 28, 30, 32, 36, 50, 51, 52, 53, 62)

# Build of the defective plugin: checks that find its defect.
DEFECTS = {
    "workspace": {"guarded-random-graphs"},
    "race": {"concurrent-runs"},
    "context": {"same-bytes-in-other-processes", "same-bytes"},
    "padding": {"same-bytes-in-other-processes"},
    "inner": {"inner-values"},
    "extent": {"fixed-extents"},
    "file": {"storm-of-sessions", "storm-without-runs"},
    "claim": {"claims-in-other-processes"},
    "descriptor": {"storm-of-sessions", "storm-without-runs"},
}


class DefectCases(kit.KitTest):
    def check(self, manifest, checks, status=0):
        return self.results(manifest, *[word for check in checks for word in ("--check", check)], status=status)

    def failed(self, results):
        return {one["name"]: one["findings"] for one in results.values() if one["result"] == "failed"}

    def test_each_defect_is_found(self):
        for defect, checks in DEFECTS.items():
            with self.subTest(defect=defect):
                folder = kit.FIXTURES / f"defective_{defect}"
                failed = self.failed(self.check(folder / "defective.yaml", checks, status=1))
                self.assertEqual(checks, set(failed), failed)

    def test_the_same_plugin_without_a_defect_passes(self):
        results = self.check(kit.FIXTURES / "defective_none" / "defective.yaml", RULES_WITH_GRAPHS)
        passed = [one for one in results.values() if one["result"] == "passed"]
        self.assertGreater(len(passed), 30, results)


if __name__ == "__main__":
    unittest.main()
