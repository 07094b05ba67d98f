"""Cases of models with functions, and of operators that ONNX defines by others."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import CommandLineTest

FLOAT = TensorProto.FLOAT
LOCAL = "example.local"


def value(name, shape=(2, 3), element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def model_of(nodes, inputs, outputs, functions=(), opset=17, ir_version=8, others=(LOCAL,)):
    graph = helper.make_graph(nodes, "functions", inputs, outputs)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in others)]
    return helper.make_model(graph, functions=list(functions), opset_imports=opsets,
                             ir_version=ir_version)


def function(name, inputs, outputs, nodes, attributes=(), opset=17, domain=LOCAL):
    return helper.make_function(domain, name, inputs, outputs, nodes,
                                [helper.make_opsetid("", opset), helper.make_opsetid(LOCAL, 1)],
                                list(attributes))


def referring(node, **references):
    """The node with attributes that are those of its function: name="referred"."""
    for name, (referred, kind) in references.items():
        attribute = node.attribute.add()
        attribute.name, attribute.ref_attr_name, attribute.type = name, referred, kind
    return node


def local(name, inputs, outputs, **attributes):
    return helper.make_node(name, inputs, outputs, domain=LOCAL, name=f"call {name}", **attributes)


def bytes_field(number, content):
    """A field that this version of onnx does not know, as bytes of a message."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


# scale(x; by) = x * by + 1
SCALE = function("Scale", ["x"], ["y"], [
    referring(helper.make_node("Constant", [], ["factor"]),
              value_float=("by", onnx.AttributeProto.FLOAT)),
    helper.make_node("Mul", ["x", "factor"], ["scaled"]),
    helper.make_node("Constant", [], ["one"], value_float=1.0),
    helper.make_node("Add", ["scaled", "one"], ["y"])], ["by"])


