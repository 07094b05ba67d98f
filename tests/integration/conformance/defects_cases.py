#!/usr/bin/python3
"""Defects that no check was written for are found by checks of what every plugin has to do
(tests/fixtures/defective), and the same plugin without them passes."""

import unittest

import kit

# The rules whose checks need graphs (host/conformance/README.md: claims, runs, lifecycles and contexts).
RULES_WITH_GRAPHS = (20, 22, 24, 25, 26, 27, 28, 30, 32, 36, 39, 50, 51, 52, 53, 58, 62)

# Defect of the plugin: checks that find it.
DEFECTS = {
    # Claims.
    "claim": {"claims-in-other-processes"},
    "repeated_node": {"sound-claims"},
    "unsteady": {"repeated-claims"},
    "initializers": {"order-of-initializers"},
    "names": {"names-of-nodes"},
    "domain": {"foreign-domain"},
    "capability": {"answers"},
    "thread": {"guarded-random-graphs"},
    "constant": {"guarded-random-graphs"},
    "claim_time": {"time-of-claims"},
    "capability_descriptor": {"storm-of-failures"},
    # Compilation and contexts.
    "compile": {"claims-compile"},
    "groups": {"groups-of-partitions"},
    "process": {"contexts-in-other-processes", "outside-constants"},
    "constant_count": {"damaged-constants"},
    "constant_size": {"damaged-constants"},
    "write": {"written-contexts"},
    "context": {"same-bytes-in-other-processes", "same-bytes"},
    "padding": {"same-bytes-in-other-processes"},
    "restored": {"restored-contexts"},
    "truncated": {"truncated-payloads"},
    "mutated": {"mutated-payloads"},
    "foreign": {"foreign-payloads"},
    "context_bytes": {"storm-of-contexts"},
    "text": {"compatibility-texts"},
    "group": {"shared-contexts"},
    # Computations.
    "workspace": {"guarded-random-graphs"},
    "race": {"concurrent-runs", "concurrent-sessions"},
    "inner": {"inner-values"},
    "extent": {"fixed-extents"},
    "late": {"guarded-random-graphs", "guarded-backend-tests"},
    "cancel": {"cancelled-runs"},
    "wrong": {"random-graphs", "backend-tests"},
    "dropped": {"random-graphs"},
    "repeat": {"repeated-runs"},
    "shapes": {"changing-shapes"},
    "empty": {"empty-and-large-tensors"},
    "special": {"special-numbers"},
    "not_a_number": {"special-results"},
    "subnormal": {"subnormal-numbers"},
    "failed_run": {"failed-runs"},
    "aligned_input": {"least-alignment"},
    "aligned_output": {"bound-outputs"},
    "ranges": {"sizes-of-the-pool"},
    "run_bytes": {"storm-of-runs"},
    "cancelled_bytes": {"storm-of-failing-runs"},
    "thread_bytes": {"storm-of-threads"},
    "thread_handles": {"threads-of-handles"},
    "destruction": {"destruction-beside-runs"},
    # Providers and the process.
    "capability_folder": {"process-unchanged-by-sessions"},
    "compile_mask": {"process-unchanged-by-sessions"},
    "state_locale": {"process-unchanged-by-sessions"},
    "compute_signal": {"process-unchanged-by-sessions"},
    "home": {"home-unchanged"},
    "file": {"storm-of-sessions", "storm-without-runs"},
    "descriptor": {"storm-of-sessions", "storm-without-runs"},
    "load_descriptor": {"storm-of-loading"},
    "run_option": {"run-options"},
    "dynamic_option": {"dynamic-options"},
    "shared_options": {"other-options"},
}


class DefectCases(kit.KitTest):
    def check(self, checks, *arguments, status=0, fault=None):
        return self.results(kit.fixture("defective"), *[word for check in checks for word in ("--check", check)],
                            *arguments, status=status, fault=fault)

    def outcomes(self, checks, *arguments, fault):
        return {one["name"]: one["result"] for one in self.check(checks, *arguments, status=1, fault=fault).values()}

    def outcomes_in_time(self, checks, fault):
        """What the checks say, with more time if they miss the defect: so may searches on a busy machine."""
        expected = {check: "failed" for check in checks}
        try:
            found = self.outcomes(checks, fault=fault)
        except AssertionError:
            found = None
        return found if found == expected else self.outcomes(checks, "--time-factor", 20, fault=fault)

    def test_each_defect_is_found(self):
        for defect, checks in DEFECTS.items():
            with self.subTest(defect=defect):
                self.assertEqual(self.outcomes_in_time(checks, defect), {check: "failed" for check in checks})

    def test_the_same_plugin_without_a_defect_passes(self):
        passed = [one for one in self.check(RULES_WITH_GRAPHS).values() if one["result"] == "passed"]
        self.assertGreater(len(passed), 40, passed)

    def test_long_computations_that_can_be_cancelled_pass(self):
        result, = self.check(["cancelled-runs"], fault="slow").values()
        self.assertGreater(result["figures"]["long computation (ms)"], 100)


if __name__ == "__main__":
    unittest.main()
