"""Cases of `ep_weight_sharing_ctx_gen` and `ephost compile --share-weights`."""

import pathlib
import shutil
import unittest

from command_line import EPHOST, CommandLineTest, tiny

TOOL = pathlib.Path(EPHOST).parent / "ep_weight_sharing_ctx_gen"


class WeightSharingTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        for name in ("tiny_cnn", "tiny_quick"):
            shutil.copy(tiny(name), self.folder / f"{name}.onnx")
        self.models = "tiny_cnn.onnx,tiny_quick.onnx"

    def expect_group(self, report):
        self.assertEqual([model["path"] for model in report["models"]],
                         ["tiny_cnn_ctx.onnx", "tiny_quick_ctx.onnx"])
        self.assertEqual(list(report["binaries"]), ["tiny_cnn_dnnl.bin"])
        names = [name for model in report["models"] for name in model["partitions"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["tiny_cnn.onnx", "tiny_cnn_ctx.onnx", "tiny_cnn_dnnl.bin",
                          "tiny_quick.onnx", "tiny_quick_ctx.onnx"])
        for model in report["models"]:
            self.ephost("verify", model["path"])
            self.ephost("run", model["path"], "--ep", "dnnl")

    def test_the_tool_accepts_onnx_runtimes_command_line(self):
        self.expect_group(self.json("-e", "dnnl", "-i", "num_threads|1", self.models, program=TOOL))

    def test_compile_shares_weights(self):
        self.expect_group(self.json("compile", "--share-weights", "-e", "dnnl", "-i",
                                    "num_threads|1", self.models))

    def test_lists_the_written_files(self):
        table = self.ephost("-e", "dnnl", self.models, program=TOOL).stdout
        self.assertRegex(table, r"(?m)^tiny_quick_ctx\.onnx +.* tiny_cnn_dnnl\.bin$")
        self.assertRegex(table, r"(?m)^tiny_cnn_dnnl\.bin +[0-9.]+ [KM]iB$")
        self.assertIn("2 models compiled", table)

    def test_refuses_invalid_arguments_and_missing_models(self):
        for arguments in (("-i", "num_threads", self.models), ("-i", "|1", self.models),
                          ("tiny_cnn.onnx,,tiny_quick.onnx",), ("",)):
            self.refusal("INVALID_ARGUMENT", "-e", "dnnl", *arguments, program=TOOL)
        self.refusal("INVALID_ARGUMENT", self.models, program=TOOL, status=2)
        self.refusal("NO_SUCHFILE", "-e", "dnnl", "tiny_cnn.onnx,absent.onnx", program=TOOL)
        self.refusal("INVALID_ARGUMENT", "-e", "dnnl", "tiny_cnn.onnx,tiny_cnn.onnx", program=TOOL)
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_keeps_existing_outputs(self):
        self.write("tiny_quick_ctx.onnx", "mine")
        error = self.refusal("FAIL", "-e", "dnnl", self.models, program=TOOL)
        self.assertIn("tiny_quick_ctx.onnx", error)
        self.assertEqual((self.folder / "tiny_quick_ctx.onnx").read_text(), "mine")
        self.assertFalse((self.folder / "tiny_cnn_ctx.onnx").exists())


if __name__ == "__main__":
    unittest.main()
