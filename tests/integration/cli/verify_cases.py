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
        self.refusal("INVALID_GRAPH", "verify", self.model, status=1)
        self.refusal("INVALID_GRAPH", "run", self.model, "--ep", "dnnl")

    def strip(self, producer):
        """Takes away the metadata of the model."""
        model = onnx.load(str(self.model))
        del model.metadata_props[:]
        model.producer_name = producer
        onnx.save(model, str(self.model))

    def test_calls_a_missing_checksum_a_finding(self):
        self.strip("somebody else")
        report = self.json("verify", self.model, status=1)
        self.assertFalse(report["ok"])
        self.assertEqual(report["problems"], [])
        binary = report["nodes"][0]["file"]
        self.assertEqual(report["unchecked"], [f'file "{binary}"'])
        self.assertIn(f"has no checksum of file \"{binary}\"",
                      self.refusal("INVALID_GRAPH", "verify", self.model, status=1))
        text = self.ephost("verify", self.model, status=1).stdout
        self.assertIn(f'no checksum: file "{binary}"', text)
        self.assertNotIn("sound", text)
        self.assertIn("no checksum for", self.ephost("run", self.model, "--ep", "dnnl").stderr)

    def test_tells_that_sessions_refuse_a_model_that_lost_its_checksums(self):
        self.strip("ephost")
        self.assertIn("sessions refuse it", self.ephost("verify", self.model, status=1).stdout)
        self.refusal("INVALID_GRAPH", "run", self.model, "--ep", "dnnl")
        self.ephost("run", self.model, "--ep", "dnnl", "--config", "ep.require_checksums=0")

    def test_loads_the_model_too(self):
        report = self.json("verify", self.model)
        self.assertEqual((report["loaded"], report["load_error"]), (None, None))
        report = self.json("verify", self.model, "--load")
        self.assertTrue(report["ok"])
        self.assertEqual((report["loaded"], report["load_error"]), (True, None))
        self.assertIn("a session restores all contexts", self.ephost("verify", self.model, "--load").stdout)

    def test_reports_what_fails_when_the_model_is_loaded(self):
        self.strip("somebody else")
        binary = self.folder / self.binary
        binary.write_bytes(b"no payload" + bytes(binary.stat().st_size - 10))
        report = self.json("verify", self.model, "--load", status=1)
        self.assertEqual(report["problems"], [])
        self.assertFalse(report["loaded"])
        self.assertIn("DnnlExecutionProvider", report["load_error"]["message"])
        self.assertIn("loading ", self.refusal(report["load_error"]["code"], "verify", self.model, "--load", status=1))

    def test_does_not_load_what_it_finds_damaged(self):
        (self.folder / self.binary).unlink()
        self.assertIsNone(self.json("verify", self.model, "--load", status=1)["loaded"])

    def test_loading_writes_nothing_that_a_selection_states(self):
        self.write("selection.yaml", "selection: 1\nproviders: [dnnl]\nsession:\n  ep.cache_dir: store\n"
                                     "  session.profile_file: profile.json\n  ep.context_enable: 1\n")
        self.json("verify", self.model, "--load", "--selection", "selection.yaml")
        self.assertFalse((self.folder / "store").exists())
        self.assertFalse((self.folder / "profile.json").exists())

    def test_checks_against_the_providers_of_a_selection_only(self):
        self.write("cpu.yaml", "selection: 1\nproviders: []\n")
        self.write("dnnl.yaml", "selection: 1\nproviders: [{provider: dnnl, version: '>=0.1'}]\n")
        self.write("newer.yaml", "selection: 1\nproviders: [{provider: dnnl, version: '>=99'}]\n")
        self.assertTrue(self.json("verify", self.model, "--selection", "dnnl.yaml", "--load")["ok"])
        self.assertTrue(self.json("verify", self.model, "--ep", "dnnl")["ok"])
        for flags in (("--selection", "cpu.yaml"), ("--ep", "cpu"), ("--selection", "cpu.yaml", "--no-plugins")):
            with self.subTest(flags):
                report = self.json("verify", self.model, *flags, status=1)
                self.assertEqual(report["sources"][0]["provider"], None)
                self.assertIn("DnnlExecutionProvider does: request it", report["problems"][0])
        self.assertIn("\"dnnl\" with version >=99",
                      self.refusal("NOT_FOUND", "verify", self.model, "--selection", "newer.yaml"))
        self.write("wrong.yaml", "selection: 1\nproviders: [{provider: dnnl, options: {nosuch: 1}}]\n")
        self.assertIn("nosuch", self.refusal("INVALID_ARGUMENT", "verify", self.model, "--selection", "wrong.yaml"))

    def test_finds_a_missing_binary(self):
        (self.folder / self.binary).unlink()
        self.assertEqual(self.json("verify", self.model, status=1)["nodes"][0]["checksum"], "missing file")

    def test_finds_a_context_of_another_library(self):
        model = onnx.load(str(self.model))
        entry, = [entry for entry in model.metadata_props
                  if entry.key.startswith("ephost.ep_context.compatibility.")]
        entry.value = "made by something else"
        onnx.save(model, str(self.model))
        error = self.refusal("INVALID_GRAPH", "verify", self.model, status=1)
        self.assertIn("compile the model again", error)

    def test_finds_a_source_that_nobody_accepts(self):
        model = onnx.load(str(self.model))
        for node in model.graph.node:
            for attribute in node.attribute:
                if attribute.name == "source":
                    attribute.s = b"SomebodyElse"
        onnx.save(model, str(self.model))
        error = self.refusal("INVALID_GRAPH", "verify", self.model, status=1)
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
