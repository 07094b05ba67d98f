"""Cases of `ephost inspect`."""

import json
import re
import unittest

from command_line import CommandLineTest, PLUGINS
from list_cases import MANIFEST


class InspectTest(CommandLineTest):
    def test_finds_a_plugin_by_either_name_and_by_manifest(self):
        names = ["cpu", "CPU", "CPUExecutionProvider", PLUGINS / "cpu.yaml"]
        for name in names:
            with self.subTest(name):
                self.assertEqual(self.json("inspect", name)["provider"], "CPUExecutionProvider")

    def test_shows_the_abi_options_devices_and_kernels(self):
        report = self.json("inspect", "cpu")
        self.assertEqual(report["negotiated_abi"][0], 1)
        self.assertTrue(report["devices"])
        options = {option["name"]: option for option in report["options"]}
        self.assertIn("help", options["num_threads"])
        kernels = {(kernel["op"], kernel["domain"]) for kernel in report["kernels"]}
        self.assertIn(("Relu", ""), kernels)
        self.assertFalse(report["compiles"])
        self.assertTrue(self.json("inspect", "dnnl")["compiles"])

    def test_a_table_has_the_same(self):
        table = self.ephost("inspect", "cpu").stdout
        self.assertRegex(table, r"(?m)^ABI +1\.\d+ in use, the plugin offers 1\.")
        self.assertRegex(table, r"(?m)^num_threads +int ")
        self.assertRegex(table, r"(?m)^Relu +\d+")

    def test_refuses_a_provider_that_is_not_installed(self):
        self.assertIn("\"gpuu\"", self.refusal("NOT_FOUND", "inspect", "gpuu"))

    def test_refuses_a_file_that_is_no_manifest(self):
        file = self.write("readme.txt", "hello")
        self.assertIn("not a plugin manifest", self.refusal("INVALID_ARGUMENT", "inspect", file))

    def test_says_why_a_manifest_cannot_be_used(self):
        file = self.write("other.yaml", MANIFEST.replace("schema: 1", "schema: 99"))
        self.assertIn("other.yaml:1:9: ", self.refusal("INVALID_ARGUMENT", "inspect", file))

    def test_says_why_a_library_cannot_be_loaded(self):
        file = self.write("other.yaml", MANIFEST)
        self.write("other.so", "no library at all")
        self.assertIn("other.so", self.refusal("EP_FAIL", "inspect", file))

    def test_passes_over_a_version_whose_library_cannot_be_loaded(self):
        manifest = re.sub(r"(?m)^version: .*$", "version: 99.0.0", (PLUGINS / "cpu.yaml").read_text())
        self.write("plugins/cpu.yaml", manifest)
        self.write("plugins/libephost_cpu.so", "no library at all")
        result = self.ephost("inspect", "cpu", "--plugin-path", "plugins", "--format", "json")
        self.assertEqual(json.loads(result.stdout)["manifest"], str(PLUGINS.resolve() / "cpu.yaml"))
        self.assertIn("version 99.0.0 of \"plugins/cpu.yaml\" cannot be used", result.stderr)


if __name__ == "__main__":
    unittest.main()
