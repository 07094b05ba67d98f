"""Cases of If, Loop and Scan in all opsets from 7 to 17, against numpy."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import CommandLineTest

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)


def value(name, shape=None, element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def constant(name, array):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))


def graph(nodes, inputs, outputs, name="body"):
    return helper.make_graph(nodes, name, inputs, outputs)


class ControlFlowTest(CommandLineTest):
    def check(self, opset, nodes, inputs, outputs, values, expected, flags=()):
        """Runs the model with both providers; `outputs` are value infos, `expected` arrays."""
        model = helper.make_model(graph(nodes, inputs, outputs, "main"), ir_version=8 if opset > 8 else 3,
                                  opset_imports=[helper.make_opsetid("", opset)])
        onnx.checker.check_model(model)
        onnx.save(model, str(self.folder / "model.onnx"))
        arguments = ["run", "model.onnx", *flags, "--output-dir", "out"]
        for name, array in values.items():
            np.save(self.folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}={name}.npy"]
        for providers in ((), ("--ep", "dnnl"), ("--optimization-level", "disable_all")):
            self.ephost(*arguments, *providers)
            for i, array in enumerate(expected):
                found = np.load(self.folder / "out" / f"output_{i}.npy")
                self.assertEqual(found.shape, np.shape(array))
                np.testing.assert_allclose(found, array, 1e-5, 1e-6, err_msg=f"{opset} {providers} {i}")

    def test_if_in_all_opsets_nested_and_with_outer_values(self):
        def nodes():
            inner_then = graph([node("Add", ["h", "x"], ["inner_sum"])], [], [value("inner_sum", [2, 3])])
            inner_else = graph([node("Sub", ["h", "x"], ["inner_difference"])], [],
                               [value("inner_difference", [2, 3])])
            then = graph([node("If", ["d"], ["t"], then_branch=inner_then, else_branch=inner_else),
                          node("Mul", ["t", "x"], ["then_out"])], [], [value("then_out", [2, 3])])
            other = graph([node("Neg", ["h"], ["else_out"])], [], [value("else_out", [2, 3])])
            return [node("Abs", ["x"], ["h"]),
                    node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
        inputs = [value("x", [2, 3]), value("c", [], BOOL), value("d", [], BOOL)]
        for opset in range(7, 18):
            for c in (True, False):
                for d in (True, False):
                    h = np.abs(X)
                    expected = (h + X if d else h - X) * X if c else -h
                    with self.subTest(opset=opset, c=c, d=d):
                        self.check(opset, nodes(), inputs, [value("y", [2, 3])],
                                   {"x": X, "c": np.bool_(c), "d": np.bool_(d)}, [expected])

    def test_if_with_branches_of_different_shapes(self):
        for opset in (7, 11, 13, 16):
            then = graph([node("Identity", ["x"], ["a"])], [], [value("a", ["m", "n"])])
            other = graph([constant("one", np.ones((1, 4), np.float32)), node("Neg", ["one"], ["b"])], [],
                          [value("b", ["m", "n"])])
            nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
            for c, expected in ((True, X), (False, -np.ones((1, 4), np.float32))):
                with self.subTest(opset=opset, c=c):
                    self.check(opset, nodes, [value("x", [2, 3]), value("c", [], BOOL)],
                               [value("y", ["m", "n"])], {"x": X, "c": np.bool_(c)}, [expected])

    def loop(self, opset, with_count=True, with_condition=True):
        """v = v + h while the sum of v is below `limit`; stacks v."""
        # Greater since 7, Less since 7; sums by ReduceMax, which has no other form in these opsets.
        body = graph([node("Add", ["v", "h"], ["w"]), node("ReduceMax", ["w"], ["most"], keepdims=0),
                      node("Less", ["most", "limit"], ["goes"]), node("Identity", ["w"], ["trace"])],
                     [value("i", [], INT64), value("go", [], BOOL), value("v", [2, 3])],
                     [value("goes", [], BOOL), value("w", [2, 3]), value("trace", [2, 3])])
        return [node("Abs", ["x"], ["h"]),
                node("Loop", ["n" if with_count else "", "c" if with_condition else "", "x"], ["y", "all"],
                     body=body)]

    def loop_expected(self, count, condition, limit):
        v, h, trace = X, np.abs(X), []
        while (count is None or len(trace) < count) and condition:
            v = v + h
            trace.append(v)
            condition = v.max() < limit
        return [v, np.array(trace, np.float32).reshape(len(trace), 2, 3)]

    def test_loop_in_all_opsets_with_early_exit_and_no_iteration(self):
        inputs = [value("x", [2, 3]), value("n", [], INT64), value("c", [], BOOL), value("limit", [])]
        outputs = [value("y", [2, 3]), value("all", ["k", 2, 3])]
        for opset in range(7, 18):
            for count, condition, limit in ((4, True, 100), (4, True, 7), (0, True, 7), (5, False, 7)):
                with self.subTest(opset=opset, count=count, condition=condition, limit=limit):
                    self.check(opset, self.loop(opset), inputs, outputs,
                               {"x": X, "n": np.int64(count), "c": np.bool_(condition),
                                "limit": np.float32(limit)},
                               self.loop_expected(count, condition, limit))

    def test_loop_without_count_and_without_condition(self):
        outputs = [value("y", [2, 3]), value("all", ["k", 2, 3])]
        for opset in (7, 11, 13, 16):
            with self.subTest(opset=opset, without="count"):
                self.check(opset, self.loop(opset, with_count=False),
                           [value("x", [2, 3]), value("c", [], BOOL), value("limit", [])], outputs,
                           {"x": X, "c": np.bool_(True), "limit": np.float32(10)},
                           self.loop_expected(None, True, 10))
            with self.subTest(opset=opset, without="condition"):
                self.check(opset, self.loop(opset, with_condition=False),
                           [value("x", [2, 3]), value("n", [], INT64), value("limit", [])], outputs,
                           {"x": X, "n": np.int64(3), "limit": np.float32(100)},
                           self.loop_expected(3, True, 100))

    def test_loop_whose_value_grows_and_swaps(self):
        for opset in (7, 11, 13, 16):
            body = graph([node("Concat", ["a", "x"], ["grown"], axis=0),
                          node("Identity", ["b"], ["b_out"]), node("Identity", ["p"], ["p_out"]),
                          node("Identity", ["go"], ["goes"])],
                         [value("i", [], INT64), value("go", [], BOOL), value("a", ["m", 3]),
                          value("p", [1]), value("b", [1])],
                         [value("goes", [], BOOL), value("grown", ["m2", 3]), value("b_out", [1]),
                          value("p_out", [1])])
            nodes = [node("Loop", ["n", "", "x", "p0", "b0"], ["y", "p1", "b1"], body=body)]
            for count in (0, 1, 3):
                with self.subTest(opset=opset, count=count):
                    p, b = np.float32([1]), np.float32([2])
                    self.check(opset, nodes,
                               [value("x", ["r", 3]), value("n", [], INT64), value("p0", [1]),
                                value("b0", [1])],
                               [value("y", ["k", 3]), value("p1", [1]), value("b1", [1])],
                               {"x": X, "n": np.int64(count), "p0": p, "b0": b},
                               [np.concatenate([X] * (count + 1)), b if count % 2 else p,
                                p if count % 2 else b])

    def test_loop_in_loop_in_if(self):
        for opset in (7, 11, 13, 16):
            inner = graph([node("Add", ["s", "x"], ["s_out"]), node("Identity", ["g"], ["g_out"])],
                          [value("j", [], INT64), value("g", [], BOOL), value("s", [2, 3])],
                          [value("g_out", [], BOOL), value("s_out", [2, 3])])
            # As often as the outer loop has gone round.
            outer = graph([node("Loop", ["i", "", "v"], ["w"], body=inner),
                           node("Identity", ["go"], ["goes"])],
                          [value("i", [], INT64), value("go", [], BOOL), value("v", [2, 3])],
                          [value("goes", [], BOOL), value("w", [2, 3])])
            then = graph([node("Loop", ["n", "", "x"], ["t"], body=outer)], [], [value("t", [2, 3])])
            other = graph([node("Neg", ["x"], ["e"])], [], [value("e", [2, 3])])
            nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
            with self.subTest(opset=opset):
                self.check(opset, nodes, [value("x", [2, 3]), value("n", [], INT64), value("c", [], BOOL)],
                           [value("y", [2, 3])], {"x": X, "n": np.int64(4), "c": np.bool_(True)},
                           [X * (1 + 0 + 1 + 2 + 3)])

    def scan_body(self, width="w"):
        """s' = s + e * k, where k is of the graph around; gives s' and -e."""
        return graph([node("Mul", ["e", "k"], ["scaled"]), node("Add", ["s", "scaled"], ["s_out"]),
                      node("Neg", ["e"], ["negated"]), node("Identity", ["s_out"], ["sums"])],
                     [value("s", [width]), value("e", [width])],
                     [value("s_out", [width]), value("sums", [width]), value("negated", [width])])

    def scan_expected(self, state, sequence, backwards=False):
        sums = []
        for element in sequence[::-1] if backwards else sequence:
            state = state + element * 2
            sums.append(state)
        sums = np.array(sums, np.float32).reshape(len(sums), len(state))
        return state, sums, -(sequence[::-1] if backwards else sequence)

    def test_scan_in_all_opsets_and_over_nothing(self):
        for opset in range(9, 18):
            for backwards in (False, True):
                for length in (0, 1, 4):
                    sequence = np.arange(length * 3, dtype=np.float32).reshape(length, 3) - 3
                    state = np.float32([1, 2, 3])
                    attributes = {"scan_input_directions": [1]} if backwards else {}
                    nodes = [node("Scan", ["s0", "xs"], ["last", "sums", "negated"], num_scan_inputs=1,
                                  body=self.scan_body(), **attributes)]
                    with self.subTest(opset=opset, length=length, backwards=backwards):
                        self.check(opset, nodes, [value("s0", [3]), value("xs", ["t", 3]), value("k", [])],
                                   [value("last", [3]), value("sums", ["t", 3]), value("negated", ["t", 3])],
                                   {"s0": state, "xs": sequence, "k": np.float32(2)},
                                   self.scan_expected(state, sequence, backwards))

    def test_scan_along_another_axis(self):
        sequence = np.arange(12, dtype=np.float32).reshape(3, 4)
        state = np.float32([1, 2, 3])
        last, sums, negated = self.scan_expected(state, sequence.T)
        for opset, axis in ((9, 1), (11, -1), (16, 1)):
            nodes = [node("Scan", ["s0", "xs"], ["last", "sums", "negated"], num_scan_inputs=1,
                          body=self.scan_body(), scan_input_axes=[axis], scan_output_axes=[axis, axis],
                          scan_output_directions=[0, 1])]
            with self.subTest(opset=opset):
                self.check(opset, nodes, [value("s0", [3]), value("xs", [3, "t"]), value("k", [])],
                           [value("last", [3]), value("sums", [3, "t"]), value("negated", [3, "t"])],
                           {"s0": state, "xs": sequence, "k": np.float32(2)},
                           [last, sums.T, negated[::-1].T])

    def test_scan_of_opset_8_takes_batches_with_lengths(self):
        sequence = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
        state = np.float32([[1, 2, 3], [4, 5, 6]])
        for lengths in (None, np.int64([4, 2])):
            inputs = [value("s0", [2, 3]), value("xs", [2, 4, 3]), value("k", [])]
            values = {"s0": state, "xs": sequence, "k": np.float32(2)}
            if lengths is not None:
                inputs.append(value("lengths", [2], INT64))
                values["lengths"] = lengths
            last, sums, negated = [], np.zeros((2, 4, 3), np.float32), np.zeros((2, 4, 3), np.float32)
            for b in range(2):
                used = sequence[b] if lengths is None else sequence[b, :lengths[b]]
                state_b, sums_b, negated_b = self.scan_expected(state[b], used)
                last.append(state_b)
                sums[b, :len(used)], negated[b, :len(used)] = sums_b, negated_b
            nodes = [node("Scan", ["" if lengths is None else "lengths", "s0", "xs"],
                          ["last", "sums", "negated"], num_scan_inputs=1, body=self.scan_body(3))]
            with self.subTest(lengths=lengths):
                self.check(8, nodes, inputs,
                           [value("last", [2, 3]), value("sums", [2, 4, 3]), value("negated", [2, 4, 3])],
                           values, [np.array(last), sums, negated])


if __name__ == "__main__":
    unittest.main()
