"""Cases of small models that ask for much: what a session does for them before they run is limited."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import EXIT_STATUS, CommandLineTest

MIB = 1 << 20
MAX_BYTES = "optimization.constant_folding_max_bytes"
MAX_WORK = "optimization.constant_folding_max_work"


def number(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def save(path, nodes, outputs, constants, opset=17):
    """A graph that depends on constants alone, but for y = x."""
    nodes = [*nodes, helper.make_node("Identity", ["x"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph(nodes, "budget", values[:1], [values[1], *outputs], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8),
              str(path))


def output(name, element=TensorProto.FLOAT, rank=1):
    return helper.make_tensor_value_info(name, element, [None] * rank)


def save_filled(path, count, elements):
    """`count` constants of so many floats."""
    nodes = [helper.make_node("ConstantOfShape", ["shape"], [f"c{i}"], name=f"c{i}")
             for i in range(count)]
    save(path, nodes, [output(f"c{i}") for i in range(count)], [number("shape", elements)])


class BudgetTest(CommandLineTest):
    def partition(self, *flags):
        """The nodes that are left beside the Identity, and what was noted."""
        report = self.json("partition", "model.onnx", "--explain", *flags)
        return [node["name"] for node in report["nodes"]][:-1], report["notes"]

    def test_folded_constants_together_are_no_larger_than_their_limit(self):
        save_filled(self.folder / "model.onnx", 20, MIB)
        left, notes = self.partition("--config", f"{MAX_BYTES}={16 * MIB}")
        self.assertEqual(left, [f"c{i}" for i in range(4, 20)])
        self.assertEqual(notes, [
            "constant folding left 16 nodes to be computed in each run, the first one because the "
            f'result of ConstantOfShape node "c4" needs {4 * MIB} bytes or more, but 0 remain of '
            f"{MAX_BYTES}={16 * MIB}; raise the limit to fold it"])

    def test_a_user_is_warned_of_what_is_not_folded(self):
        save_filled(self.folder / "model.onnx", 2, MIB)
        result = self.ephost("run", "model.onnx", "--config", f"{MAX_BYTES}={4 * MIB}")
        self.assertIn("constant folding left one node", result.stderr)

    def test_what_is_not_folded_is_computed_in_the_run(self):
        save_filled(self.folder / "model.onnx", 3, 1000)
        sums = [self.json("run", "model.onnx", "--config", f"{MAX_BYTES}={limit}")["outputs"]
                for limit in (1, 5000, 0)]
        self.assertEqual(sums[0], sums[2])
        self.assertEqual(sums[1], sums[2])

    def test_no_limit_folds_everything(self):
        save_filled(self.folder / "model.onnx", 3, 1000)
        self.assertEqual(self.partition("--config", f"{MAX_BYTES}=0"), ([], []))

    def test_a_value_that_is_joined_with_itself_does_not_double_for_ever(self):
        nodes = [helper.make_node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"v{i + 1}", axis=0)
                 for i in range(28)]
        start = numpy_helper.from_array(np.zeros(1, np.float32), "v0")
        # The last one would have a gibibyte.
        save(self.folder / "model.onnx", nodes, [output("v28")], [start])
        left, _ = self.partition()
        self.assertEqual(left, [f"v{i}" for i in range(25, 29)], "more than 64 MiB each")

    def test_text_that_is_joined_with_itself_does_not_double_for_ever(self):
        nodes = [helper.make_node("StringConcat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"v{i + 1}")
                 for i in range(28)]
        start = helper.make_tensor("v0", TensorProto.STRING, [1], [b"0123456789"])
        save(self.folder / "model.onnx", nodes, [output("v28", TensorProto.STRING)], [start], opset=20)
        left, notes = self.partition()
        self.assertEqual(left, [f"v{i}" for i in range(23, 29)], "more than 64 MiB each")
        self.assertIn("its outputs need more than 67108864 bytes", " ".join(notes))

    def test_work_that_takes_long_is_left_to_the_run(self):
        nodes = [helper.make_node("ConstantOfShape", ["shape"], ["v0"], name="v0"),
                 *(helper.make_node("MatMul", [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"v{i + 1}")
                   for i in range(12))]
        save(self.folder / "model.onnx", nodes, [output("v12", rank=2)], [number("shape", 200, 200)])
        self.assertEqual(self.partition(), ([], []))
        left, notes = self.partition("--config", f"{MAX_WORK}=81300000")
        self.assertEqual(left, ["v10", "v11", "v12"])
        self.assertEqual(len(notes), 1)
        self.assertIn("MatMul node \"v10\" takes 8130000 units of work", notes[0])

    def test_sparse_constants_do_not_become_dense_beyond_the_limit(self):
        sparse = onnx.SparseTensorProto(dims=[MIB], values=helper.make_tensor("", TensorProto.FLOAT, [1], [1.0]),
                                        indices=number("", 0))
        nodes = [helper.make_node("Constant", [], [f"c{i}"], name=f"c{i}", sparse_value=sparse)
                 for i in range(3)]
        save(self.folder / "model.onnx", nodes, [output(f"c{i}") for i in range(3)], [])
        self.assertEqual(self.partition(), ([], []))
        left, notes = self.partition("--config", f"{MAX_BYTES}={8 * MIB}")
        self.assertEqual(left, ["c2"])
        self.assertEqual(len(notes), 1)

    def test_limits_that_are_no_numbers_are_refused(self):
        save_filled(self.folder / "model.onnx", 1, 1)
        for entry in (MAX_BYTES, MAX_WORK):
            error = self.refusal("INVALID_ARGUMENT", "run", "model.onnx", "--config", f"{entry}=1 GB")
            self.assertIn(f'configuration entry "{entry}" cannot be "1 GB"; use a whole number, 0 for no limit',
                          error)

    def save_long_folding(self):
        """Minutes of work, unless it is limited."""
        nodes = [helper.make_node("ConstantOfShape", ["shape"], ["v0"]),
                 *(helper.make_node("MatMul", [f"v{i}", f"v{i}"], [f"v{i + 1}"]) for i in range(5000))]
        save(self.folder / "model.onnx", nodes, [output("v5000", rank=2)], [number("shape", 1000, 1000)])

    def test_a_session_that_takes_too_long_to_create_ends_with_an_error(self):
        self.save_long_folding()
        for command in ("run", "partition", "plan", "compile", "bench"):
            error = self.refusal("DEADLINE_EXCEEDED", command, "model.onnx", "--config", f"{MAX_WORK}=0",
                                 "--config", "session.load_timeout_seconds=1")
            self.assertIn("it took more than 1 s; raise session.load_timeout_seconds", error)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["model.onnx"])

    def test_constants_of_functions_that_are_called_often_are_no_way_around_the_limits(self):
        constant = numpy_helper.from_array(np.zeros(MIB, np.float32))
        body = [helper.make_node("Constant", [], ["c"], value=constant),
                helper.make_node("Identity", ["c"], ["b"])]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        functions = [helper.make_function("local", "F", [], ["b"], body, opsets[:1])]
        for calls, status in ((2, 0), (100, EXIT_STATUS["INVALID_GRAPH"])):
            nodes = [helper.make_node("F", [], [f"v{i}"], domain="local") for i in range(calls)]
            graph = helper.make_graph(nodes, "calls", [], [output(f"v{i}") for i in range(calls)])
            onnx.save(helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=8),
                      str(self.folder / "model.onnx"))
            result = self.ephost("partition", "model.onnx", status=status)
        self.assertIn("error[INVALID_GRAPH]", result.stderr)
        self.assertIn("raise session.function_inlining_max_nodes", result.stderr)
        self.ephost("partition", "model.onnx", "--config", "session.function_inlining_max_nodes=0")

    def test_what_is_cached_depends_on_the_limits(self):
        save_filled(self.folder / "model.onnx", 1, 1000)
        keys = {self.json("run", "model.onnx", "--cache-dir", "store", *flags)["cache"]["key"]
                for flags in ([], ["--config", f"{MAX_BYTES}=1"], ["--config", f"{MAX_WORK}=1"])}
        self.assertEqual(len(keys), 3)


if __name__ == "__main__":
    unittest.main()
