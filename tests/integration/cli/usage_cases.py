"""Cases of the command line as a whole: help, versions, usage errors."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from command_line import EPHOST, EXIT_STATUS, PLUGINS, TINY_MODELS, CommandLineTest, tiny

SCRIPTED = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "scripted"

COMMANDS = ["list", "inspect", "check-selection", "devices", "partition", "plan", "compile", "run", "test", "bench",
            "verify", "cache", "quarantine", "config", "keygen", "sign", "trust"]


class UsageTest(CommandLineTest):
    def test_help_names_every_command(self):
        text = self.ephost("--help").stdout
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")

    def test_each_command_has_help(self):
        verbs = [f"cache {verb}" for verb in ("list", "verify", "prune", "clear")]
        verbs += [f"quarantine {verb}" for verb in ("list", "clear")]
        verbs += [f"trust {verb}" for verb in ("add", "list", "remove", "revoke")]
        groups = ("cache", "quarantine", "config", "trust")
        for command in [name for name in COMMANDS if name not in groups] + verbs + ["config list"]:
            with self.subTest(command):
                self.assertIn("--format", self.ephost(*command.split(), "--help").stdout)

    def examples(self, *command):
        text = self.ephost(*command, "--help").stdout
        self.assertIn("\nExamples:\n", text, command)
        return [line.strip() for line in text.split("\nExamples:\n")[1].splitlines() if line.strip()]

    def subcommands(self, *command):
        text = self.ephost(*command, "--help").stdout.split("\nExamples:\n")[0]
        return re.findall(r"(?m)^  ([a-z-]+) ", text.split("Subcommands:")[1]) if "Subcommands:" in text else []

    def prepare_for_examples(self):
        """The files that the examples name."""
        for name in ("cnn", "dynamic"):
            model = tiny(f"tiny_{name}")
            shutil.copy(model, self.folder / {"cnn": "model.onnx", "dynamic": "open.onnx"}[name])
        shutil.copytree(tiny("tiny_cnn").parent, self.folder / "model_folder")
        self.write("selection.yaml", "selection: 1\nproviders: [dnnl]\n")
        self.write("problem.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,64\n")
        (self.folder / "acme").mkdir()
        text = (PLUGINS / "image.yaml").read_text()
        library, = set(re.findall(r"\S*libephost_image\.so", text))
        self.write("acme/acme.yaml", text.replace(library, "libephost_image.so"))
        shutil.copy((PLUGINS / "image.yaml").resolve().parent / library, self.folder / "acme" / "libephost_image.so")

    def test_every_command_has_examples_that_work(self):
        self.prepare_for_examples()
        commands = self.subcommands()
        self.assertLessEqual(set(COMMANDS), set(commands))
        for command in commands:
            for words in [(command,), *((command, verb) for verb in self.subcommands(command))]:
                for example in self.examples(*words):
                    with self.subTest(example):
                        program, *arguments = example.split()
                        self.assertEqual((program, arguments[0]), ("ephost", command))
                        self.ephost(*arguments)

    def test_manual_pages_have_the_examples(self):
        self.ephost("--write-documentation", "pages")
        page = (self.folder / "pages/man1/ephost-trust-add.1").read_text()
        example = self.examples("trust", "add")[0].replace("-", "\\-")
        self.assertIn(f".SH EXAMPLES\n.nf\n{example}\n", page)
        self.assertNotIn("Examples:", page)

    def test_tells_its_version(self):
        self.assertRegex(self.ephost("--version").stdout, r"^ephost \d+\.\d+\.\d+\n$")

    def test_usage_errors_have_a_status_of_their_own(self):
        for arguments in [(), ("dance",), ("run",), ("list", "--loud"), ("list", "--format", "xml"),
                          ("run", "m.onnx", "--config", "no-equals-sign"),
                          ("run", "m.onnx", "--repeat", "0"), ("list", "-v", "-q"),
                          ("test", "folder", "--rtol", "-1")]:
            with self.subTest(arguments):
                self.assertIn("--help", self.refusal("INVALID_ARGUMENT", *arguments, status=2))

    def test_every_command_that_loads_a_model_takes_the_sizes_of_its_dimensions(self):
        for command in ["partition", "plan", "compile -o ctx.onnx", "run", "bench --runs 1"]:
            with self.subTest(command):
                name, *arguments = command.split()
                result = self.ephost(name, tiny("tiny_dynamic"), *arguments, "--dim", "batch=2", "--dim", "bath=2")
                self.assertIn("did you mean \"batch\"?", result.stderr)
                self.assertNotIn("dimension \"batch\"", result.stderr)

    def test_a_usage_error_says_what_form_is_wanted(self):
        error = self.refusal("INVALID_ARGUMENT", "run", "m.onnx", "--ep-option", "num_threads",
                             status=2)
        self.assertIn("\"num_threads\" is not of the form NAME:KEY=VALUE", error)

    def test_suggests_the_command_or_option_that_was_meant(self):
        for arguments, suggestion in ((("lst",), "list"), (("cache", "purne", "."), "prune"),
                                      (("rnu", "m.onnx", "--ep", "dnnl"), "run"),
                                      (("run", "m.onnx", "--profil", "x.json"), "--profile"),
                                      (("run", "m.onnx", "--selction=x"), "--selection"),
                                      (("list", "--format", "jsno"), "json"),
                                      (("run", tiny("tiny_mlp"), "--policy", "PREFR_NPU"), "PREFER_NPU"),
                                      (("run", tiny("tiny_mlp"), "--ep", "dnnl", "--ep-option", "dnl:num_threads=1"),
                                       "dnnl"),
                                      (("run", tiny("tiny_mlp"), "--ep", "dnl"), "\"dnnl\"")):
            with self.subTest(arguments):
                code = "NOT_FOUND" if arguments[-1] == "dnl" else "INVALID_ARGUMENT"
                self.assertIn(f"; did you mean {suggestion}?", self.refusal(code, *arguments))


class ExitStatusTest(CommandLineTest):
    def status_of(self, *arguments, **options):
        result = subprocess.run([EPHOST, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                                timeout=300, **options)
        return result.returncode

    def test_tells_what_went_wrong(self):
        model = tiny("tiny_mlp")
        (self.folder / "model.onnx").write_text("this is not a model")
        (self.folder / "tests" / "empty").mkdir(parents=True)
        device = ("--plugin-path", SCRIPTED, "--ep", "scripted", "--device")
        for status, arguments in (
                (0, ("run", model)),
                (1, ("run", model, "--output-dir", "model.onnx")),
                (2, ("run", model, "--loud")),
                (2, ("run", model, "--config", "session.execution_mode=fast")),
                (4, ("run", "absent.onnx")),
                (4, ("run", "model.onnx")),
                (5, ("run", model, "--ep", "nobody")),
                (5, ("run", model, "--plugin-path", SCRIPTED, "--ep", "scripted", "--ep-option",
                     "scripted:fail=create")),
                (6, ("run", model, *device, "gpu:7")),
                (0, ("run", model, *device, "cpu")),
                *((status, ("run", model, "--plugin-path", SCRIPTED, "--ep", "scripted", "--ep-option",
                            "scripted:fail=compute", "--ep-option", f"scripted:fail_code={code}", "--config",
                            f"session.isolation={isolation}"))
                  for status, code in ((8, 1000), (9, 1001), (10, 1002), (124, 1003))
                  for isolation in ("none", "worker")),
                (124, ("bench", model, "--deadline", "0")),
                (124, ("run", model, "--deadline", "0"))):
            with self.subTest(arguments):
                self.assertEqual(self.status_of(*arguments), status)

    def test_the_documents_list_every_status(self):
        readme = (pathlib.Path(os.environ["EPHOST_SOURCE"]) / "host/cli/README.md").read_text()
        table = readme[readme.index("| exit status | meaning |"):].split("\n\n")[0]
        listed = dict(re.findall(r"(?m)^\| ([\d+N]+) \| (.*) \|$", table))
        self.ephost("--write-documentation", "documents")
        page = (self.folder / "documents/man1/ephost.1").read_text()
        section = page[page.index(".SH EXIT STATUS"):].replace("\\-", "-")
        printed = {status: meaning.removesuffix(".")
                   for status, meaning in re.findall(r"\.TP\n([\d+N]+)\n(.*)", section)}
        self.assertEqual(printed, listed)
        statuses = {"0", "7", "70", "124", "128+N"} | {str(status) for status in EXIT_STATUS.values()}
        self.assertEqual(set(listed), statuses)


class JsonErrorTest(CommandLineTest):
    def error_of(self, *arguments, status):
        result = self.ephost(*arguments, "--format", "json", status=status)
        self.assertEqual(result.stdout, "")
        report = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual(list(report), ["error"])
        self.assertEqual(list(report["error"]), ["code", "message", "exit_status"])
        self.assertEqual(report["error"]["exit_status"], status)
        return report["error"]

    def test_errors_are_one_object(self):
        error = self.error_of("run", "absent\u202e\".onnx", status=4)
        self.assertEqual(error["code"], "NO_SUCHFILE")
        self.assertIn("absent", error["message"])
        self.assertEqual(self.error_of("partition", tiny("tiny_mlp"), "--ep", "nobody", status=5)["code"], "NOT_FOUND")

    def test_so_are_usage_errors(self):
        for arguments in (("list", "--loud"), ("lst",), ("run",), (), ("plan", "m.onnx", "--dim", "x")):
            with self.subTest(arguments):
                error = self.error_of(*arguments, status=2)
                self.assertEqual(error["code"], "INVALID_ARGUMENT")
                self.assertIn("--help", error["message"])

    def test_the_other_program_has_them_too(self):
        program = pathlib.Path(EPHOST).parent / "ep_weight_sharing_ctx_gen"
        result = self.ephost("-e", "dnnl", "--format=json", "absent.onnx", program=program, status=4)
        self.assertEqual(json.loads(result.stderr)["error"]["code"], "NO_SUCHFILE")


TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
UNKNOWN = ("--config", "session.unknown=1")


class LogTest(CommandLineTest):
    def messages(self, *arguments, **variables):
        environment = {**os.environ, **variables}
        result = subprocess.run([EPHOST, "partition", tiny("tiny_mlp"), *arguments], env=environment,
                                cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr.splitlines()

    def test_lines_of_text_have_iso_times(self):
        (line,) = self.messages(*UNKNOWN)
        self.assertRegex(line, rf"^{TIME} \[ephost\] \[warning\] configuration entry \"session.unknown\" is unknown")

    def test_lines_of_json_are_objects(self):
        for messages in (self.messages(*UNKNOWN, "--log-format", "json"),
                         self.messages(*UNKNOWN, EPHOST_LOG_FORMAT="json")):
            (message,) = map(json.loads, messages)
            self.assertRegex(message.pop("time"), f"^{TIME}$")
            self.assertRegex(message.pop("location"), r"^host/session/.*\.cc:\d+$")
            self.assertIn("\"session.unknown\" is unknown", message.pop("message"))
            self.assertEqual(message, {"level": "warning", "logger": "ephost"})

    def test_the_flag_goes_before_the_variable(self):
        (line,) = self.messages(*UNKNOWN, "--log-format", "text", EPHOST_LOG_FORMAT="json")
        self.assertRegex(line, f"^{TIME} ")

    def test_a_variable_sets_the_level(self):
        self.assertEqual(self.messages(*UNKNOWN, EPHOST_LOG_LEVEL="error"), [])
        self.assertGreater(len(self.messages(EPHOST_LOG_LEVEL="Info")), 0)
        self.assertEqual(self.messages(EPHOST_LOG_LEVEL="Info", *("-q",)), [])
        self.assertGreater(len(self.messages("-v", EPHOST_LOG_LEVEL="error")), 0)

    def test_a_variable_with_another_value_is_named_once(self):
        (line,) = self.messages(EPHOST_LOG_LEVEL="loud")
        self.assertIn("the environment variable EPHOST_LOG_LEVEL cannot be \"loud\"; use one of verbose, info", line)

    def test_equal_warnings_are_summed_up(self):
        for i in range(20):
            shutil.copytree(TINY_MODELS / "tiny_mlp", self.folder / "tests" / str(i))
        lines = self.ephost("test", "tests", *UNKNOWN).stderr.splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("[warning] configuration entry \"session.unknown\" is unknown", lines[0])
        self.assertIn("[warning] repeated 19 more times: configuration entry \"session.unknown\" is unknown", lines[1])
        lines = self.ephost("test", "tests", *UNKNOWN, "--log-format", "json").stderr.splitlines()
        self.assertEqual([json.loads(line).get("repeated") for line in lines], [None, 19])

    def test_quiet_prints_nothing_but_what_was_asked(self):
        model = self.copy_model("tiny_cnn")
        self.ephost("run", model, "--ep", "dnnl", "--cache-dir", ".")
        for arguments in (("compile", model, "--ep", "dnnl", *UNKNOWN),
                          ("compile", model, "--ep", "dnnl", "-o", "c_ctx.onnx", "--embed"),
                          ("cache", "clear", ".")):
            with self.subTest(arguments):
                result = self.ephost(*arguments, "-q")
                self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertTrue((self.folder / "c_ctx.onnx").exists())
        result = self.ephost("run", model, "-q", *UNKNOWN)
        self.assertEqual(result.stderr, "")
        self.assertIn("output", result.stdout)


if __name__ == "__main__":
    unittest.main()
