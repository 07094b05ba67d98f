"""Cases of `ephost test`."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from command_line import CommandLineTest, EPHOST, PLUGINS, TINY_MODELS, tiny
from list_cases import MANIFEST
from partition_cases import save_unknown_operator


class TestTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        for name in ("tiny_cnn", "tiny_mlp"):
            shutil.copytree(TINY_MODELS / name, self.folder / "tests" / name)

    def spoil(self, name):
        """Writes an expected output that is not right."""
        file = self.folder / "tests" / name / "test_data_set_0" / "output_0.pb"
        tensor = numpy_helper.from_array(np.full((1, 10), 7, np.float32), "logits")
        file.write_bytes(tensor.SerializeToString())

    def add_unsupported(self):
        folder = self.folder / "tests" / "strange"
        shutil.copytree(self.folder / "tests" / "tiny_mlp", folder)
        save_unknown_operator(folder / "model.onnx")

    def test_counts_what_passes(self):
        lines = self.ephost("test", "tests").stdout.splitlines()
        self.assertEqual(lines[1:], ["2 passed, 0 failed, 0 skipped"])
        lines = self.ephost("test", "tests", "--ep", "dnnl", "--jobs", 2).stdout.splitlines()
        self.assertEqual(lines[1:], ["2 passed, 0 failed, 0 skipped"])

    def test_takes_single_tests(self):
        nodes = self.nodes_of("tiny_cnn")
        self.assertEqual(self.ephost("test", "tests/tiny_cnn", "--verbose").stdout,
                         f"PASS tiny_cnn (CPUExecutionProvider {nodes})\n"
                         f"nodes: CPUExecutionProvider {nodes}\n1 passed, 0 failed, 0 skipped\n")

    def nodes_of(self, name, *flags):
        """How many nodes of a tiny model run on all providers together."""
        return len(self.json("partition", tiny(name), *flags)["nodes"])

    def test_says_which_provider_ran_how_many_nodes(self):
        report = self.json("test", "tests", "--ep", "dnnl")
        total = {}
        for test in report["tests"]:
            self.assertGreater(test["nodes"]["DnnlExecutionProvider"], 0)
            self.assertEqual(sum(test["nodes"].values()), self.nodes_of(test["name"], "--ep", "dnnl"))
            for provider, nodes in test["nodes"].items():
                total[provider] = total.get(provider, 0) + nodes
        self.assertEqual(report["nodes"], total)
        text = ", ".join(f"{provider} {nodes}" for provider, nodes in sorted(total.items()))
        self.assertEqual(self.ephost("test", "tests", "--ep", "dnnl").stdout.splitlines()[0], f"nodes: {text}")

    def test_counts_what_the_host_runs(self):
        nodes = self.json("test", TINY_MODELS / "tiny_if")["nodes"]
        self.assertEqual(nodes["host"], 2)  # one If, and another one in a branch of it
        self.assertGreater(nodes["CPUExecutionProvider"], 0)

    def test_fails_if_a_provider_that_was_asked_for_runs_nothing(self):
        error = self.refusal("FAIL", "test", "tests", "--ep", "image")
        self.assertIn("ImageExecutionProvider ran no node of any test", error)
        report = self.json("test", "tests", "--ep", "image", "--ep", "dnnl", status=1)
        self.assertEqual(report["failed"], 0)
        self.assertNotIn("ImageExecutionProvider", report["nodes"])
        # The CPU provider runs what others leave.
        self.ephost("test", "tests/tiny_mlp", "--ep", "dnnl", "--ep", "cpu")

    def test_a_selection_asks_for_its_providers_too(self):
        self.write("selection.yaml", "selection: 1\nproviders: [image]\n")
        self.refusal("FAIL", "test", "tests", "--selection", "selection.yaml")

    def test_can_require_every_node(self):
        self.ephost("test", "tests", "--ep", "cpu", "--require-all")
        self.ephost("test", "tests/tiny_mlp", "--ep", "dnnl", "--ep", "cpu", "--require-all")
        lines = self.ephost("test", TINY_MODELS / "tiny_diamond", "--ep", "dnnl", "--require-all",
                            status=1).stdout.splitlines()
        self.assertRegex(lines[0], r"^FAIL tiny_diamond: FAIL: not every node runs on DnnlExecutionProvider; "
                                   r"others run on: CPUExecutionProvider 1$")
        self.write("skip.txt", "tiny_diamond: dnnl has no Gather\n")
        self.ephost("test", TINY_MODELS / "tiny_diamond", "--ep", "dnnl", "--require-all", "--skip-list", "skip.txt")
        self.assertIn("host 2", self.ephost("test", TINY_MODELS / "tiny_if", "--ep", "cpu", "--require-all",
                                            status=1).stdout)
        self.assertIn("--ep", self.refusal("INVALID_ARGUMENT", "test", "tests", "--require-all"))

    def test_runs_control_flow(self):
        for name, flags in (("tiny_if", ()), ("tiny_if", ("--ep", "dnnl")), ("tiny_loop", ())):
            self.assertEqual(self.ephost("test", TINY_MODELS / name, *flags).stdout.splitlines()[1:],
                             ["1 passed, 0 failed, 0 skipped"])

    def test_a_failure_is_one_line(self):
        self.spoil("tiny_cnn")
        lines = self.ephost("test", "tests", status=1).stdout.splitlines()
        self.assertRegex(lines[0], r"^FAIL tiny_cnn: FAIL: output \"logits\": 10 of 10 numbers differ, "
                                   r"the first at \[0,0\]: \S+, expected 7 .*test_data_set_0")
        self.assertEqual(lines[2:], ["1 passed, 1 failed, 0 skipped"])
        self.assertEqual(self.ephost("test", "tests", "--atol", 100).stdout.splitlines()[1:],
                         ["2 passed, 0 failed, 0 skipped"])

    def test_the_skip_list_excuses_failures_and_nothing_else(self):
        self.spoil("tiny_cnn")
        self.write("skip.txt", "tiny_cnn: spoilt\n")
        lines = self.ephost("test", "tests", "--skip-list", "skip.txt").stdout.splitlines()
        self.assertEqual(lines[0], "SKIP tiny_cnn: spoilt")
        self.assertEqual(lines[2:], ["1 passed, 0 failed, 1 skipped"])
        self.write("skip.txt", "tiny_cnn: spoilt\ntiny_mlp: once upon a time\n")
        lines = self.ephost("test", "tests", "--skip-list", "skip.txt", status=1).stdout.splitlines()
        self.assertEqual(lines[1], "FAIL tiny_mlp: it passes, although the skip list says "
                                   "\"once upon a time\"; remove it from the list")

    def test_what_is_not_implemented_fails_or_is_skipped_by_name(self):
        self.add_unsupported()
        lines = self.ephost("test", "tests", status=1).stdout.splitlines()
        self.assertRegex(lines[0], "^FAIL strange: NOT_IMPLEMENTED: .*Strange")
        lines = self.ephost("test", "tests", "--skip-unsupported").stdout.splitlines()
        self.assertRegex(lines[0], "^SKIP strange: NOT_IMPLEMENTED: .*Strange")
        self.assertEqual(lines[2:], ["2 passed, 0 failed, 1 skipped"])

    def test_reports_json(self):
        self.spoil("tiny_cnn")
        report = self.json("test", "tests", status=1)
        self.assertEqual((report["passed"], report["failed"], report["skipped"]), (1, 1, 0))
        self.assertEqual([test["outcome"] for test in report["tests"]], ["fail", "pass"])

    def test_compares_elements_of_types_that_came_late(self):
        for name, element_type, numbers, right, wrong, difference in [
            ("float8e8m0", 24, [2, 0.5, 0, np.nan, 3], b"\x80\x7e\x00\xff\x81", b"\x80\x7e\x00\xff\x82",
             "4, expected 8"),
            ("uint2", 25, [1, 3, 0, 0, 3], b"\x0d\x03", b"\x0d\x02", "3, expected 2"),
            ("int2", 26, [1, -2, 0, 0, 1], b"\x09\x01", b"\x09\x03", "1, expected -1"),
        ]:
            with self.subTest(name):
                folder = self.folder / "late" / name
                self.save_cast(folder, element_type, numbers, right)
                self.assertEqual(self.ephost("test", folder).stdout.splitlines()[1:],
                                 ["1 passed, 0 failed, 0 skipped"])
                self.save_cast(folder, element_type, numbers, wrong)
                self.assertIn(f"1 of 5 numbers differ, the first at [4]: {difference}",
                              self.ephost("test", folder, status=1).stdout)

    def save_cast(self, folder, element_type, numbers, expected):
        """A test of a cast of five numbers to a type that the installed onnx does not know."""
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=element_type)], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5])],
                                  [helper.make_tensor_value_info("y", element_type, [5])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])
        model.ir_version = 13
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        (data / "input_0.pb").write_bytes(
            numpy_helper.from_array(np.float32(numbers), "x").SerializeToString())
        (data / "output_0.pb").write_bytes(TensorProto(
            name="y", data_type=element_type, dims=[5], raw_data=expected).SerializeToString())

    def test_a_plugin_that_cannot_be_used_is_in_no_test_s_way(self):
        self.add_unsupported()
        shutil.copy(PLUGINS.resolve() / "libephost_image.so", self.write("plugins/other.so"))
        self.write("plugins/other.yaml", MANIFEST)  # names another provider than the library has
        report = self.json("test", "tests", "--plugin-path", "plugins", status=1)
        self.assertEqual((report["passed"], report["failed"]), (2, 1))
        reason, = [test["reason"] for test in report["tests"] if test["outcome"] == "fail"]
        self.assertRegex(reason, "^NOT_IMPLEMENTED: .*Strange")

    def save_long_loop(self, name):
        """A test whose run takes hours: a loop that adds one to a number."""
        folder = self.folder / "tests" / name
        (folder / "test_data_set_0").mkdir(parents=True)
        scalar = helper.make_tensor_value_info
        body = helper.make_graph(
            [helper.make_node("Add", ["state", "state"], ["next"]), helper.make_node("Identity", ["go"], ["going"])],
            "body", [scalar("i", TensorProto.INT64, []), scalar("go", TensorProto.BOOL, []),
                     scalar("state", TensorProto.FLOAT, [])],
            [scalar("going", TensorProto.BOOL, []), scalar("next", TensorProto.FLOAT, [])])
        graph = helper.make_graph([helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)], "g",
                                  [scalar("count", TensorProto.INT64, []), scalar("x", TensorProto.FLOAT, [])],
                                  [scalar("y", TensorProto.FLOAT, [])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for file, array in (("input_0", np.array(1 << 40, np.int64)), ("input_1", np.array(0, np.float32)),
                            ("output_0", np.array(0, np.float32))):
            (folder / "test_data_set_0" / f"{file}.pb").write_bytes(
                numpy_helper.from_array(array).SerializeToString())

    def test_an_interrupted_command_reports_what_has_ended(self):
        self.save_long_loop("tiny_n")  # after tiny_cnn and tiny_mlp
        self.spoil("tiny_cnn")
        shutil.copytree(self.folder / "tests" / "tiny_mlp", self.folder / "tests" / "tiny_z")
        environment = {**os.environ, "HOME": str(self.folder), "XDG_DATA_DIRS": str(self.folder)}
        for number, arguments in ((signal.SIGINT, ("--format", "json")), (signal.SIGTERM, ())):
            with self.subTest(signal=number):
                process = subprocess.Popen([EPHOST, "test", "tests", *arguments, "--verbose"], cwd=self.folder,
                                           env=environment, text=True, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE)
                time.sleep(3)
                process.send_signal(number)
                out, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number, out + error)
                self.assertIn("interrupted", error)
                if not arguments:
                    self.assertIn("FAIL tiny_cnn", out)
                    self.assertTrue(out.endswith(" passed, 1 failed, 0 skipped, 2 not run (interrupted)\n"), out)
                    continue
                report = json.loads(out)
                self.assertTrue(report["interrupted"])
                outcomes = {test["name"]: test["outcome"] for test in report["tests"]}
                self.assertEqual(outcomes, {"tiny_cnn": "fail", "tiny_mlp": "pass", "tiny_n": "not run",
                                            "tiny_z": "not run"})

    def test_refuses_folders_without_tests(self):
        (self.folder / "empty").mkdir()
        self.refusal("NO_SUCHFILE", "test", "empty")
        self.refusal("NO_SUCHFILE", "test", "absent")

    def test_refuses_a_broken_skip_list(self):
        self.write("skip.txt", "tiny_cnn\n")
        self.assertIn("skip.txt:1: ", self.refusal("INVALID_ARGUMENT", "test", "tests",
                                                   "--skip-list", "skip.txt"))

    def test_a_broken_model_is_a_failure_of_its_own(self):
        (self.folder / "tests" / "tiny_cnn" / "model.onnx").write_bytes(b"garbage")
        lines = self.ephost("test", "tests", status=1).stdout.splitlines()
        self.assertRegex(lines[0], "^FAIL tiny_cnn: INVALID_PROTOBUF: ")
        self.assertEqual(lines[2:], ["1 passed, 1 failed, 0 skipped"])


if __name__ == "__main__":
    unittest.main()
