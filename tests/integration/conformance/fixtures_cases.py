#!/usr/bin/python3
"""Every broken fixture is found by the check of the rule that it breaks."""

import unittest

import kit

# Fixture of tests/fixtures/CMakeLists.txt: the check that names its defect.
DEFECTS = {
    "missing_symbol": "1.1",
    "null_preamble": "12.1",
    "short_preamble": "12.1",
    "null_get_api": "14.1",
    "empty_minor_range": "6.1",
    "future_minors": "6.1",
    "no_id": "9.1",
    "sanitized": "5.1",
    "null_table": "12.1",
    "short_table": "12.1",
    "no_providers": "15.1",
    "null_providers": "15.1",
    "too_many_providers": "15.1",
    "null_provider": "12.1",
    "short_provider": "12.1",
    "null_create": "14.1",
    "next_null_create": "14.1",
    "null_destroy": "14.1",
    "null_get_devices": "14.1",
    "kernels_without_create": "14.1",
    "compatibility_without_validate": "14.1",
    "duplicate_type_name": "9.1",
    "duplicate_short_name": "9.1",
    "text_without_data": "9.1",
    "broken_neighbour": "10.2",
    "other_version": "8.2",
    "other_minors": "8.2",
    "other_provider": "8.2",
    "other_short_name": "8.2",
    "other_vendor": "8.2",
    "no_context_sources": "29.1",
    "missing_dependency": "3.1",
    "sanitizer_runtime": "5.1",
    "requires_extension": "31.1",
    "no_device": "23.1",
    "unwanted_options": "23.1",
}
# The host takes the plugins of these, since only others suffer.
USABLE = {"broken_neighbour", "no_device", "unwanted_options"}

# What the faulty plugin does where (tests/fixtures/faulty): the check that names it.
FAULTS = {
    "constructors:rounding": "39.2",
    "eph_plugin_v1:sleep": "2.2",
    "eph_plugin_v1:child": "2.2",
    "eph_plugin_v1:throw": "10.1",
    "eph_plugin_preamble.get_api:throw": "10.1",
    "eph_provider_api.get_devices:throw": "45.1",
    "eph_provider_api.get_devices:rounding": "39.1",
    "eph_provider_api.create:throw": "17.1",
    "eph_provider_api.create:throw_number": "17.1",
    "eph_provider_api.create:rounding": "39.1",
    "eph_provider_api.describe:rounding": "39.1",
    "eph_provider_api.destroy:rounding": "39.1",
    "eph_provider_api.get_extension:throw": "17.1",
    "eph_device_memory_api.allocate:throw": "38.1",
    "eph_device_memory_api.copy:throw": "38.2",
    "eph_device_memory_api.get_memories:throw": "37.1",
}

# How a plugin ends the process of a check, and what the finding says about it.
ENDS = {
    "segv": "signal 11", "abort": "signal 6", "overflow": "signal 11", "ill": "signal 4", "fpe": "signal 8",
    "bus": "signal 7", "terminate": "signal 6", "thread_segv": "signal 11", "exit0": "status 1", "exit3": "status 1",
    "_exit": "status 1", "_Exit": "status 1", "quick_exit": "status 1", "thread_exit": "status 1",
}


class FixtureCases(kit.KitTest):
    def test_each_defect_is_found_by_the_check_of_its_rule(self):
        for name, check in DEFECTS.items():
            with self.subTest(fixture=name):
                wanted = ["--check", check, "--check", "10.1"]
                results = self.results(kit.fixture(name), *wanted, status=1)
                self.assertEqual(results[check]["result"], "failed", results)
                self.assertTrue(all(finding["what"] and finding["advice"] for finding in results[check]["findings"]))
                self.assertEqual(results["10.1"]["result"], "passed" if name in USABLE else "failed", results)

    def test_a_broken_plugin_fails_nothing_but_what_is_wrong_with_it(self):
        for name, found in {"other_vendor": {"8.2", "10.1"}, "null_destroy": {"14.1", "10.1", "10.2"},
                            "null_preamble": {"12.1", "10.1"}}.items():
            with self.subTest(fixture=name):
                results = self.results(kit.fixture(name), status=1)
                self.assertEqual({id for id, one in results.items() if one["result"] == "failed"}, found)

    def test_each_fault_is_found_by_the_check_of_its_rule(self):
        for fault, check in FAULTS.items():
            with self.subTest(fault=fault):
                result = self.only_result(kit.fixture("faulty"), "--check", check, status=1, fault=fault)
                self.assertEqual(result["result"], "failed")

    def test_a_process_that_ends_is_a_failure_that_says_how_and_where(self):
        for fault, how in ENDS.items():
            with self.subTest(fault=fault):
                result = self.only_result(kit.fixture("faulty"), "--check", "40.1", status=1,
                                          fault=f"eph_provider_api.create:{fault}")
                self.assertIn(how, result["findings"][-1]["what"])

    def test_the_call_that_crashes_is_named(self):
        result = self.only_result(kit.fixture("faulty"), "--check", "40.1", status=1,
                                  fault="eph_provider_api.create:segv")
        self.assertIn("create of ScriptedExecutionProvider", result["findings"][-1]["what"])


if __name__ == "__main__":
    unittest.main()
