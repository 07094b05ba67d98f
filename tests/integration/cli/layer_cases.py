"""Cases of layers that plugins ship (tests/fixtures/counting_layer): how commands list, use and refuse them."""

import json
import os
import pathlib
import re
import unittest

from command_line import CommandLineTest, tiny

FOLDER = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "counting_layer"
MANIFEST = FOLDER / "counting_layer.yaml"
SELECTION = """selection: 1
providers:
  - provider: dnnl
    layers: [{0}]
  - cpu
layers: [{0}]
"""


class LayerTest(CommandLineTest):
    def run_model(self, *arguments, **expected):
        return self.ephost("run", tiny("tiny_diamond"), "--plugin-path", FOLDER, *arguments, **expected)

    def test_list_shows_them_beside_the_providers(self):
        report = self.json("list", "--plugin-path", FOLDER)
        layer, = report["layers"]
        self.assertEqual((layer["name"], layer["version"], layer["vendor"], layer["loadable"], layer["problem"]),
                         ("counting", "1.0.0", "ephost tests", True, None))
        self.assertEqual(layer["manifest"], str(MANIFEST))
        self.assertNotIn("counting", [plugin["name"] for plugin in report["plugins"]])
        self.assertEqual(self.json("list")["layers"], [])
        table = self.ephost("list", "--plugin-path", FOLDER).stdout
        self.assertRegex(table, r"(?m)^layer +version +vendor +abi +loadable +manifest$")
        self.assertRegex(table, r"(?m)^counting +1\.0\.0 +ephost tests +1\.0 +yes +/")
        self.assertNotIn("layer", self.ephost("list").stdout)

    def test_list_says_why_one_cannot_be_loaded(self):
        self.write("broken/layer.yaml", MANIFEST.read_text())
        self.write("broken/libcounting_layer.so", "no library at all")
        layer, = self.json("list", "--plugin-path", "broken")["layers"]
        self.assertFalse(layer["loadable"])
        self.assertIn("not a shared library", layer["problem"]["message"])
        table = self.ephost("list", "--plugin-path", "broken").stdout
        self.assertIn("\ncannot be loaded:\n", table)
        self.assertIn("not a shared library", table)

    def test_run_puts_one_over_the_providers(self):
        log = self.run_model("--ep", "dnnl", "--layer", "counting", "--verbose").stderr
        self.assertIn("counting layer: creates dnnl, 1 created", log)
        self.assertIn("counting layer: releases cpu, 1 created", log)

    def test_a_selection_puts_one_over_the_providers(self):
        self.write("selection.yaml", SELECTION.format("counting"))
        log = self.run_model("--selection", "selection.yaml", "--verbose").stderr
        self.assertIn("counting layer: creates dnnl, 1 created", log)

    def traced(self, *arguments, variables=None):
        """The log of the layer `counting` in a run with these arguments, and the lines of the trace."""
        log = self.run_model("--verbose", "--trace-file", "trace.txt", *arguments,
                             variables=variables).stderr
        lines = (self.folder / "trace.txt").read_text()
        (self.folder / "trace.txt").unlink()
        return log, lines

    def test_a_trace_lies_below_the_layers_that_are_named_elsewhere(self):
        self.write("all.yaml", SELECTION.format("counting"))
        dnnl = ["--ep", "dnnl"]
        for arguments, variables in (([*dnnl, "--layer", "counting"], {}), (["--selection", "all.yaml"], {}),
                                     ([*dnnl, "--config", "session.layers.dnnl=counting"], {}),
                                     (dnnl, {"EPHOST_LAYERS": "counting"})):
            with self.subTest(arguments=arguments, variables=variables):
                log, lines = self.traced(*arguments, variables=variables)
                self.assertIn("counting layer: creates dnnl", log)
                self.assertIn("-> dnnl create ", lines)
                self.assertIn("-> cpu create ", lines)
        log, lines = self.traced("--config", "session.layers=trace;counting")
        self.assertEqual(lines.count("-> cpu create "), 1)
        self.assertIn("counting layer: creates cpu", log)

    def test_validate_says_that_it_guards_no_memory_of_a_worker(self):
        isolated = self.run_model("--ep", "dnnl", "--layer", "validate", "--isolation", "dnnl=worker").stderr
        self.assertEqual(isolated.count("the layer validate does not guard the memory of"), 1)
        self.assertIn("does not guard the memory of DnnlExecutionProvider", isolated)
        self.assertEqual(self.run_model("--ep", "dnnl", "--layer", "validate").stderr, "")

    def test_an_unknown_one_is_refused_with_the_nearest(self):
        error = self.run_model("--layer", "countng", status=2).stderr
        self.assertIn('there is no layer "countng"; did you mean "counting"?', error)

    def test_one_is_no_provider(self):
        error = self.run_model("--ep", "counting", status=2).stderr
        self.assertIn('"counting" is a layer, not a provider; name it with --layer', error)
        for plugin in ("counting", MANIFEST):
            self.assertIn("layer", self.refusal("INVALID_ARGUMENT", "inspect", plugin, "--plugin-path", FOLDER))

    def test_check_selection_knows_them(self):
        self.write("selection.yaml", SELECTION.format("counting"))
        for depth in ([], ["--no-plugins"]):
            self.assertEqual(self.json("check-selection", "selection.yaml", "--plugin-path", FOLDER, *depth)["findings"],
                             [])
            found = json.loads(self.ephost("check-selection", "selection.yaml", "--format", "json", *depth,
                                           status=1).stdout)["findings"]
            self.assertEqual([finding["line"] for finding in found], [4, 6])
            for finding in found:
                self.assertRegex(finding["message"], re.escape('there is no layer "counting"'))

    def test_check_selection_finds_one_that_cannot_be_loaded(self):
        self.write("selection.yaml", SELECTION.format("counting"))
        self.write("broken/layer.yaml", MANIFEST.read_text())
        self.write("broken/libcounting_layer.so", "no library at all")
        for depth in ([], ["--no-plugins"]):
            found = json.loads(self.ephost("check-selection", "selection.yaml", "--plugin-path", "broken", "--format",
                                           "json", *depth, status=1).stdout)["findings"]
            self.assertIn("not a shared library", found[0]["message"])

    def test_validate_is_for_providers(self):
        for path in (MANIFEST, FOLDER):
            self.assertIn("has layers only, and the checks are for providers",
                          self.refusal("INVALID_ARGUMENT", "validate", path))


if __name__ == "__main__":
    unittest.main()
