"""Cases of commands with operators that plugins define."""

import os
import pathlib
import unittest

import onnx
from onnx import TensorProto, helper

from command_line import CommandLineTest

VENDOR = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "vendor"


def save_scale(path, **attributes):
    """A Relu and the vendor's Scale."""
    nodes = [helper.make_node("Relu", ["x"], ["r"]),
             helper.make_node("Scale", ["r"], ["y"], name="scale", domain="com.vendor", **attributes)]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "scale", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.vendor", 2)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), str(path))


class PluginOperatorTest(CommandLineTest):
    FLAGS = ("--plugin-path", VENDOR)

    def test_inspect_shows_the_operators_of_a_plugin(self):
        report = self.json("inspect", "vendor", *self.FLAGS)
        scale = report["operators"][0]
        self.assertEqual((scale["domain"], scale["op"], scale["since_version"]), ("com.vendor", "Scale", 1))
        self.assertEqual(scale["inputs"][0]["types"], ["float", "double"])
        self.assertEqual(scale["attributes"][0]["default"], "2")
        table = self.ephost("inspect", "vendor", *self.FLAGS).stdout
        self.assertRegex(table, r"(?m)^com\.vendor\.Scale +1 +X: T=float\|double +Y: .* factor: FLOAT = 2$")
        self.assertRegex(table, r"(?m)^com\.vendor\.Old +2, deprecated ")
        self.assertEqual(self.json("inspect", "dnnl")["operators"], [])

    def test_partition_explains_who_defines_an_operator(self):
        save_scale(self.folder / "scale.onnx")
        flags = ("scale.onnx", "--ep", "vendor", "--explain", *self.FLAGS)
        self.assertEqual(self.json("partition", *flags)["plugin_operators"],
                         [{"op": "Scale", "domain": "com.vendor", "since_version": 1,
                           "defined_by": "VendorExecutionProvider", "nodes": 1}])
        self.assertIn("defined: com.vendor.Scale, version 1, by VendorExecutionProvider, for 1 node",
                      self.ephost("partition", *flags).stdout)

    def test_a_wrong_node_is_an_error_with_the_plugin(self):
        save_scale(self.folder / "scale.onnx", factr=2.0)
        error = self.refusal("INVALID_GRAPH", "partition", "scale.onnx", "--ep", "vendor", *self.FLAGS)
        self.assertIn('operator "Scale" of domain "com.vendor", which VendorExecutionProvider defines: it has an '
                      'attribute "factr"', error)


if __name__ == "__main__":
    unittest.main()
