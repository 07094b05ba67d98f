"""Cases of `ephost bench`."""

import unittest

from command_line import CommandLineTest, tiny


class BenchTest(CommandLineTest):
    def test_measures_sessions_runs_and_memory(self):
        report = self.json("bench", tiny("tiny_cnn"), "--sessions", 3, "--runs", 10)
        self.assertEqual(report["providers"], ["CPUExecutionProvider"])
        self.assertEqual(len(report["session"]["seconds"]), 3)
        self.assertIn("import", [phase["name"] for phase in report["session"]["phases"]])
        run = report["run"]
        self.assertEqual(run["count"], 10)
        self.assertLessEqual(0, run["min_seconds"])
        self.assertLessEqual(run["min_seconds"], run["median_seconds"])
        self.assertLessEqual(run["median_seconds"], run["p90_seconds"])
        self.assertGreater(report["first_run_seconds"], 0)
        self.assertGreater(report["peak_resident_bytes"], 1 << 20)
        self.assertIsNone(report["allocations_per_run"])  # without the library that counts them
        for block in report["planned_memory"]:
            self.assertGreaterEqual(block["peak_bytes"], block["lower_bound_bytes"])

    def test_compares_with_the_context_model(self):
        report = self.json("bench", tiny("tiny_cnn"), "--ep", "dnnl", "--sessions", 2, "--runs", 2,
                           "--compare-context")
        self.assertGreater(report["context"]["partitions"], 0)
        self.assertGreater(report["context"]["speedup"], 0)
        self.assertEqual(len(report["context"]["session"]["seconds"]), 2)
        table = self.ephost("bench", tiny("tiny_cnn"), "--ep", "dnnl", "--sessions", 1, "--runs", 1,
                            "--compare-context").stdout
        self.assertRegex(table, r"(?m)^context speed-up +\d+\.\d+ times$")

    def test_reports_its_own_peak_memory_and_not_that_of_the_process_that_started_it(self):
        resident = b"x" * (512 << 20)
        report = self.json("bench", tiny("tiny_mlp"), "--sessions", 1, "--runs", 1)
        self.assertLess(report["peak_resident_bytes"], len(resident))

    def test_takes_inputs_like_run(self):
        self.json("bench", tiny("tiny_mlp"), "--sessions", 1, "--runs", 1, "--input", "input=zeros")
        self.refusal("INVALID_ARGUMENT", "bench", tiny("tiny_mlp"), "--input", "x=zeros")


if __name__ == "__main__":
    unittest.main()
