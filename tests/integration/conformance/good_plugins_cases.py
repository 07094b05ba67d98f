#!/usr/bin/python3
"""Plugins that keep the rules pass."""

import unittest

import kit


class GoodPluginCases(kit.KitTest):
    def check(self, manifest, *arguments):
        rules = [word for rule in kit.RULES_WITHOUT_GRAPHS for word in ("--check", rule)]
        results = self.results(manifest, *rules, *arguments)
        passed = [id for id, one in results.items() if one["result"] == "passed"]
        self.assertGreater(len(passed), 25, results)
        return results

    def test_shipped_plugins_pass(self):
        for name in ("cpu", "dnnl", "image"):
            with self.subTest(plugin=name):
                self.check(kit.PLUGINS / f"{name}.yaml")

    def test_examples_pass(self):
        for name in ("minimal", "affine"):
            with self.subTest(plugin=name):
                self.check(kit.EXAMPLES / f"{name}.yaml")
        self.assertEqual(self.check(kit.EXAMPLES / "queue.yaml")["65.3"]["result"], "passed")

    def test_correct_fixtures_pass(self):
        for name in ("good", "two_providers", "newer_minors", "stays_loaded", "next_version"):
            with self.subTest(fixture=name):
                self.check(kit.fixture(name))

    def test_a_plugin_with_memory_devices_and_operators_of_its_own_passes(self):
        results = self.check(kit.fixture("scripted"))
        self.assertEqual(results["45.1"]["result"], "passed")
        self.assertEqual(self.check(kit.fixture("device"))["38.2"]["result"], "passed")
        self.assertEqual(self.check(kit.fixture("streams"))["65.4"]["result"], "passed")
        self.assertEqual(self.check(kit.fixture("vendor"))["59.1"]["result"], "passed")

    def test_all_options_in_pairs(self):
        result = self.only_result(kit.PLUGINS / "cpu.yaml", "--check", "option-pairs")
        self.assertIn(result["result"], ("passed", "left out"))


if __name__ == "__main__":
    unittest.main()
