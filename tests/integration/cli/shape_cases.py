"""Cases of models whose values come out with other shapes than is declared inside them."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import CommandLineTest

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape=None, element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


class ShapeTest(CommandLineTest):
    def save(self, nodes, inputs, outputs, inner=(), constants=(), opset=17, functions=()):
        graph = helper.make_graph(nodes, "shapes", inputs, outputs, value_info=list(inner),
                                  initializer=[numpy_helper.from_array(array, name)
                                               for name, array in constants])
        model = helper.make_model(graph, ir_version=8, functions=functions,
                                  opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("own", 1)])
        onnx.save(model, str(self.folder / "model.onnx"))

    def arguments(self, values, model="model.onnx"):
        arguments = ["run", model, "--output-dir", "out"]
        for name, array in values.items():
            np.save(self.folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}={name}.npy"]
        return arguments

    def check(self, values, expected, warning=None, says="", model="model.onnx"):
        """Runs the model with both providers; says how often the warning must come, and what it says."""
        for providers in ((), ("--ep", "dnnl"), ("--optimization-level", "disable_all")):
            with self.subTest(providers):
                result = self.ephost(*self.arguments(values, model), *providers)
                for i, array in enumerate(expected):
                    found = np.load(self.folder / "out" / f"output_{i}.npy")
                    self.assertEqual(found.shape, np.shape(array))
                    np.testing.assert_allclose(found, array, 1e-5, 1e-6)
                if warning is not None:
                    self.assertEqual(result.stderr.count("makes its plan again"), warning, result.stderr)
                self.assertIn(says, result.stderr)

    def test_a_value_may_be_larger_than_the_model_declares(self):
        # Nothing but the value itself tells the shape of `r`; everything behind it is planned for 2x2.
        nodes = [helper.make_node("Reshape", ["x", "s"], ["r"]),
                 helper.make_node("Mul", ["r", "r"], ["m"]),
                 helper.make_node("Relu", ["m"], ["p"]),
                 helper.make_node("Add", ["p", "r"], ["q"]),
                 helper.make_node("Concat", ["q", "m"], ["y"], axis=1)]
        self.save(nodes, [value("x", [None]), value("s", [2], INT64)], [value("y")], [value("r", [2, 2])])
        for shape in ((64, 33), (1, 1), (0, 5)):
            x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
            m = x * x
            self.check({"x": x.reshape(-1), "s": np.array(shape)},
                       [np.concatenate([np.maximum(m, 0) + x, m], axis=1)], warning=1,
                       says=f'value "r" came out as float[{shape[0]},{shape[1]}], but the model declares it as '
                            'float[2,2] inside the graph')
        x = np.float32([[1, -2], [3, 4]])
        self.check({"x": x.reshape(-1), "s": np.array([2, 2])},
                   [np.concatenate([x * x + x, x * x], axis=1)], warning=0)

    def test_many_values_may_be_declared_wrongly(self):
        nodes, inner, x = [], [], np.arange(6, dtype=np.float32)
        for i in range(8):
            nodes += [helper.make_node("Reshape", [f"v{i}" if i else "x", "s"], [f"r{i}"]),
                      helper.make_node("Neg", [f"r{i}"], [f"v{i + 1}"])]
            inner.append(value(f"r{i}", [1, 1 + i]))
        self.save(nodes, [value("x", [6]), value("s", [2], INT64)], [value("v8")], inner)
        self.check({"x": x, "s": np.array([2, 3])}, [x.reshape(2, 3)])

    def test_an_output_of_the_model_must_be_what_it_declares(self):
        self.save([helper.make_node("Reshape", ["x", "s"], ["y"])],
                  [value("x", [6]), value("s", [2], INT64)], [value("y", [2, 2])])
        values = {"x": np.zeros(6, np.float32), "s": np.array([2, 3])}
        error = self.refusal("INVALID_GRAPH", *self.arguments(values))
        self.assertIn('output "y" came out as float[2,3], the model declares it as float[2,2]', error)

    def test_bodies_may_declare_other_states(self):
        # The body says that the state has the shape [4,8]; it begins as a scalar, and grows.
        body = helper.make_graph(
            [helper.make_node("Identity", ["goes_on"], ["next"]),
             helper.make_node("Add", ["state", "step"], ["sum"])], "body",
            [value("i", [], INT64), value("goes_on", [], BOOL), value("state", [4, 8])],
            [value("next", [], BOOL), value("sum", [4, 8])])
        self.save([helper.make_node("Loop", ["count", "", "start"], ["y"], body=body)],
                  [value("count", [], INT64), value("start", []), value("step", [None, None])], [value("y")])
        step = np.float32([[1, 2, 3], [4, 5, 6]])
        self.check({"count": np.array(3), "start": np.float32(0.5), "step": step}, [0.5 + 3 * step],
                   says='value "state" came out as float[], but the model declares it as float[4,8] inside the graph')

    def test_branches_may_declare_other_outputs(self):
        branches = {name: helper.make_graph([helper.make_node(op, ["x", "s"], [name])], name, [], [value(name, [1])])
                    for name, op in (("then_branch", "Reshape"), ("else_branch", "Expand"))}
        self.save([helper.make_node("If", ["c"], ["v"], **branches), helper.make_node("Neg", ["v"], ["y"])],
                  [value("x", [None]), value("s", [2], INT64), value("c", [], BOOL)], [value("y")])
        x = np.arange(3, dtype=np.float32)
        self.check({"x": x, "s": np.array([3, 1]), "c": np.array(True)}, [-x.reshape(3, 1)])
        self.check({"x": x, "s": np.array([2, 3]), "c": np.array(False)}, [-np.stack([x, x])])

    def test_scans_may_declare_other_elements(self):
        body = helper.make_graph([helper.make_node("Add", ["state", "x"], ["next"]),
                                  helper.make_node("Reshape", ["x", "s"], ["row"])], "body",
                                 [value("state", [7]), value("x", [9])], [value("next", [7]), value("row", [2])])
        self.save([helper.make_node("Scan", ["start", "rows"], ["y", "z"], body=body, num_scan_inputs=1)],
                  [value("start", [None]), value("rows", [None, None]), value("s", [2], INT64)],
                  [value("y"), value("z")])
        rows = np.arange(8, dtype=np.float32).reshape(2, 4)
        self.check({"start": np.zeros(4, np.float32), "rows": rows, "s": np.array([2, 2])},
                   [rows.sum(axis=0), rows.reshape(2, 2, 2)])

    def test_what_was_inferred_is_told_from_what_is_declared(self):
        # A state of Scan has the shape of its first value, unless it grows.
        rows = np.arange(12, dtype=np.float32).reshape(3, 1, 4)
        values = {"start": np.ones((1, 4), np.float32), "rows": rows}
        expected = [np.concatenate([values["start"], rows[:, 0]])]
        for declared in (None, [None, 4]):
            body = helper.make_graph([helper.make_node("Concat", ["state", "row"], ["next"], axis=0)], "body",
                                     [value("state", declared), value("row", [1, 4])], [value("next", declared)])
            self.save([helper.make_node("Scan", ["start", "rows"], ["y"], body=body, num_scan_inputs=1)],
                      [value("start", [1, 4]), value("rows", [3, 1, 4])], [value("y")])
            self.check(values, expected, says="was inferred for it")

    def test_saved_models_remember_what_was_inferred(self):
        nodes = [helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("Exp", ["r"], ["e"]),
                 helper.make_node("Neg", ["e"], ["y"])]
        values = {"x": np.arange(4, dtype=np.float32), "s": np.array([2, 2])}
        self.save(nodes, [value("x", [None]), value("s", [2], INT64)], [value("y")], [value("r", [2, 2])])
        self.ephost(*self.arguments(values), "--optimized-model", "saved.onnx")
        saved = onnx.load(str(self.folder / "saved.onnx"))
        marked = {info.name for info in [*saved.graph.value_info, *saved.graph.output]
                  if b"ephost.type" in info.SerializeToString()}
        self.assertEqual(marked, {"e", "y"})
        # The output `y` is not what was inferred, and the model declares nothing about it.
        x = np.arange(6, dtype=np.float32)
        self.check({"x": x, "s": np.array([2, 3])}, [-np.exp(x.reshape(2, 3))], model="saved.onnx",
                   says="but the model declares it as float[2,2] inside the graph")

    def test_what_a_removed_value_declared_may_be_wrong(self):
        # `r` takes over what is declared about `q`, which has another name.
        for shape in ([2, 2], [None, 2]):
            self.save([helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("Identity", ["r"], ["q"]),
                       helper.make_node("Exp", ["q"], ["y"])],
                      [value("x", [6]), value("s", [None], INT64)], [value("y")], [value("q", shape)])
            x = np.arange(6, dtype=np.float32)
            self.check({"x": x, "s": np.array([2, 3])}, [np.exp(x.reshape(2, 3))],
                       says="declares it as float[")

    def test_bodies_of_functions_may_declare_other_states(self):
        body = helper.make_graph(
            [helper.make_node("Identity", ["goes_on"], ["next"]),
             helper.make_node("Concat", ["state", "state"], ["twice"], axis=0)], "body",
            [value("i", [], INT64), value("goes_on", [], BOOL), value("state", [4, 8])],
            [value("next", [], BOOL), value("twice", [4, 8])])
        function = helper.make_function("own", "Twice", ["x", "count"], ["y"],
                                        [helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)],
                                        [helper.make_opsetid("", 17)])
        self.save([helper.make_node("Twice", ["x", "count"], ["r"], domain="own"),
                   helper.make_node("Neg", ["r"], ["y"])],
                  [value("x", [2, 3]), value("count", [], INT64)], [value("y")], functions=[function])
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.check({"x": x, "count": np.array(2)}, [-np.concatenate([x] * 4)])

    def test_a_context_model_that_was_compiled_for_the_shape_says_so(self):
        nodes = [helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("Relu", ["r"], ["p"]),
                 helper.make_node("MatMul", ["p", "w"], ["y"])]
        self.save(nodes, [value("x", [6]), value("s", [2], INT64)], [value("y")], [value("r", [2, 2])],
                  [("w", np.eye(2, dtype=np.float32))])
        self.ephost("compile", "model.onnx", "--ep", "dnnl", "-o", "ctx.onnx")
        values = {"x": np.arange(6, dtype=np.float32), "s": np.array([3, 2])}
        expected = values["x"].reshape(3, 2)
        self.check(values, [expected])
        arguments = self.arguments(values)
        arguments[1] = "ctx.onnx"
        error = self.refusal("INVALID_GRAPH", *arguments, "--ep", "dnnl")
        self.assertIn("was compiled for that shape; compile the source model again", error)

    def test_an_empty_permutation_reverses_the_axes(self):
        transpose = helper.make_node("Transpose", ["x"], ["t"])
        transpose.attribute.add(name="perm", type=onnx.AttributeProto.INTS)
        self.save([transpose, helper.make_node("Relu", ["t"], ["y"])], [value("x", [2, 3])], [value("y")])
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.check({"x": x}, [x.T])


if __name__ == "__main__":
    unittest.main()
