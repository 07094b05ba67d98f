"""Cases of `ephost partition`."""

import unittest

import onnx
from onnx import TensorProto, helper

from command_line import CommandLineTest, tiny


def save_unknown_operator(path):
    """A Relu between two operators that no provider has."""
    nodes = [helper.make_node("Strange", ["x"], ["a"], name="first", domain="example.test"),
             helper.make_node("Relu", ["a"], ["b"], name="middle"),
             helper.make_node("Strange", ["b"], ["y"], name="last", domain="example.test")]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "strange", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("example.test", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), str(path))


def save_what_changes_nothing(path):
    """y = x, after all: nodes that every pass has something to do with."""
    def number(name, values):
        return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
    nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Identity", ["n"], ["a"]),
             helper.make_node("Dropout", ["a"], ["b"]), helper.make_node("Cast", ["b"], ["c"], to=1),
             helper.make_node("Reshape", ["c", "shape"], ["d"]),
             helper.make_node("Transpose", ["d"], ["e"], perm=[0, 1]),
             helper.make_node("Pad", ["e", "pads"], ["f"]),
             helper.make_node("Slice", ["f", "zeros", "shape"], ["g"]),
             helper.make_node("Expand", ["g", "ones"], ["h"]), helper.make_node("Neg", ["h"], ["y"]),
             helper.make_node("Abs", ["x"], ["dead"]), helper.make_node("Add", ["ones", "zeros"], ["sum"]),
             helper.make_node("Mul", ["sum", "k"], ["z"])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
              helper.make_tensor_value_info("k", TensorProto.INT64, [2])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3]),
               helper.make_tensor_value_info("z", TensorProto.INT64, [2])]
    constants = [number("shape", [2, 3]), number("pads", [0] * 4), number("zeros", [0, 0]),
                 number("ones", [1, 1])]
    graph = helper.make_graph(nodes, "nothing", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), str(path))


PASSES = {"ConstantFolding": "Add", "DeadCodeElimination": "Abs", "EliminateIdentity": "Identity",
          "EliminateDropout": "Dropout", "EliminateCast": "Cast", "EliminateReshape": "Reshape",
          "EliminateTranspose": "Transpose", "EliminatePad": "Pad", "EliminateSlice": "Slice",
          "EliminateExpand": "Expand"}


