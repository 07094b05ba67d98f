"""Cases of the command line as a whole: help, versions, usage errors."""

import unittest

from command_line import CommandLineTest, tiny

COMMANDS = ["list", "inspect", "devices", "partition", "plan", "compile", "run", "test", "bench", "verify",
            "cache"]


class UsageTest(CommandLineTest):
    def test_help_names_every_command(self):
        text = self.ephost("--help").stdout
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")

    def test_each_command_has_help(self):
        verbs = [f"cache {verb}" for verb in ("list", "verify", "prune", "clear")]
        for command in [name for name in COMMANDS if name != "cache"] + verbs:
            with self.subTest(command):
                self.assertIn("--format", self.ephost(*command.split(), "--help").stdout)

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


if __name__ == "__main__":
    unittest.main()
