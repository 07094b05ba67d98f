"""Cases of `ephost compile`."""

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


if __name__ == "__main__":
    unittest.main()
