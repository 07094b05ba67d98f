"""Cases of plugins that crash, end the process or hang: what the commands say, and how they end."""

import os
import pathlib
import signal
import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import EPHOST, CommandLineTest

FAULTY = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "faulty"


def sanitized():
    """Sanitizers handle signals their own way, and end the process with a status of their own."""
    return b"__asan_init" in pathlib.Path(EPHOST).read_bytes() or b"__tsan_init" in pathlib.Path(EPHOST).read_bytes()


class FaultTest(CommandLineTest):
    def setUp(self):
        super().setUp()
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

    def run_with(self, fault, *arguments, claim="fuse:*"):
        """The finished process of `ephost run` with a provider that has the fault."""
        environment = {name: value for name, value in os.environ.items()
                       if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        environment.update(HOME=str(self.folder), XDG_DATA_DIRS=str(self.folder),
                           EPHOST_QUARANTINE="off", EPHOST_FAULT=fault)
        command = [EPHOST, "run", "model.onnx", "--plugin-path", str(FAULTY), "--ep", "scripted",
                   "--ep-option", f"scripted:claim={claim}",
                   "--ep-option", "scripted:keep_state=true", *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=300)

    def error_of(self, process):
        lines = [line for line in process.stderr.splitlines() if line.startswith("error[")]
        self.assertEqual(len(lines), 1, process.stderr)
        return lines[0]


@unittest.skipIf(sanitized(), "a sanitizer decides how the process ends")
class CrashTest(FaultTest):
    def test_names_the_call_and_ends_by_the_signal(self):
        signals = {"segv": signal.SIGSEGV, "overflow": signal.SIGSEGV, "bus": signal.SIGBUS,
                   "ill": signal.SIGILL, "fpe": signal.SIGFPE, "abort": signal.SIGABRT,
                   "terminate": signal.SIGABRT}
        for fault, number in signals.items():
            with self.subTest(fault):
                process = self.run_with(f"eph_provider_api.compile:{fault}")
                self.assertEqual(process.returncode, -number, process.stderr)
                self.assertRegex(
                    self.error_of(process),
                    rf"^error\[EP_FAIL\]: {number.name}( at address 0x[0-9a-f]+)? in compile of "
                    r"ScriptedExecutionProvider for partition \"scripted_0\" \(call \d+\); ")

    def test_names_whatever_function_of_the_plugin_is_called(self):
        places = {"constructors": "the constructors of ",
                  "eph_plugin_v1": "eph_plugin_v1 of Scripted",
                  "eph_plugin_preamble.get_api": "get_api of Scripted",
                  "eph_provider_api.create": "create of Scripted",
                  "eph_provider_api.get_kernels": "get_kernels of Scripted",
                  "eph_provider_api.get_capability": "get_capability of Scripted",
                  "eph_computation_api.create_state": "create_state of Scripted",
                  "eph_device_api.enqueue_copies": "enqueue_copies of Scripted",
                  "eph_computation_api.release_state": "release_state of Scripted",
                  "eph_provider_api.destroy": "destroy of Scripted"}
        for place, text in places.items():
            with self.subTest(place):
                process = self.run_with(f"{place}:segv")
                self.assertEqual(process.returncode, -signal.SIGSEGV, process.stderr)
                self.assertIn(text, self.error_of(process))

    def test_names_the_node_and_the_step_of_a_run(self):
        for mode in ("sequential", "parallel"):
            with self.subTest(mode):
                process = self.run_with("eph_computation_api.compute:segv", "--execution-mode", mode,
                                        claim="kernels:Relu")
                self.assertRegex(self.error_of(process),
                                 r"in compute of ScriptedExecutionProvider for Relu \"second\" "
                                 r"\(call \d+, step \d+\)")

    def test_names_the_call_during_which_a_thread_of_the_plugin_crashes(self):
        process = self.run_with("eph_computation_api.compute:thread_segv")
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        self.assertIn("in a thread that calls no plugin, during compute of ScriptedExecutionProvider",
                      self.error_of(process))

    def test_says_nothing_where_the_handler_is_not_wanted(self):
        process = self.run_with("eph_provider_api.compile:segv", "--no-crash-handler")
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        self.assertNotIn("error[", process.stderr)


class ExitTest(FaultTest):
    def test_is_a_failure_with_the_name_of_the_plugin(self):
        functions = {"exit0": "exit(0)", "exit3": "exit(3)", "_exit": "_exit(0)",
                     "_Exit": "_Exit(0)", "quick_exit": "quick_exit()", "thread_exit": "exit(0)",
                     "pthread_exit": "pthread_exit()"}
        for fault, function in functions.items():
            with self.subTest(fault):
                process = self.run_with(f"eph_provider_api.compile:{fault}")
                self.assertEqual(process.returncode, 5, process.stderr)
                self.assertIn(f"error[EP_FAIL]: the plugin called {function} in compile of "
                              "ScriptedExecutionProvider for partition \"scripted_0\"",
                              self.error_of(process))
                self.assertEqual(process.stdout, "")

    def test_is_a_failure_in_whatever_function_of_the_plugin(self):
        for place in ("constructors", "eph_plugin_v1", "eph_provider_api.create",
                      "eph_computation_api.compute", "eph_computation_api.release_state",
                      "eph_provider_api.destroy"):
            with self.subTest(place):
                process = self.run_with(f"{place}:exit0")
                self.assertEqual(process.returncode, 5, process.stderr)
                self.assertIn("the plugin called exit(0) in ", self.error_of(process))

    def test_a_child_process_of_a_plugin_may_exit(self):
        process = self.run_with("eph_provider_api.compile:child_exit")
        self.assertEqual((process.returncode, process.stderr), (0, ""))


class CallWarningTest(FaultTest):
    def test_names_a_call_that_takes_long_and_waits_for_it(self):
        process = self.run_with("eph_provider_api.compile:sleep", "--call-warning", "0.1")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("compile of ScriptedExecutionProvider for partition \"scripted_0\" has been "
                      "running for more than 0.1 s", process.stderr)

    def test_names_the_node_of_a_run(self):
        process = self.run_with("eph_computation_api.compute:sleep", "--call-warning", "0.1",
                                claim="kernels:Relu")
        self.assertIn("compute of ScriptedExecutionProvider for Relu \"second\" has been running",
                      process.stderr)

    def test_can_be_switched_off(self):
        process = self.run_with("eph_provider_api.compile:sleep", "--call-warning", "0")
        self.assertEqual((process.returncode, process.stderr), (0, ""))

    def test_refuses_a_time_below_zero(self):
        self.assertEqual(self.run_with("", "--call-warning", "-1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