class PartitionTest(CommandLineTest):
    def operators(self, *flags):
        report = self.json("partition", "nothing.onnx", *flags)
        return sorted(node["op"] for node in report["nodes"])

    def test_each_optimizer_can_be_switched_off(self):
        save_what_changes_nothing(self.folder / "nothing.onnx")
        left = ["Mul", "Neg", "Neg"]
        for level in ("basic", "extended", "all"):
            self.assertEqual(self.operators("--optimization-level", level), left)
        for name, op in PASSES.items():
            self.assertEqual(self.operators("--disable-optimizer", name), sorted([*left, op]), name)
            self.assertEqual(self.operators("--config", f"optimization.disable_specified_optimizers={name}"),
                             sorted([*left, op]), name)
        everything = sorted([*left, *PASSES.values()])
        self.assertEqual(self.operators("--optimization-level", "disable_all"), everything)
        self.assertEqual(self.operators("--config", "session.graph_optimization_level=disable_all"),
                         everything)
        self.assertEqual(self.operators(*(word for name in PASSES for word in ("--disable-optimizer", name))),
                         everything)

    def test_results_do_not_depend_on_optimizers(self):
        save_what_changes_nothing(self.folder / "nothing.onnx")
        sums = [self.json("run", "nothing.onnx", "--optimization-level", level)["outputs"]
                for level in ("disable_all", "all")]
        self.assertEqual(sums[0], sums[1])

    def test_optimizers_that_do_not_exist_are_refused(self):
        error = self.refusal("INVALID_ARGUMENT", "partition", tiny("tiny_cnn"),
                             "--disable-optimizer", "ConstantFoldin")
        self.assertIn('did you mean "ConstantFolding"?', error)
        self.refusal("INVALID_ARGUMENT", "partition", tiny("tiny_cnn"), "--optimization-level", "most")

    def test_cpu_takes_every_node_one_by_one(self):
        report = self.json("partition", tiny("tiny_cnn"))
        self.assertEqual([provider["name"] for provider in report["providers"]],
                         ["CPUExecutionProvider"])
        self.assertEqual({node["provider"] for node in report["nodes"]}, {"CPUExecutionProvider"})
        self.assertEqual(report["partitions"], [])
        self.assertEqual(report["unassigned_nodes"], 0)

    def test_dnnl_takes_partitions_and_cpu_the_rest(self):
        report = self.json("partition", tiny("tiny_cnn"), "--ep", "dnnl")
        self.assertEqual([provider["name"] for provider in report["providers"]],
                         ["DnnlExecutionProvider", "CPUExecutionProvider"])
        self.assertGreater(len(report["partitions"]), 0)
        for partition in report["partitions"]:
            self.assertEqual(partition["provider"], "DnnlExecutionProvider")
            for node in partition["nodes"]:
                self.assertEqual(report["nodes"][node]["partition"], partition["name"])

    def test_explain_tells_of_claims_and_declines(self):
        report = self.json("partition", tiny("tiny_bert"), "--ep", "dnnl", "--explain")
        self.assertIn("refused_claims", report)
        for decline in report["declines"]:
            self.assertTrue(decline["reason"])
        table = self.ephost("partition", tiny("tiny_bert"), "--ep", "dnnl", "--explain").stdout
        self.assertRegex(table, r"(?m)^node +name +operator +provider +partition +refused to")
        self.assertEqual(table.count("declined: "), len(report["declines"]))

    def test_a_table_sums_up(self):
        table = self.ephost("partition", tiny("tiny_cnn"), "--ep", "dnnl").stdout
        self.assertRegex(table, r"(?m)^DnnlExecutionProvider +\d+ +\d+ +\d+ +\d+$")

    def test_writes_graphviz_and_html(self):
        self.assertTrue(
            self.ephost("partition", tiny("tiny_cnn"), "--format", "dot").stdout.startswith("digraph"))
        self.ephost("partition", tiny("tiny_cnn"), "--format", "html", "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertTrue(page.lower().startswith("<!doctype html>"))
        self.assertNotRegex(page, "https?:")

    def test_shows_the_bodies_of_control_flow(self):
        report = self.json("partition", tiny("tiny_if"))
        self.assertEqual(report["providers"][-1]["name"], "host")
        self.assertEqual([node["provider"] for node in report["nodes"] if node["op"] == "If"],
                         ["host"])
        paths = ["if/else_branch", "if/then_branch", "if/then_branch/then.if/else_branch",
                 "if/then_branch/then.if/then_branch"]
        self.assertEqual([body["path"] for body in report["bodies"]], paths)
        for body in report["bodies"]:
            self.assertGreater(len(body["nodes"]), 0)
            self.assertEqual(body["unassigned_nodes"], 0)
        for flags in ((), ("--explain",), ("--format", "html"), ("--format", "dot")):
            text = self.ephost("partition", tiny("tiny_if"), *flags).stdout
            for path in paths:
                self.assertIn(path, text)

    def test_names_nodes_that_nobody_takes_and_fails(self):
        save_unknown_operator(self.folder / "strange.onnx")
        error = self.refusal("NOT_IMPLEMENTED", "partition", "strange.onnx")
        for word in ("Strange", "example.test", "first", "CPUExecutionProvider"):
            self.assertIn(word, error)
        report = self.json("partition", "strange.onnx", status=4)
        self.assertEqual([node["provider"] for node in report["nodes"]],
                         [None, "CPUExecutionProvider", None])

    def test_refuses_what_is_no_model(self):
        self.assertIn("absent.onnx", self.refusal("NO_SUCHFILE", "partition", "absent.onnx"))
        garbage = self.write("garbage.onnx", "this is not a model")
        self.refusal("INVALID_PROTOBUF", "partition", garbage)

    def test_refuses_a_provider_that_is_not_installed(self):
        error = self.refusal("NOT_FOUND", "partition", tiny("tiny_cnn"), "--ep", "tensorrt")
        self.assertIn("tensorrt", error)

    def test_refuses_options_for_a_provider_that_is_not_asked(self):
        error = self.refusal("INVALID_ARGUMENT", "partition", tiny("tiny_cnn"),
                             "--ep-option", "dnnl:x=1")
        self.assertIn("add --ep dnnl", error)

    def test_refuses_an_option_that_the_provider_does_not_have(self):
        error = self.refusal("INVALID_ARGUMENT", "partition", tiny("tiny_cnn"),
                             "--ep-option", "cpu:num_thread=1")
        self.assertIn("num_threads", error)

    def test_takes_providers_from_a_selection_file(self):
        self.write("selection.yaml", "selection: 1\nproviders:\n  - provider: dnnl\n")
        report = self.json("partition", tiny("tiny_cnn"), "--selection", "selection.yaml")
        self.assertEqual(report["providers"][0]["name"], "DnnlExecutionProvider")


if __name__ == "__main__":
    unittest.main()
