"""Cases of `ephost compile`."""

import shutil
import unittest

import onnx

from command_line import CommandLineTest


class CompileTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.copy_model("tiny_cnn")
        self.output = self.model.with_name("model_ctx.onnx")

    def compile(self, *arguments, **options):
        return self.json("compile", self.model, "--ep", "dnnl", *arguments, **options)

    def outputs(self, model):
        return [output["first"] for output in
                self.json("run", model, "--ep", "dnnl")["outputs"]]

    def test_writes_a_context_model_beside_the_model(self):
        report = self.compile()
        self.assertEqual(report["output"], str(self.output))
        self.assertGreater(len(report["partitions"]), 0)
        for file in report["files"]:
            self.assertEqual((self.folder / file["path"]).stat().st_size, file["bytes"])
        self.assertEqual(len(report["files"]), 2)
        onnx.checker.check_model(str(self.output))
        self.assertEqual(self.outputs(self.output), self.outputs(self.model))

    def test_a_table_names_partitions_and_files(self):
        table = self.ephost("compile", self.model, "--ep", "dnnl").stdout
        self.assertIn("DnnlExecutionProvider", table)
        self.assertIn(str(self.output), table)

    def test_compares_what_is_written_twice(self):
        report = self.compile("--check-deterministic")
        self.assertEqual(report["deterministic"], ["DnnlExecutionProvider"])
        table = self.ephost("compile", self.model, "--ep", "dnnl", "--check-deterministic").stdout
        self.assertIn("the same in two compilations: DnnlExecutionProvider\n", table)
        self.assertEqual(self.compile()["deterministic"], [])

    def test_embeds_the_payload(self):
        report = self.compile("--embed", "-o", self.folder / "one.onnx")
        self.assertEqual([file["path"] for file in report["files"]], [str(self.folder / "one.onnx")])
        self.assertEqual(self.outputs(self.folder / "one.onnx"), self.outputs(self.model))

    def test_puts_initializers_into_a_file(self):
        report = self.compile("--external-initializers", "weights.bin")
        names = [file["path"].rsplit("/", 1)[-1] for file in report["files"]]
        model = onnx.load(str(self.output), load_external_data=False)
        kept = [tensor for tensor in model.graph.initializer if not tensor.external_data]
        self.assertEqual("weights.bin" in names, len(model.graph.initializer) > len(kept))

    def test_replaces_the_output_unless_told_not_to(self):
        self.compile()
        before = self.output.read_bytes()
        self.compile()
        self.assertEqual(self.output.read_bytes(), before)
        error = self.refusal("FAIL", "compile", self.model, "--ep", "dnnl", "--error-if-exists")
        self.assertIn("model_ctx.onnx", error)

    def test_writes_the_plain_model_if_nothing_is_compiled(self):
        report = self.json("compile", self.model)
        self.assertEqual(report["partitions"], [])
        self.assertGreater(report["remaining_nodes"], 0)
        self.output.unlink()
        self.refusal("FAIL", "compile", self.model, "--error-if-nothing-compiled")
        self.assertFalse(self.output.exists())

    def test_refuses_a_context_model(self):
        self.compile()
        error = self.refusal("INVALID_GRAPH", "compile", self.output, "--ep", "dnnl")
        self.assertIn("EPContext", error)

    def test_puts_the_prefix_before_names(self):
        self.compile("--config", "ep.context_node_name_prefix=first_")
        model = onnx.load(str(self.output))
        names = [node.name for node in model.graph.node if node.op_type == "EPContext"]
        self.assertTrue(names)
        self.assertTrue(all(name.startswith("first_") for name in names), names)


class OpenShapesTest(CommandLineTest):
    """`compile` and `test` say the same of a provider that takes nothing of a model with open shapes."""

    NOTE = "DnnlExecutionProvider takes nothing unless shapes are fixed: --dim or --shape-profile"

    def setUp(self):
        super().setUp()
        model = self.copy_model("tiny_dynamic")
        self.folder_of_test = model.parent
        first, *others = sorted(model.parent.glob("test_data_set_*"))
        for other in others:
            shutil.rmtree(other)
        tensor = onnx.TensorProto.FromString((first / "input_0.pb").read_bytes())
        self.batch = f"batch={tensor.dims[0]}"
        self.compile = ("compile", model, "--ep", "dnnl", "-o", "open_ctx.onnx", "--force")
        self.test = ("test", model.parent, "--ep", "dnnl", "--atol", "1e-4")

    def test_is_a_note_and_a_status_of_its_own(self):
        for command in (self.compile, self.test):
            with self.subTest(command[0]):
                self.assertEqual(self.json(*command, status=7)["notes"], [self.NOTE])
                done = self.ephost(*command, status=7)
                self.assertIn(f"\nnote: {self.NOTE}\n", done.stdout)
                self.assertEqual(done.stderr, "")
        self.assertEqual(self.ephost(*self.compile, "--quiet", status=7).stdout, "")

    def test_says_nothing_once_shapes_are_fixed(self):
        for command in (self.compile, self.test):
            for fixed in (("--dim", self.batch), ("--shape-profile", self.batch)):
                with self.subTest(command=command[0], fixed=fixed):
                    self.assertEqual(self.json(*command, *fixed)["notes"], [])
        self.assertGreater(self.json(*self.test, "--shape-profile", self.batch)["nodes"]["DnnlExecutionProvider"], 0)

    def test_a_store_does_not_change_that(self):
        for _ in range(2):
            self.assertEqual(self.json(*self.compile, "--cache-dir", "store", status=7)["notes"], [self.NOTE])

    def test_a_provider_that_nobody_asks_for_is_no_note(self):
        self.assertEqual(self.json("compile", self.folder_of_test / "model.onnx", "-o", "open_ctx.onnx")["notes"], [])
        self.assertEqual(self.json("test", self.folder_of_test)["notes"], [])


if __name__ == "__main__":
    unittest.main()
