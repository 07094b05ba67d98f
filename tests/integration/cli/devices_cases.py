"""Cases of `ephost devices`, and of the options that choose devices and targets."""

import os
import pathlib
import unittest

from command_line import CommandLineTest, PLUGINS, tiny

SCRIPTED = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "scripted"


class DevicesTest(CommandLineTest):
    def scripted(self, command, *arguments):
        return (command, *arguments, "--plugin-path", SCRIPTED, "--ep", "scripted")

    def test_lists_the_devices_of_all_providers(self):
        report = self.json("devices", "--plugin-path", SCRIPTED)
        devices = {(device["provider_name"], device["id"]): device for device in report["devices"]}
        self.assertEqual(devices["cpu", "cpu"]["type"], "cpu")
        self.assertFalse(devices["scripted", "script"]["virtual"])
        self.assertTrue(devices["scripted", "sim"]["virtual"])
        self.assertEqual(devices["scripted", "sim"]["metadata"], {"slot": "sim"})
        self.assertEqual(report["failed"], [])

    def test_a_table_has_the_same(self):
        table = self.ephost("devices", "-v", "--plugin-path", SCRIPTED).stdout
        self.assertRegex(table, r"(?m)^cpu +cpu +cpu +Host processor ")
        self.assertRegex(table, r"(?m)^scripted +sim +npu, virtual +script .* 0x1209:0x0001 ")
        self.assertIn("sim of scripted: slot = sim", table)

    def test_lists_targets(self):
        report = self.json("devices", "--targets", "--plugin-path", SCRIPTED)
        self.assertIn(("scripted", "x1"), {(device["provider_name"], device["id"])
                                           for device in report["devices"]})
        self.assertIn("no provider compiles for", self.ephost("devices", "--targets").stdout)

    def test_reports_a_provider_that_fails(self):
        manifest = (PLUGINS / "cpu.yaml").read_text()
        self.write("plugins/broken.yaml", manifest.replace("CPUExecutionProvider", "BrokenExecutionProvider")
                   .replace("name: cpu", "name: broken"))
        self.write("plugins/libephost_cpu.so", "no library at all")
        report = self.json("devices", "--plugin-path", "plugins")
        self.assertIn("cpu", {device["id"] for device in report["devices"]})
        failed, = report["failed"]
        self.assertEqual(failed["provider"], "BrokenExecutionProvider")
        self.assertIn("cannot be listed:\n  BrokenExecutionProvider\n",
                      self.ephost("devices", "--plugin-path", "plugins").stdout)

    def test_a_session_takes_the_devices_that_it_is_told(self):
        report = self.folder / "report.txt"
        for device in ("sim", "scripted:sim"):
            self.ephost(*self.scripted("run", tiny("tiny_mlp")), "--device", device,
                        "--ep-option", f"scripted:report={report}")
        self.assertEqual([line.split()[1] for line in report.read_text().splitlines()],
                         ["devices=sim", "devices=sim"])

    def test_the_command_line_overrides_the_selection_file(self):
        self.write("s.yaml", "selection: 1\nproviders:\n  - provider: scripted\n    devices: [gpu]\n")
        arguments = ("run", tiny("tiny_mlp"), "--plugin-path", SCRIPTED, "--selection", "s.yaml")
        error = self.refusal("ENGINE_ERROR", *arguments)
        self.assertIn("no device \"gpu\" here, only: \"script\" (cpu), \"sim\" (npu, virtual)", error)
        self.ephost(*arguments, "--device", "cpu")

    def test_refuses_a_device_of_nobody(self):
        for arguments in ((), ("--ep", "scripted", "--ep", "scripted_two")):
            error = self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_mlp"), "--plugin-path", SCRIPTED,
                                 "--device", "sim", *arguments)
            self.assertIn("does not say for which provider", error)

    def test_chooses_by_a_policy(self):
        report = self.json("partition", tiny("tiny_mlp"), "--policy", "prefer_cpu")
        self.assertIn("DnnlExecutionProvider", str(report))
        self.assertIn("give one of DEFAULT, PREFER_CPU",
                      self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_mlp"), "--policy", "FASTEST"))

    def test_compiles_and_verifies_for_a_device_that_is_not_there(self):
        self.ephost(*self.scripted("compile", tiny("tiny_mlp")), "-o", "ctx.onnx", "--target", "x1",
                    "--ep-option", "scripted:payload_compatibility=device",
                    "--ep-option", "scripted:claim=fuse:*")
        verify = ("verify", "ctx.onnx", "--plugin-path", SCRIPTED)
        self.assertIn("for x1", self.refusal("INVALID_GRAPH", *verify, status=1))
        self.assertEqual(self.json(*verify, "--device", "x1")["sources"][0]["verdict"], "optimal")
        self.assertIn("has a device \"x9\"",
                      self.refusal("INVALID_ARGUMENT", *verify, "--device", "x9"))
        self.assertIn("compiles for a target \"x9\"",
                      self.refusal("INVALID_ARGUMENT", *self.scripted("compile", tiny("tiny_mlp")),
                                   "-o", "other.onnx", "--target", "x9"))


if __name__ == "__main__":
    unittest.main()