class FunctionTest(CommandLineTest):
    def run_model(self, model, *flags, **inputs):
        """The outputs, and what `partition --explain` says."""
        onnx.save(model, str(self.folder / "model.onnx"))
        arguments = ["run", "model.onnx", *flags, "--output-dir", "out"]
        for name, array in inputs.items():
            np.save(self.folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}={name}.npy"]
        self.ephost(*arguments)
        outputs = [np.load(self.folder / "out" / f"output_{i}.npy")
                   for i in range(len(model.graph.output))]
        return outputs, self.json("partition", "model.onnx", "--explain")

    X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)

    def test_a_function_of_the_model_is_inlined_with_its_attributes(self):
        model = model_of([local("Scale", ["x"], ["a"], by=2.0), local("Scale", ["a"], ["y"], by=-1.0)],
                         [value("x")], [value("y")], [SCALE])
        (y,), report = self.run_model(model, x=self.X)
        np.testing.assert_array_equal(y, -(self.X * 2 + 1) + 1)
        self.assertEqual([call["call"] for call in report["inlined"]], ['Scale node "call Scale"'] * 2)
        self.assertIn('inlined: Scale node "call Scale", a function of domain example.local that no '
                      "provider takes as it is, into 4 nodes",
                      self.ephost("partition", "model.onnx", "--explain").stdout)

    def test_functions_call_functions(self):
        twice = function("Twice", ["x"], ["y"], [
            referring(local("Scale", ["x"], ["once"]), by=("factor", onnx.AttributeProto.FLOAT)),
            referring(local("Scale", ["once"], ["y"]), by=("factor", onnx.AttributeProto.FLOAT))],
            ["factor"])
        model = model_of([local("Twice", ["x"], ["y"], factor=3.0)], [value("x")], [value("y")],
                         [twice, SCALE])
        (y,), report = self.run_model(model, x=self.X)
        np.testing.assert_array_equal(y, (self.X * 3 + 1) * 3 + 1)
        self.assertEqual(len(report["inlined"]), 3)

    def test_an_attribute_that_a_call_leaves_out_is_left_out_or_has_its_default(self):
        # Softmax over an axis that the call may state: -1 of the operator, or 0 by attribute_proto.
        body = [referring(helper.make_node("Softmax", ["x"], ["y"]),
                          axis=("axis", onnx.AttributeProto.INT))]
        plain = function("Normal", ["x"], ["y"], body, ["axis"])
        model = model_of([local("Normal", ["x"], ["y"])], [value("x")], [value("y")], [plain])
        expected = np.exp(self.X) / np.exp(self.X).sum(-1, keepdims=True)
        np.testing.assert_allclose(self.run_model(model, x=self.X)[0][0], expected, 1e-5)
        with_default = onnx.FunctionProto.FromString(
            function("Normal", ["x"], ["y"], body).SerializeToString() +
            bytes_field(11, helper.make_attribute("axis", 0).SerializeToString()))
        model = model_of([local("Normal", ["x"], ["y"])], [value("x")], [value("y")], [with_default])
        expected = np.exp(self.X) / np.exp(self.X).sum(0, keepdims=True)
        np.testing.assert_allclose(self.run_model(model, x=self.X)[0][0], expected, 1e-5)

    def test_overloads_are_different_functions(self):
        def overloaded(name, op):
            made = function("F", ["x"], ["y"], [helper.make_node(op, ["x"], ["y"])])
            return onnx.FunctionProto.FromString(made.SerializeToString() + bytes_field(13, name))

        def call(source, target, name):
            made = helper.make_node("F", [source], [target], domain=LOCAL)
            return onnx.NodeProto.FromString(made.SerializeToString() + bytes_field(8, name))

        model = model_of([call("x", "a", b"first"), call("a", "y", b"second")], [value("x")],
                         [value("y")], [overloaded(b"first", "Neg"), overloaded(b"second", "Relu")],
                         ir_version=10)
        np.testing.assert_array_equal(self.run_model(model, x=self.X)[0][0], np.maximum(-self.X, 0))

    def test_an_opset_of_its_own_keeps_its_meaning(self):
        # Softmax of opset 11 flattens to a matrix at axis 1; since 13 it takes one axis.
        x = np.arange(12, dtype=np.float32).reshape(2, 2, 3) / 4
        old = function("OldSoftmax", ["x"], ["y"], [helper.make_node("Softmax", ["x"], ["y"])],
                       opset=11)
        model = model_of([local("OldSoftmax", ["x"], ["y"])], [value("x", (2, 2, 3))],
                         [value("y", (2, 2, 3))], [old])
        rows = np.exp(x.reshape(2, 6))
        expected = (rows / rows.sum(-1, keepdims=True)).reshape(x.shape)
        (y,), report = self.run_model(model, x=x)
        np.testing.assert_allclose(y, expected, 1e-5)
        self.assertEqual([node["since_version"] for node in report["nodes"]], [11])

    def test_the_opset_of_a_function_survives_a_context_model(self):
        x = np.arange(12, dtype=np.float32).reshape(2, 2, 3) / 4
        old = function("OldHardmax", ["x"], ["y"], [helper.make_node("Hardmax", ["x"], ["y"], axis=1)],
                       opset=11)
        model = model_of([helper.make_node("MatMul", ["x", "w"], ["a"]), local("OldHardmax", ["a"], ["b"]),
                          helper.make_node("MatMul", ["b", "w"], ["y"])],
                         [value("x", (2, 2, 3))], [value("y", (2, 2, 3))], [old])
        model.graph.initializer.append(numpy_helper.from_array(np.eye(3, dtype=np.float32) * 2, "w"))
        (expected,), _ = self.run_model(model, x=x)
        hard = np.zeros((2, 6), np.float32)
        hard[:, 5] = 2  # one of each row of six, where the newer Hardmax would have one of three
        np.testing.assert_array_equal(expected, hard.reshape(x.shape))
        self.ephost("compile", "model.onnx", "--ep", "dnnl", "-o", "context.onnx")
        # onnx's checker refuses this model as it refuses the first one: it wants one meaning a model.
        context = onnx.load(str(self.folder / "context.onnx"))
        self.assertEqual([node.domain for node in context.graph.node],
                         ["com.microsoft", "ephost.opset", "com.microsoft"])
        self.ephost("run", "context.onnx", "--ep", "dnnl", "--input", "x=x.npy", "--output-dir", "again")
        np.testing.assert_allclose(np.load(self.folder / "again" / "output_0.npy"), expected, 1e-5)

    def test_nodes_of_an_opset_with_the_same_meaning_stay_as_they_are_in_a_context_model(self):
        old = function("OldMod", ["x"], ["y"], [
            referring(helper.make_node("Constant", [], ["two"]),
                      value_float=("by", onnx.AttributeProto.FLOAT)),
            helper.make_node("Mod", ["x", "two"], ["y"], fmod=1)], ["by"], opset=12)
        model = model_of([helper.make_node("MatMul", ["x", "w"], ["a"]), local("OldMod", ["a"], ["y"], by=2.0)],
                         [value("x")], [value("y")], [old])
        model.graph.initializer.append(numpy_helper.from_array(np.eye(3, dtype=np.float32), "w"))
        onnx.save(model, str(self.folder / "model.onnx"))
        self.ephost("compile", "model.onnx", "--ep", "dnnl", "-o", "context.onnx")
        context = onnx.load(str(self.folder / "context.onnx"))
        onnx.checker.check_model(context)
        self.assertEqual([node.op_type for node in context.graph.node], ["EPContext", "Mod"])
        self.assertEqual(len(context.functions), 0)

    def test_a_function_under_the_name_of_an_operator_is_meant(self):
        odd = function("Relu", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])], domain="")
        model = model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x")], [value("y")], [odd])
        for flags in ((), ("--ep", "dnnl")):
            np.testing.assert_array_equal(self.run_model(model, *flags, x=self.X)[0][0], -self.X)

    def test_inputs_and_outputs_that_are_left_out(self):
        pair = function("Pair", ["x", "low", "high"], ["clipped", "same", "negated"], [
            helper.make_node("Clip", ["x", "low", "high"], ["clipped"]),
            helper.make_node("Neg", ["x"], ["negated"]),
            helper.make_node("Identity", ["x"], ["same"])])
        model = model_of([local("Pair", ["x", "", "one"], ["y", "", "n"])], [value("x"), value("one", ())],
                         [value("y"), value("n")], [pair])
        (y, n), _ = self.run_model(model, x=self.X, one=np.float32(1))
        np.testing.assert_array_equal(y, np.minimum(self.X, 1))
        np.testing.assert_array_equal(n, -self.X)

    def test_an_output_may_be_an_input(self):
        through = function("Through", ["x"], ["x", "x"], [])
        model = model_of([local("Through", ["x"], ["y", "z"])], [value("x")], [value("y"), value("z")],
                         [through])
        (y, z), _ = self.run_model(model, x=self.X)
        np.testing.assert_array_equal(y, self.X)
        np.testing.assert_array_equal(z, self.X)

    def test_names_of_functions_do_not_meet_those_of_the_graph(self):
        # "scaled", "one" and "factor" are values of the graph, too.
        model = model_of([helper.make_node("Neg", ["x"], ["scaled"]),
                          local("Scale", ["scaled"], ["one"], by=2.0),
                          local("Scale", ["one"], ["factor"], by=2.0)],
                         [value("x")], [value("factor"), value("scaled")], [SCALE])
        (y, _), _ = self.run_model(model, x=self.X)
        np.testing.assert_array_equal(y, (-self.X * 2 + 1) * 2 + 1)

    def flow_function(self):
        """f(x, n) = x plus 1 for n times, then relu or not; its bodies read the values around them."""
        then = helper.make_graph([helper.make_node("Relu", ["last"], ["r"])], "then", [],
                                 [value("r", None)])
        other = helper.make_graph([local("Scale", ["last"], ["r"], by=-1.0)], "else", [],
                                  [value("r", None)])
        body = helper.make_graph(
            [helper.make_node("Add", ["v", "one"], ["w"]), helper.make_node("Identity", ["go"], ["goes"])],
            "body", [value("i", (), TensorProto.INT64), value("go", (), TensorProto.BOOL), value("v", None)],
            [value("goes", (), TensorProto.BOOL), value("w", None)])
        return function("Flow", ["x", "n", "c"], ["y"], [
            helper.make_node("Constant", [], ["one"], value_float=1.0),
            helper.make_node("Loop", ["n", "", "x"], ["last"], body=body),
            helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)])

    def test_functions_with_bodies_and_functions_in_bodies(self):
        scalars = [value("n", (), TensorProto.INT64), value("c", (), TensorProto.BOOL)]
        inner = helper.make_graph([local("Flow", ["x", "n", "c"], ["f"])], "then", [], [value("f")])
        other = helper.make_graph([local("Scale", ["x"], ["f"], by=0.5)], "else", [], [value("f")])
        model = model_of([helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other),
                          local("Flow", ["x", "n", "d"], ["z"]), helper.make_node("Not", ["c"], ["d"])],
                         [value("x"), *scalars], [value("y"), value("z")], [SCALE, self.flow_function()])
        for condition in (True, False):
            (y, z), report = self.run_model(model, x=self.X, n=np.int64(2), c=np.bool_(condition))
            relu, scaled = np.maximum(self.X + 2, 0), -(self.X + 2) + 1
            np.testing.assert_array_equal(y, relu if condition else self.X * 0.5 + 1)
            np.testing.assert_array_equal(z, scaled if condition else relu)
        self.assertTrue(any(call["path"] for call in report["inlined"]))

    def refused(self, model, code="INVALID_GRAPH"):
        onnx.save(model, str(self.folder / "model.onnx"))
        return self.refusal(code, "partition", "model.onnx")

    def test_recursion_is_refused(self):
        ping = function("Ping", ["x"], ["y"], [local("Pong", ["x"], ["y"])])
        pong = function("Pong", ["x"], ["y"], [local("Ping", ["x"], ["y"])])
        error = self.refused(model_of([local("Ping", ["x"], ["y"])], [value("x")], [value("y")],
                                      [ping, pong]))
        self.assertIn("cannot be recursive", error)

    def test_exponential_growth_is_refused(self):
        functions = [function("F0", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])])]
        for i in range(1, 60):
            functions.append(function(f"F{i}", ["x"], ["y"], [
                local(f"F{i - 1}", ["x"], ["a"]), local(f"F{i - 1}", ["a"], ["y"])]))
        error = self.refused(model_of([local("F59", ["x"], ["y"])], [value("x")], [value("y")],
                                      functions))
        self.assertIn("would let the model grow by more than", error)

    def test_depth_is_bounded(self):
        functions = [function("F0", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])])]
        for i in range(1, 100):
            functions.append(function(f"F{i}", ["x"], ["y"], [local(f"F{i - 1}", ["x"], ["y"])]))
        error = self.refused(model_of([local("F99", ["x"], ["y"])], [value("x")], [value("y")],
                                      functions))
        self.assertIn("more than 64 deep", error)

    def test_calls_that_make_no_sense_are_refused(self):
        for node, message in [
            (local("Scale", ["x", "x"], ["y"], by=1.0), "is given 2 inputs, but the function has 1"),
            (local("Scale", ["x"], ["y", "z"], by=1.0), "2 outputs are requested"),
            (local("Scale", ["x"], ["y"], by=1), "the call gives with a different type"),
        ]:
            with self.subTest(message):
                error = self.refused(model_of([node], [value("x")], [value("y")], [SCALE]))
                self.assertIn(message, error)
                self.assertIn("call Scale", error)

    def test_operators_that_onnx_defines_by_others(self):
        x = np.random.default_rng(3).standard_normal((2, 3, 4, 4)).astype(np.float32)
        mean, deviation = x.mean((0, 2, 3), keepdims=True), x.std((0, 2, 3), keepdims=True)
        flat = x.reshape(2, -1)
        normal = (x - flat.mean(1).reshape(2, 1, 1, 1)) / np.sqrt(flat.var(1).reshape(2, 1, 1, 1) + 1e-5)
        cases = [
            ("Celu", {"alpha": 2.0}, 12, np.maximum(x, 0) + np.minimum(0, 2 * (np.exp(x / 2) - 1))),
            ("HardSwish", {}, 14, x * np.clip(x / 6 + 0.5, 0, 1)),
            ("MeanVarianceNormalization", {}, 13, (x - mean) / (deviation + 1e-9)),
            ("LogSoftmax", {"axis": 2}, 13, x - np.log(np.exp(x).sum(2, keepdims=True))),
            ("Celu", {}, 17, np.maximum(x, 0) + np.minimum(0, np.exp(x) - 1)),
        ]
        for op, attributes, opset, expected in cases:
            with self.subTest(op, opset=opset):
                model = model_of([helper.make_node(op, ["x"], ["y"], **attributes)],
                                 [value("x", x.shape)], [value("y", x.shape)], opset=opset, others=())
                (y,), report = self.run_model(model, x=x)
                np.testing.assert_allclose(y, expected, 1e-4, 1e-5)
                self.assertEqual(report["inlined"], [])
        model = model_of([helper.make_node("LayerNormalization", ["x", "s"], ["y"], axis=1)],
                         [value("x", x.shape), value("s", x.shape[1:])], [value("y", x.shape)], others=())
        (y,), _ = self.run_model(model, x=x, s=np.full(x.shape[1:], 2, np.float32))
        np.testing.assert_allclose(y, normal * 2, 1e-4, 1e-4)


if __name__ == "__main__":
    unittest.main()
