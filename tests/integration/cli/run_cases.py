"""Cases of `ephost run`."""

import ctypes.util
import os
import pathlib
import subprocess
import unittest

import numpy as np
import onnx
from onnx import OptionalProto, SequenceProto, TensorProto, helper, numpy_helper

from command_line import EPHOST, CommandLineTest, TINY_MODELS, tiny


def read_tensor(path):
    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def test_data(model, name):
    return TINY_MODELS / model / "test_data_set_0" / name


class RunTest(CommandLineTest):
    def assert_expected(self, model, path):
        found = np.load(path) if path.suffix == ".npy" else read_tensor(path)
        np.testing.assert_allclose(found, read_tensor(test_data(model, "output_0.pb")), 1e-3, 1e-5)

    def test_gives_the_expected_outputs(self):
        for providers in ((), ("--ep", "dnnl")):
            with self.subTest(providers):
                self.ephost("run", tiny("tiny_cnn"), *providers, "--output", "logits=out.npy",
                            "--input", f"input={test_data('tiny_cnn', 'input_0.pb')}")
                self.assert_expected("tiny_cnn", self.folder / "out.npy")

    def test_reads_npy_and_raw_inputs(self):
        data = read_tensor(test_data("tiny_mlp", "input_0.pb"))
        np.save(self.folder / "x.npy", data)
        data.tofile(self.folder / "x.raw")
        for file in ("x.npy", "x.raw"):
            with self.subTest(file):
                self.ephost("run", tiny("tiny_mlp"), "--input", f"input={file}", "--output-dir", "out")
                self.assert_expected("tiny_mlp", self.folder / "out" / "output_0.npy")

    def test_writes_each_format(self):
        arguments = ("run", tiny("tiny_mlp"), "--input",
                     f"input={test_data('tiny_mlp', 'input_0.pb')}")
        self.ephost(*arguments, *(word for kind in ("pb", "npy", "raw")
                                  for word in ("-o", f"probabilities=out.{kind}")))
        self.assert_expected("tiny_mlp", self.folder / "out.pb")
        self.assert_expected("tiny_mlp", self.folder / "out.npy")
        raw = np.fromfile(self.folder / "out.raw", np.float32)
        np.testing.assert_array_equal(raw, np.load(self.folder / "out.npy").ravel())

    def test_sums_up_the_outputs(self):
        output, = self.json("run", tiny("tiny_mlp"), "--input", "input=random:3")["outputs"]
        self.assertEqual((output["name"], output["type"], output["shape"]),
                         ("probabilities", "float", [4, 10]))
        self.assertAlmostEqual(output["mean"], 0.1, places=5)
        self.assertLessEqual(0, output["min"])
        self.assertEqual(len(output["first"]), 8)
        self.assertRegex(self.ephost("run", tiny("tiny_mlp")).stdout,
                         r"(?m)^probabilities +float\[4,10\] +\S+ +\S+ +0\.1 ")

    def test_random_inputs_are_the_same_every_time(self):
        def first(*arguments):
            return self.json("run", tiny("tiny_mlp"), *arguments)["outputs"][0]["first"]
        self.assertEqual(first(), first())
        self.assertEqual(first("--input", "input=random:1"), first("--input", "input=random:1"))
        self.assertNotEqual(first("--input", "input=random:1"), first("--input", "input=random:2"))
        self.assertNotEqual(first(), first("--input", "input=zeros"))

    def test_repeats(self):
        self.assertEqual(len(self.json("run", tiny("tiny_mlp"), "--repeat", 3)["run_seconds"]), 3)

    def test_fixes_open_dimensions(self):
        symbol = onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim[0].dim_param
        output = self.json("run", tiny("tiny_dynamic"), "--dim", f"{symbol}=3")["outputs"][0]
        self.assertEqual(output["shape"][0], 3)
        shape = [dim.dim_value or 2
                 for dim in onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim]
        output = self.json("run", tiny("tiny_dynamic"), "--shape",
                           "input=" + ",".join(map(str, shape)))["outputs"][0]
        self.assertEqual(output["shape"][0], 2)
        error = self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_dynamic"))
        self.assertIn(f"--dim {symbol}=N", error)

    def test_specialises_open_dimensions(self):
        symbol = onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim[0].dim_param
        shape = [dim.dim_value or 2
                 for dim in onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim]
        arguments = ("tiny_dynamic", "--ep", "dnnl", "--shape", "input=" + ",".join(map(str, shape)))
        report = self.json("run", tiny(arguments[0]), *arguments[1:], "--repeat", 3)
        (one,) = report["specializations"]
        self.assertEqual(one["state"], "ready")
        self.assertEqual(one["extents"][symbol], 2)
        self.assertEqual(one["runs"], 2)
        report = self.json("run", tiny("tiny_dynamic"), "--shape", arguments[4], "--repeat", 3)
        self.assertEqual(report["specializations"], [])
        profile = ",".join(f"{name}={extent}" for name, extent in one["extents"].items())
        report = self.json("run", tiny(arguments[0]), *arguments[1:], "--shape-profile", profile)
        self.assertEqual(report["specializations"][0]["runs"], 1)
        text = self.ephost("run", tiny(arguments[0]), *arguments[1:], "--repeat", 2).stdout
        self.assertIn("specialised for ", text)
        self.assertIn("is not an extent of a profile", self.refusal(
            "INVALID_ARGUMENT", "run", tiny("tiny_dynamic"), "--shape-profile", f"{symbol}=0"))

    def test_tells_what_the_model_states_about_itself(self):
        model = onnx.load(tiny("tiny_mlp"))
        model.producer_name, model.model_version, model.graph.doc_string = "trainer", 7, "line\nbreak"
        model.metadata_props.add(key="author", value="Ada")
        self.folder.joinpath("model.onnx").write_bytes(model.SerializeToString())
        metadata = self.json("run", "model.onnx")["metadata"]
        self.assertEqual(metadata["producer_name"], "trainer")
        self.assertEqual(metadata["graph_name"], model.graph.name)
        self.assertEqual(metadata["version"], 7)
        self.assertEqual(metadata["graph_description"], "line\nbreak")
        self.assertEqual(metadata["custom_metadata_map"], {"author": "Ada"})
        self.assertRegex(self.ephost("run", "model.onnx", "--verbose").stdout,
                         r'(?m)^model: graph ".*", producer "trainer", version 7, .*, "author": "Ada"$')

    def test_saves_the_optimized_model_as_valid_onnx(self):
        for name in ("tiny_cnn", "tiny_dynamic", "tiny_residual", "tiny_diamond"):
            with self.subTest(name):
                symbols = {dim.dim_param for value in onnx.load(tiny(name)).graph.input
                           for dim in value.type.tensor_type.shape.dim if dim.dim_param}
                dims = [argument for symbol in symbols for argument in ("--dim", f"{symbol}=2")]
                before = self.json("run", tiny(name), *dims, "--optimized-model", "optimized.onnx")
                onnx.checker.check_model(str(self.folder / "optimized.onnx"), full_check=True)
                after = self.json("run", "optimized.onnx")
                for one, other in zip(before["outputs"], after["outputs"], strict=True):
                    np.testing.assert_allclose(one["first"], other["first"], 1e-4, 1e-5)
        model = self.copy_model("tiny_cnn")
        content = model.read_bytes()
        self.assertIn("the optimized model", self.refusal(
            "INVALID_ARGUMENT", "run", model, "--optimized-model", model))
        self.assertEqual(model.read_bytes(), content)

    def test_names_of_dimensions_and_their_sizes_are_checked(self):
        symbol = onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim[0].dim_param
        warned = self.ephost("run", tiny("tiny_dynamic"), "--dim", f"{symbol}=2", "--dim", f"{symbol}x=2",
                             "--dim-denotation", "DATA_BATCH=2").stderr
        self.assertIn(f'no dimension "{symbol}x"', warned)
        self.assertIn(f'did you mean "{symbol}"?', warned)
        self.assertIn('the denotation "data_batch"', warned)
        self.assertIn("the sizes 2 and 3", self.refusal(
            "INVALID_ARGUMENT", "run", tiny("tiny_dynamic"), "--dim", f"{symbol}=2", "--dim", f"{symbol}=3"))
        for size in ["-1", "x", ""]:
            with self.subTest(size):
                self.assertIn("is not of the form NAME=SIZE", self.refusal(
                    "INVALID_ARGUMENT", "run", tiny("tiny_dynamic"), "--dim", f"{symbol}={size}", status=2))

    def test_sequences_go_in_and_out_as_messages(self):
        """Appends a tensor to an optional sequence, where there is one."""
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
        optional = helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor))
        nodes = [helper.make_node("OptionalGetElement", ["s"], ["t"]),
                 helper.make_node("SequenceInsert", ["t", "x"], ["y"])]
        graph = helper.make_graph(nodes, "g", [helper.make_value_info("s", optional),
                                               helper.make_value_info("x", tensor)],
                                  [helper.make_value_info("y", helper.make_sequence_type_proto(tensor))])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
        model.ir_version = 8
        self.folder.joinpath("model.onnx").write_bytes(model.SerializeToString())
        given = OptionalProto(elem_type=OptionalProto.SEQUENCE)
        given.sequence_value.elem_type = SequenceProto.TENSOR
        given.sequence_value.tensor_values.append(numpy_helper.from_array(np.float32([1, 2])))
        self.folder.joinpath("s.pb").write_bytes(given.SerializeToString())
        result = self.json("run", "model.onnx", "--input", "s=s.pb", "--output", "y=y.pb")
        output = result["outputs"][0]
        self.assertEqual(output["type"], "sequence")
        self.assertEqual(output["elements"][0]["first"], [1, 2])
        self.assertEqual(len(output["elements"]), 2)
        written = SequenceProto()
        written.ParseFromString(self.folder.joinpath("y.pb").read_bytes())
        self.assertEqual(numpy_helper.to_array(written.tensor_values[0]).tolist(), [1, 2])
        self.assertIn("seq(float) of 2", self.ephost("run", "model.onnx", "--input", "s=s.pb").stdout)
        self.assertIn("the optional has no element",
                      self.refusal("INVALID_ARGUMENT", "run", "model.onnx"))
        self.assertIn("can hold a tensor only", self.refusal(
            "INVALID_ARGUMENT", "run", "model.onnx", "--input", "s=s.pb", "--output", "y=y.npy"))

    def test_refusals_name_what_is_wrong(self):
        model = tiny("tiny_mlp")
        raw = self.write("short.raw", "abc")
        for code, arguments, message in [
            ("INVALID_ARGUMENT", ("--input", "inputs=zeros"), "did you mean \"input\"?"),
            ("INVALID_ARGUMENT", ("--output", "logits=x.npy"), "no output \"logits\""),
            ("INVALID_ARGUMENT", ("--output", "probabilities=x.txt"), "use .pb, .npy"),
            ("INVALID_ARGUMENT", ("--input", f"input={raw}"), "has 3 bytes, and float[4,16] needs 256"),
            ("INVALID_ARGUMENT", ("--input", "input=x.jpg"), "not a tensor format"),
            ("INVALID_ARGUMENT", ("--input", "input=random:x"), "is not a number"),
            ("INVALID_ARGUMENT", ("--shape", "input=4,x"), "is not an extent"),
            ("INVALID_ARGUMENT", ("--shape", "input=4,17"), "input"),
            ("NO_SUCHFILE", ("--input", "input=absent.npy"), "absent.npy"),
            ("NO_SUCHFILE", ("--selection", "absent.yaml"), "absent.yaml"),
        ]:
            with self.subTest(arguments):
                self.assertIn(message, self.refusal(code, "run", model, *arguments))

    def test_outputs_are_checked_before_the_model_is_run(self):
        self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_mlp"), "--output", "nothing=x.npy",
                     "--output-dir", "out")
        self.assertFalse((self.folder / "out").exists())


