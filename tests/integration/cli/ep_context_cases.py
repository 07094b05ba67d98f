"""The EP context cache through the commands, with a provider that does what a test tells it to."""

import os
import pathlib
import pty
import signal
import subprocess
import time
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import EPHOST, CommandLineTest

SCRIPTED = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "scripted"
SLOW = ("--ep-option", "scripted:compile_milliseconds=60000")


def row(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])


def sample():
    """Two partitions of the scripted provider, and Abs between them, which it does not know."""
    weights = [numpy_helper.from_array(numpy.full(4, value, numpy.float32), name)
               for name, value in [("w0", 0.5), ("w1", 3)]]
    nodes = [helper.make_node("Add", ["x", "w0"], ["a"], name="add"),
             helper.make_node("Relu", ["a"], ["b"], name="relu"),
             helper.make_node("Abs", ["b"], ["c"], name="abs"),
             helper.make_node("Mul", ["c", "w1"], ["d"], name="mul"),
             helper.make_node("Neg", ["d"], ["y"], name="neg")]
    graph = helper.make_graph(nodes, "sample", [row("x")], [row("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class EpContextTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "m.onnx"
        onnx.save(sample(), str(self.model))
        self.context = self.folder / "m_ctx.onnx"

    def scripted(self, command, *arguments):
        return (command, "--plugin-path", SCRIPTED, "--ep", "scripted", *arguments)

    def compile(self, *arguments):
        return self.json(*self.scripted("compile", self.model, *arguments))

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def first_outputs(self, model, *arguments):
        report = self.json(*self.scripted("run", model, "--input", "x=random:7", *arguments))
        return [output["first"] for output in report["outputs"]]

    def assert_runs(self, model, *arguments):
        self.assertEqual(self.first_outputs(model, *arguments), self.first_outputs(self.model))

    def start(self, *arguments, **options):
        """The process of a command, running."""
        process = subprocess.Popen([EPHOST, *map(str, self.scripted(*arguments))], cwd=self.folder,
                                   stdout=subprocess.PIPE, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def pipe(self, model_bytes, *arguments):
        """The finished process of a command that gets the model on standard input."""
        return subprocess.run([EPHOST, *map(str, self.scripted(*arguments))], cwd=self.folder,
                              input=model_bytes, capture_output=True, timeout=300)

    # Generation

    def test_compiles_from_standard_input_to_standard_output(self):
        result = self.pipe(self.model.read_bytes(), "compile", "-", "-o", "-", "--embed")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files(), ["m.onnx"])
        self.assertIn(b"2 partitions compiled", result.stderr)
        self.context.write_bytes(result.stdout)
        onnx.checker.check_model(str(self.context))
        self.assert_runs(self.context)

    def test_binaries_of_a_model_on_standard_output_need_a_path(self):
        result = self.pipe(self.model.read_bytes(), "compile", "-", "-o", "-")
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith(b"error[INVALID_ARGUMENT]: "), result.stderr)
        self.assertEqual(result.stdout, b"")
        result = self.pipe(self.model.read_bytes(), "compile", "-", "-o", "-", "--config",
                           "ep.context_file_path=m_ctx.onnx")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files(), ["m.onnx", "m_scripted.bin"])
        self.context.write_bytes(result.stdout)
        self.assert_runs(self.context)

    def end_without_reader(self, disposition):
        """How a compilation to standard output ends whose reader has gone."""
        reader, writer = os.pipe()
        os.close(reader)
        arguments = self.scripted("compile", self.model, "-o", "-", "--quiet", "--config",
                                  "ep.context_file_path=m_ctx.onnx")
        with open(writer, "wb") as output:
            return subprocess.run([EPHOST, *map(str, arguments)], cwd=self.folder, stdout=output,
                                  stderr=subprocess.PIPE, text=True, timeout=300,
                                  preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))

    def test_a_closed_standard_output_ends_the_command_and_removes_its_files(self):
        result = self.end_without_reader(signal.SIG_DFL)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, ""))
        self.assertEqual(self.files(), ["m.onnx"])

    def test_a_closed_standard_output_is_an_error_where_sigpipe_is_ignored(self):
        result = self.end_without_reader(signal.SIG_IGN)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output could not be written", result.stderr)
        self.assertEqual(self.files(), ["m.onnx"])

    def test_reads_external_weights_of_a_model_from_standard_input(self):
        source = self.folder / "source"
        source.mkdir()
        onnx.save(sample(), str(source / "e.onnx"), save_as_external_data=True, location="e.weights",
                  size_threshold=0)
        arguments = ("compile", "-", "-o", self.context, "--config",
                     f"session.model_external_initializers_file_folder_path={source}")
        result = self.pipe((source / "e.onnx").read_bytes(), *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_runs(self.context)

    def test_the_default_name_replaces_only_the_file_extension(self):
        folder = self.folder / "dir.v1"
        folder.mkdir()
        (folder / "model").write_bytes(self.model.read_bytes())
        report = self.json(*self.scripted("compile", folder / "model"))
        self.assertEqual(report["output"], str(folder / "model_ctx.onnx"))

    def test_refuses_invalid_outputs_before_compiling(self):
        self.refusal("INVALID_ARGUMENT", *self.scripted("compile", self.model, "-o", self.folder, *SLOW))
        self.context.write_text("precious")
        error = self.refusal("FAIL", *self.scripted("compile", self.model, "--error-if-exists", *SLOW))
        self.assertIn("remove it", error)
        error = self.refusal("FAIL", *self.scripted("compile", self.model, *SLOW))
        self.assertIn("is not a context model", error)
        self.assertEqual(self.context.read_text(), "precious")
        self.ephost(*self.scripted("compile", self.model, "--force"))
        self.assert_runs(self.context)

    def test_writes_the_plain_model_or_nothing_when_nothing_is_compiled(self):
        nothing = ("--ep-option", "scripted:claim=fuse:Nothing")
        self.refusal("FAIL", *self.scripted("compile", self.model, "--error-if-nothing-compiled", *nothing))
        self.assertEqual(self.files(), ["m.onnx"])
        self.assertEqual(self.compile(*nothing)["partitions"], [])
        self.assertEqual(len(onnx.load(str(self.context)).graph.node), 5)
        self.context.unlink()
        result = self.ephost("run", self.model, "--config", "ep.context_enable=1")
        self.assertIn("no context model was written", result.stderr)
        self.assertEqual(self.files(), ["m.onnx"])

    def test_refuses_to_compile_a_context_model(self):
        self.compile()
        error = self.refusal("INVALID_GRAPH", *self.scripted("compile", self.context))
        self.assertIn("scripted_0", error)

    def test_verify_lists_every_payload(self):
        self.compile("--ep-option", "scripted:payloads=each")
        self.assertEqual(self.files(), ["m.onnx", "m_ctx.onnx", "m_scripted.bin", "m_scripted_1.bin"])
        report = self.json("verify", self.context, "--plugin-path", SCRIPTED)
        self.assertEqual([node["file"] for node in report["nodes"]],
                         ["m_scripted.bin", "m_scripted_1.bin"])

    def test_keeps_two_providers_and_the_cpu_between_them_apart(self):
        report = self.compile("--ep-option", "scripted:claim=fuse:Add,Relu", "--ep", "scripted_two")
        self.assertEqual([partition["provider"] for partition in report["partitions"]],
                         ["ScriptedExecutionProvider", "ScriptedTwoExecutionProvider"])
        self.assertEqual([node.op_type for node in onnx.load(str(self.context)).graph.node],
                         ["EPContext", "Abs", "EPContext"])
        self.assertEqual(self.files(),
                         ["m.onnx", "m_ctx.onnx", "m_scripted.bin", "m_scripted_two.bin"])
        self.assert_runs(self.context, "--ep", "scripted_two")

    def test_places_initializers_as_the_options_say(self):
        def external():
            model = onnx.load(str(self.context), load_external_data=False)
            return {tensor.name for tensor in model.graph.initializer if tensor.external_data}

        left = ("--ep-option", "scripted:claim=fuse:Neg")
        self.compile(*left)
        self.assertEqual(external(), set())
        self.compile(*left, "--external-initializers", "w.bin", "--initializer-threshold", 16)
        self.assertEqual(external(), {"w0", "w1"})
        self.model.rename(self.folder / "gone.onnx")
        self.first_outputs(self.context)
        self.model = self.folder / "gone.onnx"
        self.compile(*left, "-o", self.context, "--external-initializers", "w.bin",
                     "--initializer-threshold", 17)
        self.assertEqual(external(), set())
        self.refusal("INVALID_ARGUMENT", *self.scripted(
            "compile", self.model, "--external-initializers", "w.bin", "--initializer-alignment", 3))

    def test_refuses_to_embed_a_payload_over_2_gib(self):
        error = self.refusal("FAIL", *self.scripted(
            "compile", self.model, "--embed", "--ep-option", "scripted:padding_bytes=2147483648"))
        self.assertIn("ep.context_embed_mode 0", error)
        self.assertEqual(self.files(), ["m.onnx"])

    def test_a_killed_compilation_leaves_the_old_model(self):
        self.compile()
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        process = self.start("compile", self.model, *SLOW)
        time.sleep(0.3)
        process.kill()
        process.wait(timeout=60)
        for name, content in before.items():
            self.assertEqual((self.folder / name).read_bytes(), content)
        self.assert_runs(self.context)

    def test_two_processes_writing_one_output_do_not_mix(self):
        for _ in range(5):
            processes = [self.start("compile", self.model, "--ep-option",
                                    f"scripted:padding_bytes={padding}") for padding in (0, 300000)]
            for process in processes:
                self.assertEqual(process.wait(timeout=60), 0)
            report = self.json("verify", self.context, "--plugin-path", SCRIPTED)
            self.assertEqual({node["checksum"] for node in report["nodes"]}, {"ok"})
            self.assertEqual(self.files(), ["m.onnx", "m_ctx.onnx", "m_scripted.bin"])

    def test_writes_the_same_bytes_for_the_same_input(self):
        contents = []
        for _ in range(2):
            self.compile("--external-initializers", "w.bin", "--ep-option", "scripted:claim=fuse:Neg")
            contents.append({name: (self.folder / name).read_bytes() for name in self.files()})
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(contents[0]), 4)

    def test_every_form_passes_the_onnx_checker(self):
        left = ("--ep-option", "scripted:claim=fuse:Neg")
        for arguments in [(), ("--embed",), left, (*left, "--embed", "--external-initializers", "w.bin")]:
            with self.subTest(arguments):
                # The second form leaves a binary behind that no model names any more.
                self.compile("--force", *arguments)
                onnx.checker.check_model(str(self.context))
                self.assert_runs(self.context)

    def test_an_interrupted_compilation_leaves_no_file(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start("compile", self.model, *SLOW, stderr=subprocess.PIPE)
                time.sleep(0.5)
                self.assertIsNone(process.poll())
                process.send_signal(number)
                error = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 128 + number)
                self.assertIn(b"error[CANCELLED]: ", error)
                self.assertEqual(self.files(), ["m.onnx"])

    def test_shows_progress_on_a_terminal(self):
        terminal, other_end = pty.openpty()
        process = self.start("compile", self.model, "--ep-option",
                             "scripted:compile_milliseconds=2500", stderr=other_end)
        os.close(other_end)
        shown = b""
        try:
            while chunk := os.read(terminal, 4096):
                shown += chunk
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(shown, rb"compiling \S+m\.onnx, ScriptedExecutionProvider compiling a script \d+ %")

    # Loading

    def test_other_nodes_of_a_context_model_go_to_kernels(self):
        self.compile("--ep-option", "scripted:claim=fuse:Neg")
        report = self.json(*self.scripted("partition", self.context, "--ep-option",
                                          "scripted:claim=fuse:*"))
        self.assertTrue(report["is_context_model"])
        self.assertEqual(report["partitions"], [])
        self.assertEqual([(node["op"], node["provider"]) for node in report["nodes"]][-2:],
                         [("Mul", "CPUExecutionProvider"),
                          ("com.microsoft.EPContext", "ScriptedExecutionProvider")])
        self.assert_runs(self.context)

    # Fallback

    def test_what_a_provider_fails_to_compile_goes_to_the_next(self):
        broken = ("--ep-option", "scripted:cannot_compile=Mul")
        report = self.compile(*broken)
        self.assertEqual([partition["name"] for partition in report["partitions"]], ["scripted_0"])
        fallback, = report["fallbacks"]
        self.assertEqual((fallback["provider"], fallback["partition"], fallback["nodes"]),
                         ("ScriptedExecutionProvider", "scripted_1", 2))
        self.assertIn("the script cannot compile Mul", fallback["reason"])
        table = self.ephost(*self.scripted("compile", self.model, *broken))
        self.assertIn("left to others: 2 nodes of ScriptedExecutionProvider", table.stdout)
        self.assertIn("warning", table.stderr)
        self.assert_runs(self.context)

    def test_partition_explains_it_if_it_compiles(self):
        broken = ("--ep-option", "scripted:cannot_compile=Mul", "--explain")
        plain = self.ephost(*self.scripted("partition", self.model, *broken)).stdout
        self.assertNotIn("cannot compile Mul", plain)
        compiled = self.ephost(*self.scripted("partition", self.model, "--compile", *broken)).stdout
        self.assertRegex(compiled, r"refused: ScriptedExecutionProvider, fused claim of 2 nodes from #3 "
                                   r"Mul: .*cannot compile Mul")

    def test_the_strict_entry_makes_it_an_error(self):
        error = self.refusal("EP_FAIL", *self.scripted(
            "compile", self.model, "--ep-option", "scripted:fail=compile", "--config",
            "session.disable_ep_fallback=1"))
        self.assertIn("scripted failure at compile", error)
        self.assertEqual(self.files(), ["m.onnx"])

    def test_a_cached_partition_that_fails_to_load_has_nowhere_to_go(self):
        self.compile()
        error = self.refusal("INVALID_GRAPH", *self.scripted(
            "run", self.context, "--ep-option", "scripted:fail=restore"))
        self.assertIn("scripted failure at restore", error)


if __name__ == "__main__":
    unittest.main()
