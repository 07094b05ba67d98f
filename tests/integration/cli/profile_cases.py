"""Cases of `--profile` of `ephost run`, `bench` and `compile`: the trace that they write."""

import collections
import json
import unittest

from command_line import CommandLineTest, tiny


class ProfileTest(CommandLineTest):
    def trace(self, name="trace.json"):
        """The events by category; all must be complete events as Chrome reads them."""
        with open(self.folder / name, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        by_category = collections.defaultdict(list)
        for event in events:
            self.assertEqual(event["ph"], "X")
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)
            self.assertGreater(event["pid"], 0)
            self.assertGreater(event["tid"], 0)
            by_category[event["cat"]].append(event)
        return by_category

    def assert_steps(self, model, steps, runs, *arguments):
        planned = self.json("plan", model, *arguments)["steps"]
        numbers = collections.Counter(int(step["args"]["step"]) for step in steps)
        self.assertEqual(numbers, {number: runs for number in range(len(planned))})
        for step in steps:
            self.assertTrue(step["name"])
            self.assertTrue(step["args"]["op_type"])
            self.assertEqual(step["args"]["provider"],
                             planned[int(step["args"]["step"])]["provider"])

    def test_has_each_phase_and_each_step_once_a_run(self):
        for mode in ((), ("--execution-mode", "parallel", "--inter-op-threads", 3)):
            with self.subTest(mode):
                report = self.json("run", tiny("tiny_two_branches"), "--repeat", 3, "--profile",
                                   "trace.json", *mode)
                trace = self.trace()
                self.assertEqual({event["name"] for event in trace["session"]},
                                 set(phase["name"] for phase in report["session"]))
                self.assertEqual(len(trace["run"]), 3)
                self.assert_steps(tiny("tiny_two_branches"), trace["step"], 3)

    def test_steps_lie_within_their_run(self):
        self.ephost("run", tiny("tiny_cnn"), "--profile", "trace.json")
        trace = self.trace()
        run, = trace["run"]
        for step in trace["step"]:
            self.assertGreaterEqual(step["ts"] + 0.002, run["ts"])
            self.assertLessEqual(step["ts"] + step["dur"], run["ts"] + run["dur"] + 0.002)

    def test_names_providers_and_partitions(self):
        self.ephost("run", tiny("tiny_cnn"), "--ep", "dnnl", "--profile", "trace.json")
        trace = self.trace()
        self.assertIn(("DnnlExecutionProvider", "partition"),
                      {(step["args"]["provider"], step["args"]["op_type"])
                       for step in trace["step"]})
        self.assert_steps(tiny("tiny_cnn"), trace["step"], 1, "--ep", "dnnl")

    def test_bench_profiles_the_session_that_runs(self):
        self.ephost("bench", tiny("tiny_mlp"), "--sessions", 2, "--runs", 4, "--warm-up", 1,
                    "--profile", "trace.json")
        trace = self.trace()
        self.assertEqual(len([event for event in trace["session"] if event["name"] == "plan"]), 1)
        self.assertEqual(len(trace["run"]), 1 + 1 + 4)

    def test_compile_profiles_its_phases(self):
        self.ephost("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "ctx.onnx", "--profile",
                    "trace.json")
        self.assertIn("compile", [event["name"] for event in self.trace()["session"]])

    def test_says_which_file_cannot_be_written(self):
        message = self.refusal("NO_SUCHFILE", "run", tiny("tiny_mlp"), "--profile", "no/trace.json")
        self.assertIn("no/trace.json", message)


class ExecutionModeTest(CommandLineTest):
    def test_gives_the_same_bytes_in_parallel(self):
        for model in ("tiny_cnn", "tiny_two_branches", "tiny_diamond", "tiny_residual", "tiny_loop"):
            with self.subTest(model):
                outputs = []
                for mode in ("sequential", "parallel"):
                    self.ephost("run", tiny(model), "--execution-mode", mode, "--inter-op-threads",
                                4, "--intra-op-threads", 1, "--output-dir", mode)
                    outputs.append([file.read_bytes()
                                    for file in sorted((self.folder / mode).iterdir())])
                self.assertTrue(outputs[0])
                self.assertEqual(*outputs)

    def test_refuses_what_is_no_mode_and_no_number(self):
        self.ephost("run", tiny("tiny_mlp"), "--execution-mode", "random", status=2)
        self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_mlp"), "--inter-op-threads", 1000)
        self.refusal("INVALID_ARGUMENT", "run", tiny("tiny_mlp"), "--config",
                     "session.execution_mode=random")


if __name__ == "__main__":
    unittest.main()