JEMALLOC = ctypes.util.find_library("jemalloc")
IS_SANITIZED = b"__asan_init" in pathlib.Path(EPHOST).read_bytes() or \
    b"__tsan_init" in pathlib.Path(EPHOST).read_bytes()


class AllocatorTest(CommandLineTest):
    @unittest.skipUnless(JEMALLOC, "needs libjemalloc2")
    @unittest.skipIf(IS_SANITIZED, "a sanitizer has an allocator of its own")
    def test_runs_with_another_allocator(self):
        for command in ("run", "bench"):
            subprocess.run([EPHOST, command, tiny("tiny_cnn"), "--ep", "dnnl"], check=True,
                           capture_output=True, env={**os.environ, "LD_PRELOAD": JEMALLOC}, timeout=120)


class RunFlagsTest(CommandLineTest):
    def test_takes_options_for_runs(self):
        for command in ("run", "bench"):
            with self.subTest(command):
                refused = self.ephost(command, tiny("tiny_mlp"), "--run-option", "cpu:speed=1",
                                      status=2)
                self.assertIn('option "speed" of CPUExecutionProvider: it is not known; the '
                              "provider has no options with the scope run", refused.stderr)
                late = self.ephost(command, tiny("tiny_mlp"), "--deadline", 0, status=124)
                self.assertIn("the deadline of the run passed before step 0", late.stderr)
                usage = self.ephost(command, tiny("tiny_mlp"), "--run-option", "speed=1", status=2)
                self.assertIn("is not of the form NAME:KEY=VALUE", usage.stderr)

    def test_keeps_nan_unless_it_is_left_to_the_library(self):
        def info(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, 2, 2])

        weights = numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "w")
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
                                  "nan", [info("x")], [info("y")], [weights])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  self.folder / "nan.onnx")
        np.save(self.folder / "x.npy", np.array([[[[np.nan, -1], [2, 3]]]], np.float32))
        for flags, first in (((), np.nan), (("--config", "session.nan=propagate"), np.nan),
                             (("--config", "session.nan=library"), 0),
                             (("--config", "session.nan=library", "--ep-option", "dnnl:nan=propagate"), np.nan)):
            with self.subTest(flags):
                self.ephost("run", "nan.onnx", "--ep", "dnnl", "--input", "x=x.npy", "-o", "y=y.npy", *flags)
                np.testing.assert_array_equal(np.load(self.folder / "y.npy").ravel(), [first, 0, 2, 3])
        self.ephost("run", "nan.onnx", "--config", "session.nan=library")  # the CPU provider has no such option

    def test_names_runs_in_the_profile(self):
        self.ephost("run", tiny("tiny_mlp"), "--tag", "frame 17", "--deadline", 3600, "--profile",
                    "trace.json")
        self.assertIn('"tag":"frame 17"', (self.folder / "trace.json").read_text())


if __name__ == "__main__":
    unittest.main()
