"""Cases of `ephost verify`."""

import shutil
import unittest

import onnx

from command_line import CommandLineTest, PLUGINS, tiny


class VerifyTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model_ctx.onnx"
        report = self.json("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", self.model)
        self.binary, = [file["path"] for file in report["files"] if file["path"].endswith(".bin")]

    def test_a_fresh_context_model_is_sound(self):
        report = self.json("verify", self.model)
        self.assertTrue(report["ok"])
        self.assertEqual(report["problems"], [])
        self.assertTrue(report["nodes"][0]["main_context"])
        self.assertEqual({node["checksum"] for node in report["nodes"]}, {"ok"})
        source, = report["sources"]
        self.assertEqual((source["provider"], source["verdict"]), ("DnnlExecutionProvider", "optimal"))
        self.assertIn("sound", self.ephost("verify", self.model).stdout)

    def test_finds_a_flipped_bit(self):
        with open(self.binary, "r+b") as file:
            file.seek(-1, 2)
            byte = file.read(1)
            file.seek(-1, 2)
            file.write(bytes([byte[0] ^ 1]))
        report = self.json("verify", self.model, status=1)
        self.assertFalse(report["ok"])
        self.assertEqual(report["nodes"][0]["checksum"], "mismatch")
        self.refusal("INVALID_GRAPH", "verify", self.model)
        self.refusal("INVALID_GRAPH", "run", self.model, "--ep", "dnnl")

    def strip(self, producer):
        """Takes away what the model states of itself."""
        model = onnx.load(str(self.model))
        del model.metadata_props[:]
        model.producer_name = producer
        onnx.save(model, str(self.model))

    def test_tells_a_missing_checksum_by_its_exit_status(self):
        self.strip("somebody else")
        report = self.json("verify", self.model, status=3)
        self.assertFalse(report["ok"])
        self.assertEqual(report["problems"], [])
        binary = report["nodes"][0]["file"]
        self.assertEqual(report["unchecked"], [f'file "{binary}"'])
        text = self.ephost("verify", self.model, status=3).stdout
        self.assertIn(f'no checksum: file "{binary}"', text)
        self.assertNotIn("sound", text)
        self.assertIn("states no checksum", self.ephost("run", self.model, "--ep", "dnnl").stderr)

    def test_tells_that_sessions_refuse_a_model_that_lost_its_checksums(self):
        self.strip("ephost")
        self.assertIn("sessions refuse it", self.ephost("verify", self.model, status=3).stdout)
        self.refusal("INVALID_GRAPH", "run", self.model, "--ep", "dnnl")
        self.ephost("run", self.model, "--ep", "dnnl", "--config", "ep.require_checksums=0")

    def test_finds_a_missing_binary(self):
        (self.folder / self.binary).unlink()
        self.assertEqual(self.json("verify", self.model, status=1)["nodes"][0]["checksum"], "missing file")

    def test_finds_a_context_of_another_library(self):
        model = onnx.load(str(self.model))
        entry, = [entry for entry in model.metadata_props
                  if entry.key.startswith("ephost.ep_context.compatibility.")]
        entry.value = "made by something else"
        onnx.save(model, str(self.model))
        error = self.refusal("INVALID_GRAPH", "verify", self.model)
        self.assertIn("compile the model again", error)

    def test_finds_a_source_that_nobody_accepts(self):
        model = onnx.load(str(self.model))
        for node in model.graph.node:
            for attribute in node.attribute:
                if attribute.name == "source":
                    attribute.s = b"SomebodyElse"
        onnx.save(model, str(self.model))
        error = self.refusal("INVALID_GRAPH", "verify", self.model)
        self.assertIn("SomebodyElse", error)

    def test_loads_no_plugin_unless_it_has_to(self):
        shutil.copy(PLUGINS / "dnnl.yaml", self.folder)
        manifest = (self.folder / "dnnl.yaml").read_text()
        newer = "\n".join("version: 99.0.0" if line.startswith("version:") else line
                          for line in manifest.splitlines())
        self.write("plugins/dnnl.yaml", newer)
        self.write("plugins/libephost_dnnl.so", "no library at all")
        arguments = ("verify", self.model, "--plugin-path", "plugins")
        self.assertTrue(self.json(*arguments, "--no-plugins")["ok"])
        self.assertIn("version 99.0.0 of \"plugins/dnnl.yaml\" cannot be used",
                      self.ephost(*arguments).stderr)

    def test_refuses_a_plain_model(self):
        error = self.refusal("INVALID_ARGUMENT", "verify", tiny("tiny_cnn"))
        self.assertIn("has no EPContext nodes", error)


if __name__ == "__main__":
    unittest.main()
