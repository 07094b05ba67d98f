"""Cases of plugins in workers: results are the same, and what ends a worker ends that worker alone."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import EPHOST, CommandLineTest, tiny

FIXTURES = pathlib.Path(os.environ["EPHOST_FIXTURES"])
SOURCE = pathlib.Path(os.environ["EPHOST_SOURCE"])

# What each fault does to the process that commits it, as its report says.
DEATHS = {"segv": "died of SIGSEGV", "overflow": "died of SIGSEGV", "bus": "died of SIGBUS", "ill": "died of SIGILL",
          "fpe": "died of SIGFPE", "abort": "died of SIGABRT", "exit3": "exited with status 3",
          "_exit": "exited with status 0", "thread_segv": "died of SIGSEGV"}


def slots():
    """The functions of the plugin: those of providers, and the ones that the fixture that dies in them adds."""
    listed = (SOURCE / "host" / "plugin" / "slots.h").read_text()
    listed = listed.split("// The slots of a provider.")[1].split("// The slots of the host.")[0]
    tables = re.findall(r"^EPHOST_SLOTS\((\w+)(.*?)\)\)$", listed, re.MULTILINE | re.DOTALL)
    own = (SOURCE / "tests" / "fixtures" / "faulty" / "faulty_plugin.cc").read_text()
    return ([f"{table}.{slot}" for table, body in tables for slot in re.findall(r"\bS\((\w+)", body)] +
            [f"{table}.{slot}" for table, slot in re.findall(r"^ +PUT_LAYER\((\w+), (\w+)\)", own, re.MULTILINE)])


class IsolationTest(CommandLineTest):
    def save_model(self):
        row = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
        weights = numpy_helper.from_array(np.ones(4, dtype=np.float32), "w")
        nodes = [helper.make_node("Add", ["x", "w"], ["a"], "first"),
                 helper.make_node("Relu", ["a"], ["b"], "second"),
                 helper.make_node("Neg", ["b"], ["y"], "third")]
        graph = helper.make_graph(nodes, "sample", [row], [result], [weights])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, str(self.folder / "model.onnx"))

    def start(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        environment.update(HOME=str(self.folder), XDG_DATA_DIRS=str(self.folder),
                           XDG_STATE_HOME=str(self.folder / "state"), EPHOST_QUARANTINE="off")
        environment.update(variables)
        return subprocess.run([EPHOST, *map(str, arguments)], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=300)


class ResultTest(IsolationTest):
    def outputs(self, model, *arguments, **variables):
        process = self.start("run", model, "--output-dir", self.folder / "outputs", *arguments,
                             **variables)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        files = {path.name: path.read_bytes() for path in (self.folder / "outputs").rglob("*") if path.is_file()}
        self.assertNotEqual(files, {})
        return files

    def test_are_the_same_bytes(self):
        for model in ("tiny_cnn", "tiny_diamond", "tiny_mlp", "tiny_residual"):
            for provider in ("cpu", "dnnl"):
                with self.subTest(f"{model} on {provider}"):
                    plain = self.outputs(tiny(model), "--ep", provider)
                    self.assertEqual(self.outputs(tiny(model), "--ep", provider, "--isolation", "worker"), plain)

    def test_are_the_same_under_layers_and_by_the_environment(self):
        plain = self.outputs(tiny("tiny_diamond"), "--ep", "dnnl")
        # Quietly, as a warning says which memory the layer does not guard.
        self.assertEqual(self.outputs(tiny("tiny_diamond"), "--ep", "dnnl", "--layer", "validate", "-q",
                                      EPHOST_ISOLATION="worker"), plain)

    def test_refuses_another_level(self):
        for arguments, variables in ((["--isolation", "cell"], {}), (["--isolation", "cpu=cell"], {}),
                                     ([], {"EPHOST_ISOLATION": "cell"})):
            process = self.start("run", tiny("tiny_mlp"), *arguments, **variables)
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertIn('write one of none, worker, sandbox', process.stderr)


class DeathTest(IsolationTest):
    def commands(self):
        """Commands that call every function of the plugin between them."""
        scripted = ["--ep", "scripted", "--isolation", "scripted=worker", "--ep-option", "scripted:keep_state=true"]
        plugins = ["--plugin-path", FIXTURES / "faulty"]
        fused = ["--ep-option", "scripted:claim=fuse:*"]
        return [["run", "model.onnx", *plugins, *scripted, *fused],
                ["run", "model.onnx", *plugins, *scripted, "--ep-option", "scripted:claim=kernels:Relu",
                 "--profile", "profile.json"],
                ["compile", "model.onnx", "-o", "model_ctx.onnx", *plugins, *scripted, *fused]]

    def test_in_every_function_is_no_death_of_the_host(self):
        self.save_model()
        reached = set()
        for slot in slots():
            with self.subTest(slot):
                for command in self.commands():
                    process = self.start(*command, EPHOST_FAULT=f"{slot}:segv")
                    self.assertIn(process.returncode, (0, 1, 5), process.stderr)
                    if "died of SIGSEGV" in process.stderr:
                        reached.add(slot)
                        self.assertIn('the worker of "scripted"', process.stderr)
        for slot in ("eph_provider_api.create", "eph_provider_api.get_devices", "eph_provider_api.get_capability",
                     "eph_provider_api.compile", "eph_provider_api.create_kernel", "eph_provider_api.get_kernels",
                     "eph_provider_api.get_ep_context_nodes", "eph_computation_api.compute",
                     "eph_computation_api.create_state", "eph_computation_api.describe",
                     "eph_device_api.open", "eph_device_api.allocate", "eph_device_api.copy",
                     "eph_plugin_preamble.get_api"):
            self.assertIn(slot, reached)

    def test_says_how_the_worker_ended(self):
        self.save_model()
        for fault, text in DEATHS.items():
            for slot in ("eph_provider_api.create", "eph_computation_api.compute"):
                with self.subTest(f"{slot}:{fault}"):
                    process = self.start(*self.commands()[0], EPHOST_FAULT=f"{slot}:{fault}")
                    self.assertEqual(process.returncode, 5, process.stderr)
                    self.assertIn('the worker of "scripted"', process.stderr)
                    self.assertIn(text, process.stderr)

    def test_quarantines_a_plugin_that_keeps_dying(self):
        self.save_model()
        command = self.commands()[0]
        for isolation in ("worker", "none"):
            command[command.index("--isolation") + 1] = f"scripted={isolation}"
            for fault in ("segv", "abort", "exit3"):
                process = self.start(*command, EPHOST_QUARANTINE="3/600",
                                     EPHOST_FAULT=f"eph_computation_api.compute:{fault}")
                self.assertNotEqual(process.returncode, 0)
                self.assertNotIn("quarantined", process.stderr)
            process = self.start(*command, EPHOST_QUARANTINE="3/600")
            self.assertEqual(process.returncode, 5, process.stderr)
            self.assertRegex(process.stderr, "it failed 3 times in 600 s; last it (exited|called exit)")
            self.assertIn("ephost quarantine clear scripted", process.stderr)
            self.start("quarantine", "clear", "scripted")
            process = self.start(*command, EPHOST_QUARANTINE="3/600")
            self.assertEqual(process.returncode, 0, process.stderr)

    def test_goes_on_without_the_provider(self):
        self.save_model()
        selection = self.folder / "selection.yaml"
        selection.write_text("selection: 1\nproviders: [{provider: scripted, isolation: worker, on_crash: fallback}]\n")
        plugins = ["--plugin-path", FIXTURES / "faulty"]
        self.start("run", "model.onnx", *plugins, "--ep", "cpu", "--output-dir", "expected")
        expected = {path.name: path.read_bytes() for path in (self.folder / "expected").rglob("*") if path.is_file()}
        self.assertNotEqual(expected, {})
        for name, arguments in (("flags", [*self.commands()[0][2:], "--on-crash", "scripted=fallback"]),
                                ("selection", [*plugins, "--selection", selection])):
            for slot in ("eph_provider_api.create", "eph_provider_api.compile", "eph_computation_api.compute"):
                with self.subTest(f"{name}: {slot}"):
                    process = self.start("run", "model.onnx", *arguments, "--output-dir", name,
                                         EPHOST_FAULT=f"{slot}:segv")
                    self.assertEqual(process.returncode, 0, process.stderr)
                    self.assertIn("the session continues without ScriptedExecutionProvider", process.stderr)
                    outputs = {path.name: path.read_bytes() for path in (self.folder / name).rglob("*")
                               if path.is_file()}
                    self.assertEqual(outputs, expected)

    def test_a_stricter_selection_stands(self):
        self.save_model()
        selection = self.folder / "selection.yaml"
        selection.write_text("selection: 1\nproviders: [{provider: scripted, isolation: worker}]\n")
        process = self.start("run", "model.onnx", "--plugin-path", FIXTURES / "faulty", "--selection", selection,
                             "--isolation", "scripted=none", EPHOST_FAULT="eph_computation_api.compute:segv")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn('the worker of "scripted" died of SIGSEGV', process.stderr)

    def test_the_command_line_replaces_the_selection_by_either_name(self):
        self.save_model()
        for selected, given in (("ScriptedExecutionProvider", "scripted"), ("scripted", "SCRIPTEDexecutionprovider")):
            for flags in (["--on-crash", f"{given}=fail"], ["--config", f"session.on_crash.{given}=fail"]):
                with self.subTest(f"{selected} by {flags}"):
                    selection = self.folder / "selection.yaml"
                    selection.write_text("selection: 1\nproviders:\n"
                                         f"- {{provider: {selected}, isolation: worker, on_crash: fallback}}\n")
                    process = self.start("run", "model.onnx", "--plugin-path", FIXTURES / "faulty",
                                         "--selection", selection, *flags,
                                         EPHOST_FAULT="eph_computation_api.compute:segv")
                    self.assertEqual(process.returncode, 5, process.stderr)
                    self.assertNotIn("the session continues", process.stderr)

    def test_commands_that_cannot_go_on_ignore_the_selection(self):
        self.save_model()
        shutil.copy(self.folder / "model.onnx", self.folder / "other.onnx")
        plugins = ["--plugin-path", FIXTURES / "faulty"]
        process = self.start("compile", "model.onnx", "-o", "loaded.onnx", *plugins, "--ep", "scripted")
        self.assertEqual(process.returncode, 0, process.stderr)
        for word in ("fallback", "restart"):
            for line in (f"on_crash: {word}", ""):
                own = "" if line else f", on_crash: {word}"
                with self.subTest(f"{word} {line}"):
                    selection = self.folder / "selection.yaml"
                    selection.write_text("selection: 1\n"
                                         f"providers: [{{provider: scripted, isolation: worker{own}}}]\n{line}\n")
                    process = self.start("verify", "loaded.onnx", *plugins, "--selection", selection, "--load")
                    self.assertEqual(process.returncode, 0, process.stderr)
                    process = self.start("compile", "--share-weights", "model.onnx,other.onnx", *plugins,
                                         "--force", "--selection", selection)
                    self.assertEqual(process.returncode, 0, process.stderr)

    def test_compiles_again_with_a_new_process(self):
        self.save_model()
        process = self.start(*self.commands()[2], "--on-crash", "scripted=restart",
                             EPHOST_FAULT="eph_provider_api.compile:segv", EPHOST_FAULT_ONCE=self.folder / "once")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("ScriptedExecutionProvider gets a new one", process.stderr)
        self.assertTrue((self.folder / "model_ctx.onnx").exists())

    def test_restarts_once_for_a_run(self):
        self.save_model()
        process = self.start(*self.commands()[0], "--on-crash", "restart",
                             EPHOST_FAULT="eph_computation_api.compute:segv")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("it had been started again once before", process.stderr)
        process = self.start(*self.commands()[0], "--on-crash", "again")
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertIn('"fail", "restart" or "fallback"', process.stderr)

    def test_follows_a_limit(self):
        self.save_model()
        process = self.start(*self.commands()[0], "--config", "session.isolation.run_limit=1",
                             EPHOST_FAULT="eph_computation_api.compute:hang")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("session.isolation.run_limit", process.stderr)


if __name__ == "__main__":
    unittest.main()
