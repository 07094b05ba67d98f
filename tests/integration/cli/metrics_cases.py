"""Cases of --metrics-file: its format, its numbers, and what becomes of it when a command fails."""

import pathlib
import re
import signal
import subprocess
import time
import unittest

import prometheus_format
from command_line import EPHOST, CommandLineTest, tiny

README = pathlib.Path(__file__).resolve().parents[3] / "host" / "include" / "README.md"
CPU = "CPUExecutionProvider"
DNNL = "DnnlExecutionProvider"


class MetricsTest(CommandLineTest):
    def metrics(self, *arguments):
        self.ephost(*arguments, "--metrics-file", "ephost.prom")
        return self.read()

    def read(self):
        left = [path.name for path in self.folder.iterdir() if path.name.startswith(".ephost-")]
        self.assertEqual(left, [])
        return prometheus_format.parse((self.folder / "ephost.prom").read_text())

    def value(self, families, name, **labels):
        family = re.sub(r"_(bucket|sum|count)$", "", name)
        return families[name if name in families else family]["samples"].get((name, frozenset(labels.items())))

    def test_counts_what_a_run_does(self):
        found = self.metrics("run", tiny("tiny_cnn"), "--ep", "dnnl", "--repeat", 7)
        providers = f"{DNNL},{CPU}" if any(("providers", f"{DNNL},{CPU}") in key[1] for key in found["ephost_runs_total"]["samples"]) else DNNL
        self.assertEqual(self.value(found, "ephost_sessions_total", outcome="succeeded"), 1)
        self.assertEqual(self.value(found, "ephost_session_creation_seconds_count", outcome="succeeded"), 1)
        self.assertEqual(self.value(found, "ephost_runs_total", providers=providers, outcome="succeeded"), 7)
        self.assertEqual(self.value(found, "ephost_runs_total", providers=providers, outcome="failed"), 0)
        self.assertEqual(self.value(found, "ephost_run_seconds_count", providers=providers, outcome="succeeded"), 7)
        self.assertGreater(self.value(found, "ephost_run_seconds_sum", providers=providers, outcome="succeeded"), 0)
        self.assertEqual(self.value(found, "ephost_runs_in_progress", providers=providers), 0)
        self.assertGreaterEqual(self.value(found, "ephost_partitions_total", provider=DNNL, action="compile"), 1)
        self.assertEqual(self.value(found, "ephost_live_sessions"), 0)

    def test_has_the_metrics_of_the_documentation(self):
        found = self.metrics("run", tiny("tiny_cnn"))
        documented = re.findall(r"^\| `(ephost_\w+)` \|([^|]*)\|", README.read_text(), re.MULTILINE)
        self.assertEqual([name for name, _ in documented], list(found))
        for name, labels in documented:
            expected = {label.strip() for label in labels.split(",") if label.strip()}
            for key in found[name]["samples"]:
                self.assertEqual({label for label, _ in key[1]} - {"le"}, expected, name)

    def test_says_what_the_cache_store_did(self):
        run = ("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", "store")
        first, second = self.metrics(*run), self.metrics(*run)
        self.assertEqual(self.value(first, "ephost_context_cache_total", outcome="miss"), 1)
        self.assertEqual(self.value(first, "ephost_context_cache_stores_total"), 1)
        self.assertEqual(self.value(second, "ephost_context_cache_total", outcome="hit"), 1)
        self.assertEqual(self.value(second, "ephost_context_cache_stores_total"), 0)
        self.assertGreaterEqual(self.value(second, "ephost_partitions_total", provider=DNNL, action="restore"), 1)
        self.assertGreaterEqual(self.value(second, "ephost_provider_compile_seconds_count", provider=DNNL, action="restore"), 1)

    def test_is_written_by_other_commands(self):
        found = self.metrics("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "model_ctx.onnx")
        self.assertEqual(self.value(found, "ephost_compilations_total", outcome="succeeded"), 1)
        found = self.metrics("bench", tiny("tiny_cnn"), "--sessions", 1, "--runs", 4, "--warm-up", 2)
        runs = sum(value for (_, labels), value in found["ephost_runs_total"]["samples"].items()
                   if ("outcome", "succeeded") in labels)
        self.assertGreaterEqual(runs, 7)
        found = self.metrics("test", tiny("tiny_cnn").parent)
        self.assertGreaterEqual(self.value(found, "ephost_sessions_total", outcome="succeeded"), 1)

    def test_is_written_when_the_command_fails(self):
        self.write("garbage.onnx", "this is not a model")
        self.refusal("INVALID_PROTOBUF", "run", "garbage.onnx", "--metrics-file", "ephost.prom")
        found = self.read()
        self.assertEqual(self.value(found, "ephost_sessions_total", outcome="failed"), 1)
        self.assertEqual(self.value(found, "ephost_failures_total", operation="session", code="INVALID_PROTOBUF"), 1)

    def test_is_written_when_the_command_is_interrupted(self):
        command = [EPHOST, "run", str(tiny("tiny_cnn")), "--repeat", "4000000000",
                   "--metrics-file", "ephost.prom", "-q"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(b"cancelled", error)
        found = self.read()
        outcomes = {dict(labels)["outcome"]: value for (_, labels), value in found["ephost_runs_total"]["samples"].items()}
        self.assertGreater(outcomes["succeeded"], 0)
        self.assertEqual((outcomes["failed"], outcomes["cancelled"]), (0, 1))

    def test_replaces_nothing_but_metrics(self):
        self.copy_model("tiny_cnn")
        model = self.folder / "tiny_cnn" / "model.onnx"
        before = model.read_bytes()
        error = self.refusal("INVALID_ARGUMENT", "run", model, "--metrics-file", model)
        self.assertIn("does not have metrics", error)
        self.assertEqual(model.read_bytes(), before)
        self.metrics("run", model)
        self.metrics("run", model)

    def test_says_where_it_cannot_be_written(self):
        self.refusal("NO_SUCHFILE", "run", tiny("tiny_cnn"), "--metrics-file", "missing/ephost.prom")


if __name__ == "__main__":
    unittest.main()
