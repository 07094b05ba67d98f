"""Commands never write over a file that they read, nor over one that they do not know as their own."""

import os
import subprocess
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import EPHOST, CommandLineTest


def matmul(weights_name="w"):
    """y = x * w, with 16 x 16 weights."""
    weights = numpy.arange(256, dtype=numpy.float32).reshape(16, 16) / 256
    return helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["x", weights_name], ["y"], name="m")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 16])],
            [numpy_helper.from_array(weights, weights_name)]),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class OverwriteTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "m.onnx"

    def save(self, location, model="m.onnx"):
        """The model with its weights in the file `location`; returns the path of that file."""
        onnx.save(matmul(), str(self.folder / model), save_as_external_data=True, location=location,
                  size_threshold=0)
        return self.folder / location

    def state(self):
        return {str(path.relative_to(self.folder)): path.read_bytes()
                for path in self.folder.rglob("*") if path.is_file()}

    def assert_refused(self, *arguments, code="INVALID_ARGUMENT", says="would overwrite"):
        """The command fails with this error, and changes no file."""
        before = self.state()
        error = self.refusal(code, *arguments)
        self.assertIn(says, error)
        self.assertEqual(self.state(), before)
        return error

    # No output may be an input

    def test_compile_keeps_external_data_that_has_the_name_of_a_binary(self):
        self.save("m_dnnl.bin")
        self.assert_refused("compile", self.model, "-e", "dnnl")
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force")

    def test_compile_keeps_external_data_behind_a_link(self):
        weights = self.save("weights")
        os.link(weights, self.folder / "m_dnnl.bin")
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force")
        (self.folder / "m_dnnl.bin").unlink()
        (self.folder / "m_dnnl.bin").symlink_to(weights)
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force")

    def test_compile_keeps_external_data_that_is_given_as_output(self):
        weights = self.save("weights.onnx")
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force", "-o", weights)
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force",
                            "--external-initializers", "weights.onnx")
        self.assert_refused("compile", self.model, "-e", "dnnl", "--force", "-o", self.model)

    def test_compile_keeps_external_data_in_another_folder(self):
        data = self.folder / "data"
        data.mkdir()
        self.save("m_dnnl.bin", "data/other.onnx")
        onnx.save(matmul(), str(self.model), save_as_external_data=True, location="m_dnnl.bin",
                  size_threshold=0)
        (self.folder / "data/m_dnnl.bin").write_bytes((self.folder / "m_dnnl.bin").read_bytes())
        (self.folder / "m_dnnl.bin").unlink()
        self.assert_refused(
            "compile", self.model, "-e", "dnnl", "--force", "-o", data / "m_ctx.onnx", "--config",
            f"session.model_external_initializers_file_folder_path={data}")

    def test_compile_keeps_external_data_of_a_body(self):
        then = helper.make_graph(
            [helper.make_node("Identity", ["w"], ["z"])], "then", [],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4])],
            [numpy_helper.from_array(numpy.ones(4, numpy.float32), "w")])
        other = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["z"])], "else", [],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4])])
        graph = helper.make_graph(
            [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)], "g",
            [helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        tensor, = [attribute.g.initializer[0] for attribute in model.graph.node[0].attribute
                   if attribute.name == "then_branch"]
        (self.folder / "m_ctx.onnx").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "m_ctx.onnx"
        self.model.write_bytes(model.SerializeToString())
        self.assert_refused("compile", self.model, "--force")

    def test_compile_keeps_the_file_behind_standard_input(self):
        self.model.write_bytes(matmul().SerializeToString())
        before = self.state()
        with self.model.open("rb") as stream:
            result = subprocess.run(
                [EPHOST, "compile", "-", "-e", "dnnl", "--force", "-o", self.model], stdin=stream,
                cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertIn("would overwrite", result.stderr)
        self.assertEqual(self.state(), before)

    def test_compile_does_not_append_to_the_model_that_it_reads(self):
        self.model.write_bytes(matmul().SerializeToString())
        before = self.state()
        with self.model.open("ab") as stream:
            result = subprocess.run([EPHOST, "compile", self.model, "-e", "dnnl", "--embed", "-o", "-"],
                                    stdout=stream, stderr=subprocess.PIPE, cwd=self.folder, text=True,
                                    timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertIn("would overwrite", result.stderr)
        self.assertEqual(self.state(), before)

    def test_a_profile_keeps_what_the_session_reads(self):
        weights = self.save("weights")
        selection = self.write("selection.yaml", "selection: 1\nproviders:\n  - cpu\n")
        value = self.folder / "x.npy"
        numpy.save(value, numpy.ones((2, 16), numpy.float32))
        link = self.folder / "link.json"
        link.symlink_to(weights)
        for file in (self.model, weights, link, value):
            self.assert_refused("run", self.model, "--input", f"x={value}", "--profile", file)
        self.assert_refused("run", self.model, "--selection", selection, "--profile", selection)
        self.assert_refused("bench", self.model, "--sessions", 1, "--runs", 1, "--profile", weights)
        self.assert_refused("compile", self.model, "-e", "dnnl", "--profile", weights)

    def test_a_profile_is_no_context_model(self):
        self.save("weights")
        for file in ("m_ctx.onnx", "m_dnnl.bin"):
            self.assert_refused("compile", self.model, "-e", "dnnl", "--profile", self.folder / file,
                                says="are the same file")

    def test_a_profile_keeps_the_binaries_of_a_context_model(self):
        self.save("weights")
        self.ephost("compile", self.model, "-e", "dnnl")
        self.assert_refused("run", self.folder / "m_ctx.onnx", "-e", "dnnl", "--profile",
                            self.folder / "m_dnnl.bin")

    def test_run_keeps_what_it_reads(self):
        weights = self.save("weights.bin")
        value = self.folder / "output_0.npy"
        numpy.save(value, numpy.ones((2, 16), numpy.float32))
        given = ("run", self.model, "--input", f"x={value}")
        self.assert_refused(*given, "-o", f"y={weights}")
        self.assert_refused(*given, "-o", f"y={value}")
        self.assert_refused(*given, "--output-dir", self.folder)
        self.assert_refused(*given, "-o", f"y={self.folder / 'new.npy'}", "--profile",
                            self.folder / "new.npy", says="are the same file")
        self.assert_refused(*given, "-o", f"y={weights}", "--config", "ep.context_enable=1", "-e", "dnnl")

    def test_run_replaces_its_own_output(self):
        self.save("weights")
        for _ in range(2):
            self.ephost("run", self.model, "-o", f"y={self.folder / 'y.npy'}", "--output-dir",
                        self.folder / "all")

    def test_partition_and_plan_keep_what_they_read(self):
        weights = self.save("weights")
        for file in (self.model, weights):
            self.assert_refused("partition", self.model, "-o", file)
            self.assert_refused("plan", self.model, "-o", file)
            self.assert_refused("plan", self.model, "--html", file)
        page = self.folder / "page.html"
        self.assert_refused("plan", self.model, "-o", page, "--html", page, says="are the same file")

    def test_plan_keeps_the_buffers_that_it_places(self):
        buffers = self.write("buffers.csv", "id,lower,upper,size\na,0,2,4\n")
        self.assert_refused("plan", "--buffers", buffers, "-o", buffers)
        self.assert_refused("plan", "--buffers", buffers, "--html", buffers)

    def test_shared_binaries_keep_the_data_of_every_model(self):
        self.save("m_dnnl.bin", "n.onnx")
        self.model.write_bytes(matmul().SerializeToString())
        models = f"{self.model},{self.folder / 'n.onnx'}"
        self.assert_refused("compile", "--share-weights", "-e", "dnnl", "--force", models)

    def test_context_models_of_a_group_keep_every_model(self):
        self.model.write_bytes(matmul().SerializeToString())
        (self.folder / "m_ctx.onnx").write_bytes(matmul().SerializeToString())
        models = f"{self.model},{self.folder / 'm_ctx.onnx'}"
        self.assert_refused("compile", "--share-weights", "-e", "dnnl", "--force", models)

    # What is not known as a context output is kept

    def test_compile_keeps_files_that_it_did_not_write_unless_forced(self):
        self.model.write_bytes(matmul().SerializeToString())
        for name in ("m_ctx.onnx", "m_dnnl.bin"):
            with self.subTest(name):
                file = self.write(name, "precious")
                error = self.assert_refused("compile", self.model, "-e", "dnnl", code="FAIL",
                                            says="exists already")
                self.assertIn("--force", error)
                self.ephost("compile", self.model, "-e", "dnnl", "--force")
                self.assertNotEqual(file.read_bytes(), b"precious")
                for written in ("m_ctx.onnx", "m_dnnl.bin"):
                    (self.folder / written).unlink()

    def test_compile_keeps_another_model(self):
        self.model.write_bytes(matmul().SerializeToString())
        (self.folder / "m_ctx.onnx").write_bytes(matmul().SerializeToString())
        self.assert_refused("compile", self.model, "-e", "dnnl", code="FAIL",
                            says="is not a context model")

    def test_compile_replaces_its_own_output_after_a_change(self):
        self.model.write_bytes(matmul().SerializeToString())
        self.ephost("compile", self.model, "-e", "dnnl")
        before = (self.folder / "m_dnnl.bin").read_bytes()
        self.model.write_bytes(matmul("other").SerializeToString())
        model = matmul()
        model.graph.initializer[0].CopyFrom(
            numpy_helper.from_array(numpy.ones((16, 16), numpy.float32), "w"))
        self.model.write_bytes(model.SerializeToString())
        self.ephost("compile", self.model, "-e", "dnnl")
        self.assertNotEqual((self.folder / "m_dnnl.bin").read_bytes(), before)
        self.assertTrue(self.json("verify", self.folder / "m_ctx.onnx")["ok"])

    def test_a_group_replaces_its_output_only_if_forced(self):
        self.model.write_bytes(matmul().SerializeToString())
        (self.folder / "n.onnx").write_bytes(matmul().SerializeToString())
        models = f"{self.model},{self.folder / 'n.onnx'}"
        self.ephost("compile", "--share-weights", "-e", "dnnl", models)
        self.assert_refused("compile", "--share-weights", "-e", "dnnl", models, code="FAIL",
                            says="exists already")
        self.ephost("compile", "--share-weights", "-e", "dnnl", "--force", models)

    def test_force_and_error_if_exists_exclude_each_other(self):
        self.model.write_bytes(matmul().SerializeToString())
        self.ephost("compile", self.model, "--force", "--error-if-exists", status=2)


if __name__ == "__main__":
    unittest.main()
