#!/usr/bin/python3
"""Tests of make_models.py: what it writes, that it is deterministic, and what it refuses."""

import filecmp
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, SCRIPTS)

from models import catalog, reference  # noqa: E402


def make_models(*arguments):
    script = os.path.join(SCRIPTS, "make_models.py")
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=300)


def small_entries():
    return catalog.select(["tiny"] + [entry.name for entry in catalog.CATALOG
                                      if entry.name.startswith("tiny_")])


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(parent, name), folder)
                  for parent, _, names in os.walk(folder) for name in names)


def read_tensor(path):
    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


class MakeModelsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def make(self, folder, *names):
        result = make_models(os.path.join(self.folder, folder), *names)
        self.assertEqual(result.returncode, 0, result.stderr)
        return os.path.join(self.folder, folder)

    def test_two_runs_write_the_same_bytes(self):
        first, second = self.make("first", "tiny"), self.make("second", "tiny")
        names = files_below(first)
        self.assertEqual(names, files_below(second))
        _, different, missing = filecmp.cmpfiles(first, second, names, shallow=False)
        self.assertEqual((different, missing), ([], []))

    def test_a_second_run_leaves_nothing_of_the_first(self):
        folder = self.make("out", "tiny_if")
        stale = os.path.join(folder, "tiny_if", "test_data_set_9")
        os.makedirs(stale)
        self.make("out", "tiny_if")
        self.assertFalse(os.path.exists(stale))

    def test_types_and_shapes_of_every_tiny_model_are_inferred_without_conflict(self):
        for entry in catalog.select(["tiny"]):
            with self.subTest(entry.name):
                onnx.checker.check_model(entry.make().proto, full_check=True)

    def test_expected_outputs_are_finite_and_not_all_equal(self):
        folder = self.make("out", "tiny")
        for name in files_below(folder):
            values = read_tensor(os.path.join(folder, name)) if "output_" in name else np.zeros(0)
            if values.size:
                with self.subTest(name):
                    self.assertTrue(np.isfinite(values).all())
                    self.assertGreater(values.std(), 0.01)

    def test_names_of_nodes_and_of_models_are_unique(self):
        names = [entry.name for entry in catalog.CATALOG]
        self.assertEqual(len(names), len(set(names)))
        for entry in small_entries():
            with self.subTest(entry.name):
                nodes = [node.name for node in entry.make().proto.graph.node]
                self.assertEqual(len(nodes), len(set(nodes)))

    def test_open_models_have_the_weights_and_results_of_the_closed_ones(self):
        closed, opened = catalog.select(["squeezenet", "squeezenet_open"])
        closed, opened = closed.make(), opened.make()
        self.assertEqual(closed.proto.graph.initializer, opened.proto.graph.initializer)
        dims = opened.proto.graph.input[0].type.tensor_type.shape.dim
        self.assertEqual([dim.dim_param for dim in dims], ["batch", "", "height", "width"])
        picture = {"input": np.ones((2, 3, 37, 50), np.float32)}
        self.assertEqual(reference.run(opened.proto, picture)[0].shape, (2, 1000))

    def test_decoder_steps_give_what_one_run_over_all_tokens_gives(self):
        model = catalog.select(["tiny_decoder"])[0].make().proto
        outputs = [declared.name for declared in model.graph.output]
        cache = {name.replace("present", "past"): np.zeros((1, 4, 0, 8), np.float32)
                 for name in outputs[1:]}
        tokens = np.array([[3, 14, 15, 92, 65]])
        whole = reference.run(model, {"input_ids": tokens, **cache})
        for step in ([3, 14], [15], [92, 65]):
            logits, *present = reference.run(model, {"input_ids": np.array([step]), **cache})
            cache = dict(zip(cache, present))
        np.testing.assert_allclose(logits, whole[0][:, 3:], 1e-5, 1e-6)
        for stepped, expected in zip(present, whole[1:]):
            np.testing.assert_allclose(stepped, expected, 1e-5, 1e-6)

    def test_models_that_take_a_size_have_exactly_n_nodes(self):
        for n in (2, 3, 17, 100):
            for entry in filter(lambda entry: entry.nodes, catalog.CATALOG):
                with self.subTest(entry.name, n=n):
                    self.assertEqual(len(entry.make(n).proto.graph.node), n)

    def test_no_outputs_writes_inputs_only(self):
        folder = self.make("out", "tiny_mlp", "--no-outputs")
        self.assertEqual(files_below(folder),
                         ["tiny_mlp/model.onnx", "tiny_mlp/test_data_set_0/input_0.pb"])

    def test_weights_of_tiny_external_lie_in_the_file_beside_it(self):
        folder = os.path.join(self.make("out", "tiny_external"), "tiny_external")
        apart = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
        self.assertTrue(any(tensor.external_data for tensor in apart.graph.initializer))
        whole = onnx.load(os.path.join(folder, "model.onnx"))
        inputs = {"input": read_tensor(os.path.join(folder, "test_data_set_0", "input_0.pb"))}
        expected = read_tensor(os.path.join(folder, "test_data_set_0", "output_0.pb"))
        np.testing.assert_array_equal(reference.run(whole, inputs)[0], expected)

    def test_list_prints_name_group_and_description_of_every_model(self):
        lines = make_models("--list").stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in lines],
                         [[entry.name, entry.group] for entry in catalog.CATALOG])

    def test_refusals_name_what_is_wrong(self):
        for arguments, message in [
            ([], "OUT_DIR is missing"),
            (["tiny_nothing"], "no model or group is called 'tiny_nothing'"),
            (["chain", "-n", "1"], "the smallest size is 2"),
            (["tiny_bert_int3"], "no model or group is called 'tiny_bert_int3'"),
            (["tiny", "-n", "5"], "none of the chosen models takes a size"),
        ]:
            with self.subTest(message):
                out = [os.path.join(self.folder, "out")] if arguments else []
                result = make_models(*out, *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)

    def test_a_folder_that_cannot_be_made_is_named(self):
        blocked = os.path.join(self.folder, "file")
        open(blocked, "w").close()
        result = make_models(blocked, "tiny_mlp")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"make_models: {blocked}", result.stderr)


class ReferenceTest(unittest.TestCase):
    def test_convolution_agrees_with_its_definition(self):
        random = np.random.Generator(np.random.PCG64(1))
        x, w, b = random.random((2, 4, 7, 6)), random.random((6, 2, 3, 2)), random.random(6)
        result = reference.conv(x, w, b, strides=[2, 1], pads=[1, 0, 2, 1], dilations=[2, 1],
                                group=2)
        padded = np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 1)])
        for n, m, row, column in np.ndindex(*result.shape):
            expected = b[m] + sum(
                w[m, c, i, j] * padded[n, m // 3 * 2 + c, row * 2 + i * 2, column + j]
                for c, i, j in np.ndindex(2, 3, 2))
            self.assertAlmostEqual(result[n, m, row, column], expected)
        self.assertEqual(result.shape, (2, 6, 3, 6))

    def test_an_attribute_it_does_not_know_is_an_error(self):
        node = onnx.helper.make_node("Relu", ["x"], ["y"], name="r", slope=2.0)
        graph = onnx.helper.make_graph([node], "g", [], [])
        with self.assertRaises(TypeError) as caught:
            reference.evaluate(graph, reference.Frame({"x": np.ones(1)}, []))
        self.assertIn("while evaluating Relu 'r'", caught.exception.__notes__)


if __name__ == "__main__":
    unittest.main()
