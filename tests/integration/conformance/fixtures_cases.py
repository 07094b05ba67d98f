#!/usr/bin/python3
"""Every broken fixture is found by the check of the rule that it breaks."""

import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile
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
    "constructor": "2.2",
    "resolver": "3.1",
}
# The host takes the plugins of these, since only others suffer.
USABLE = {"broken_neighbour", "no_device", "unwanted_options", "constructor"}

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
    "eph_provider_api.get_provider_extension:throw": "17.1",
    "eph_device_api.allocate:throw": "38.1",
    "eph_device_api.copy:throw": "38.2",
    "eph_device_api.get_memories:throw": "37.1",
}

# How the careless plugin breaks a rule (tests/fixtures/careless): the check that names it.
CARELESS = {
    "two_preambles": "2.1",
    "two_apis": "2.3",
    "process_preamble": "2.4",
    "folder_without_spaces": "3.4",
    "keeps_itself": "4.1",
    "first_load": "4.2",
    "descriptor_of_load": "4.3",
    "thread_value": "4.5",
    "no_table": "6.2",
    "any_minor": "6.3",
    "equal_sizes": "12.2",
    "equal_load_info": "12.3",
    "whole_records": "12.4",
    "changing_table": "13.1",
    "no_message": "18.1",
    "unknown_code": "18.1",
    "ignored_refusal": "18.2",
    "no_null": "19.1",
    "destroy_null": "21.1",
    "descriptor": "21.2",
    "one_at_a_time": "22.1",
    "own_text": "30.1",
    "prefixes": "31.2",
    "two_tables": "31.3",
    "needs_threads": "31.4",
    "growing_wishes": "42.1",
    "working_folder": "44.1",
    "same_ids": "45.1",
    "counted_ids": "45.2",
    "process_ids": "45.2",
    "shared_id": "45.3",
    "all_devices": "46.1",
    "known_purposes": "47.1",
    "no_targets": "48.3",
    "option_limit": "23.2",
    "option_pair": "23.3",
    "long_option": "23.5",
}

# What the definitions of the vendor's operators are (tests/fixtures/operators): the check that names it.
OPERATORS = {"two_of_one_version": "59.1", "growing": "59.2"}

# What the streams of the simulated device do (tests/fixtures/device/streams.h): the check that names it.
STREAMS = {"reversed": "65.1", "early": "65.2", "no_waits": "65.3", "no_calls": "65.4",
           "no_copy_within": "38.4", "no_launch": "67.1"}

# The checks that cases of their own fail.
OTHERS = ("1.1", "3.2", "3.3", "4.4", "8.1", "8.3", "38.3", "40.1", "48.1", "48.2")

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

    def test_each_carelessness_is_found_by_the_check_of_its_rule(self):
        for fault, check in CARELESS.items():
            with self.subTest(fault=fault):
                result = self.only_result(kit.fixture("careless"), "--check", check, status=1, fault=fault)
                self.assertEqual(result["result"], "failed")

    def test_the_same_plugin_passes_otherwise(self):
        results = self.results(kit.fixture("careless"), *[word for check in CARELESS.values()
                                                          for word in ("--check", check)])
        self.assertEqual({one["result"] for one in results.values()}, {"passed"}, results)

    def test_definitions_of_operators_are_judged(self):
        for fault, check in OPERATORS.items():
            with self.subTest(fault=fault):
                result = self.only_result(kit.fixture("vendor"), "--check", check, status=1, fault=fault)
                self.assertEqual(result["result"], "failed")

    def test_a_device_that_gives_more_memory_than_it_has_is_found(self):
        self.device_fault = "overcommit"
        self.only_result(kit.fixture("device"), "--check", "38.3", status=1)

    def test_streams_out_of_order_are_found(self):
        for fault, check in STREAMS.items():
            with self.subTest(fault=fault):
                self.device_fault = fault
                result = self.only_result(kit.fixture("streams"), "--check", check, status=1)
                self.assertEqual(result["result"], "failed")

    def test_a_manifest_without_its_library_is_found(self):
        manifest = self.copy("good")
        (manifest.parent / "libgood.so").unlink()
        self.only_result(manifest, "--check", "8.1", status=1)

    def build(self, source, *flags):
        """The manifest of the careless plugin beside a library that is built from C++."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "library.cc").write_text(source)
        subprocess.run(["c++", "-shared", "-fPIC", *flags, folder / "library.cc", "-o", folder / "libcareless.so"],
                       check=True, timeout=300)
        shutil.copy(kit.fixture("careless"), folder)
        return folder / "careless.yaml"

    def test_what_the_file_of_a_library_shows_is_found(self):
        entry = 'extern "C" int eph_plugin_v1() { return 0; }'
        for check, what, flags, extra in (
                ("1.1", "1 other symbols, e.g. helper", [], 'extern "C" int helper() { return 1; }'),
                ("3.2", '"/opt/acme"', ["-Wl,-rpath,$ORIGIN:/opt/acme"], ""),
                ("3.3", "stacks of the process", ["-Wl,-z,execstack"], ""),
                ("4.4", "counter", ["-std=c++17"], "inline int counter; int* use() { return &counter; }")):
            with self.subTest(check=check):
                result = self.only_result(self.build(entry + extra, *flags), "--check", check, status=1)
                self.assertIn(what, result["findings"][0]["what"])

    def test_a_checksum_of_another_library_is_found(self):
        manifest = self.build('extern "C" int eph_plugin_v1() { return 0; }')
        platform = re.search(r"library: \{ ([\w-]+):", manifest.read_text()).group(1)
        text = manifest.read_text()
        own = hashlib.sha256((manifest.parent / "libcareless.so").read_bytes()).hexdigest()
        for digest, wanted in (("0" * 64, "failed"), (own, "passed")):
            manifest.write_text(f"{text}sha256: {{ {platform}: \"{digest}\" }}\n")
            result = self.only_result(manifest, "--check", "8.3", status=1 if wanted == "failed" else 0)
            self.assertEqual(result["result"], wanted)

    def test_lists_of_targets_are_judged_as_well(self):
        for fault, check in {"same_ids": "48.1", "counted_ids": "48.2"}.items():
            with self.subTest(fault=fault):
                self.only_result(kit.fixture("careless"), "--check", check, status=1, fault=fault)

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
