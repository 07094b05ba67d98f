"""Cases of selections: `ephost check-selection`, what other commands make of one, and where they look for it."""

import json
import os
import re
import shutil
import subprocess
import unittest

from command_line import EPHOST, CommandLineTest, PLUGINS, tiny

SELECTION = """selection: 1
providers:
  - provider: dnnl
    version: ">=0.1"
    options:
      num_threads: 2
  - cpu
session:
  session.execution_order: memory
"""

WRONG = """selection: 1
provider: []
providers:
  - provider: dnnl
    verison: ">=0.1"
    options:
      num_thread: 2
    devices: [cpu, "npu:7"]
  - provider: cpu
    version: ">=99"
  - provider: dnll
  - DnnlExecutionProvider
  - provider: image
    version: "two"
session:
  session.execution_ordre: memory
  session.execution_mode: sideways
  ep.dnnl.num_threads: 2
"""


class SelectionCases(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.write("selection.yaml", SELECTION)

    def environment_of(self, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        environment.update(HOME=str(self.folder / "home"), XDG_CONFIG_DIRS=str(self.folder / "etc"),
                           XDG_DATA_DIRS=str(self.folder), XDG_CACHE_HOME=str(self.folder / ".cache"))
        environment.update({name: str(value) for name, value in variables.items()})
        return environment

    def in_environment(self, *arguments, status=0, **variables):
        """The finished process, in an environment with these variables and no others of ours."""
        result = subprocess.run([EPHOST, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                                env=self.environment_of(**variables), timeout=300)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result


class CheckSelectionTest(SelectionCases):
    def test_a_sound_selection_has_no_findings(self):
        report = self.json("check-selection", "selection.yaml")
        self.assertTrue(report["ok"])
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["origin"], "given")
        dnnl, cpu = report["providers"]
        self.assertEqual((dnnl["name"], dnnl["provider"], dnnl["version_range"], dnnl["options"]),
                         ("dnnl", "DnnlExecutionProvider", ">=0.1", {"num_threads": "2"}))
        self.assertEqual(dnnl["manifest"], str(PLUGINS.resolve() / "dnnl.yaml"))
        self.assertTrue(dnnl["library"].endswith(".so"))
        self.assertEqual(cpu["provider"], "CPUExecutionProvider")
        self.assertEqual(report["session"], {"session.execution_order": "memory"})
        text = self.ephost("check-selection", "selection.yaml").stdout
        self.assertRegex(text, r"(?m)^ +1 +dnnl +DnnlExecutionProvider +>=0\.1 +\d+\.\d+\.\d+ +num_threads=2$")
        self.assertIn('"selection.yaml" (given) has no findings', text)

    def test_finds_everything_at_once(self):
        self.write("wrong.yaml", WRONG)
        result = self.ephost("check-selection", "wrong.yaml", "--format", "json", status=1)
        report = json.loads(result.stdout)
        self.assertFalse(report["ok"])
        found = [(finding["line"], finding["column"]) for finding in report["findings"]]
        self.assertEqual(found, [(2, 1), (5, 5), (7, 19), (8, 20), (10, 14), (11, 15), (12, 5), (14, 14), (16, 28),
                                 (17, 27), (18, 24)])
        messages = [finding["message"] for finding in report["findings"]]
        for message, part in zip(messages, [
                'did you mean "providers"?', 'did you mean "version"?', 'did you mean "num_threads"?', '"npu:7"',
                'with version >=99', 'did you mean "dnnl"?', "listed already", '"two"',
                'did you mean "session.execution_order"?', '"sideways"', 'provider\'s "options"']):
            self.assertIn(part, message)
            self.assertNotIn("wrong.yaml:", message)
        text = self.ephost("check-selection", "wrong.yaml", status=1).stdout
        self.assertIn('\nwrong.yaml:5:5: unknown key "providers[0].verison"; did you mean "version"?\n', text)
        self.assertIn('"wrong.yaml" (given) has 11 findings', text)

    def test_what_is_not_yaml_is_one_finding(self):
        self.write("wrong.yaml", "selection: 1\nproviders: [cpu\n")
        report = self.json("check-selection", "wrong.yaml", status=1)
        finding, = report["findings"]
        self.assertIn("not valid YAML", finding["message"])
        self.write("wrong.yaml", "selection: 1\nproviders: []\nproviders: []\n")
        finding, = self.json("check-selection", "wrong.yaml", status=1)["findings"]
        self.assertEqual((finding["line"], finding["column"]), (3, 1))

    def test_a_file_that_cannot_be_read_is_an_error(self):
        self.refusal("NO_SUCHFILE", "check-selection", "nowhere.yaml")
        self.assertIn("EPHOST_SELECTION", self.refusal("NO_SUCHFILE", "check-selection"))

    def test_a_file_that_others_may_change_is_not_used(self):
        selection = self.folder / "selection.yaml"
        selection.chmod(0o666)
        strictly = {"EPHOST_ALLOW_WRITABLE_PLUGINS": "0"}
        for command in (["check-selection"], ["verify", tiny("tiny_mlp"), "--selection"],
                        ["run", tiny("tiny_mlp"), "--selection"]):
            process = self.ephost(*command, selection, status=2, variables=strictly)
            self.assertIn(f'the file "{selection}" can be changed by others', process.stderr)
        self.ephost("run", tiny("tiny_mlp"), "--selection", selection, "--allow-writable-plugins", variables=strictly)
        process = self.ephost("verify", tiny("tiny_mlp"), "--selection", selection, "--allow-writable-plugins",
                              status=2, variables=strictly)
        self.assertIn("has no EPContext nodes", process.stderr)

    def test_loads_plugins_unless_told_otherwise(self):
        manifest = re.sub(r"(?m)^(name|provider): .*$", lambda line: f"{line[1]}: " +
                          ("other" if line[1] == "name" else "OtherExecutionProvider"),
                          (PLUGINS / "cpu.yaml").read_text())
        self.write("plugins/other.yaml", manifest)
        shutil.copy(next(PLUGINS.resolve().glob("libephost_cpu.so")), self.folder / "plugins")
        self.write("other.yaml", "selection: 1\nproviders: [other]\n")
        arguments = ("check-selection", "other.yaml", "--plugin-path", "plugins")
        self.assertTrue(self.json(*arguments, "--no-plugins")["ok"])
        finding, = self.json(*arguments, status=1)["findings"]
        self.assertEqual((finding["line"], finding["column"]), (2, 13))
        self.assertIn("OtherExecutionProvider", finding["message"])

    def test_says_that_no_version_can_be_loaded(self):
        self.write("plugins/other.yaml", (PLUGINS / "cpu.yaml").read_text().replace("CPUExecution", "OtherExecution")
                   .replace("name: cpu\n", "name: other\n"))
        self.write("plugins/libephost_cpu.so", "no library at all")
        self.write("other.yaml", "selection: 1\nproviders: [other]\n")
        report = self.json("check-selection", "other.yaml", "--plugin-path", "plugins", "--no-plugins", status=1)
        self.assertIn("not a shared library", report["findings"][0]["message"])
        self.assertIsNone(report["providers"][0]["provider"])

    def test_says_what_entries_contradict_each_other(self):
        self.write("wrong.yaml", "selection: 1\nproviders: []\nsession:\n  session.shapes.specialize: 'off'\n"
                                 "  session.shapes.profiles: batch=1:2:3\n")
        finding, = self.json("check-selection", "wrong.yaml", status=1)["findings"]
        self.assertEqual(finding["line"], 4)
        self.assertIn("forbids", finding["message"])


class SelectedPluginsTest(SelectionCases):
    def test_list_marks_what_is_chosen_and_why(self):
        report = self.json("list", "--selection", "selection.yaml")
        selected = {plugin["name"]: plugin["selected"] for plugin in report["plugins"]}
        self.assertEqual(selected["dnnl"]["position"], 1)
        self.assertIn('">=0.1"', selected["dnnl"]["reason"])
        self.assertEqual(selected["cpu"]["position"], 2)
        self.assertEqual(selected["image"], {"position": None, "reason": "the selection does not name its provider"})
        self.assertEqual([one["name"] for one in report["selection"]["providers"]], ["dnnl", "cpu"])
        table = self.ephost("list", "--selection", "selection.yaml").stdout
        self.assertRegex(table, r"(?m)^DnnlExecutionProvider .* 1  the highest version that can be loaded in \">=0\.1\"$")
        self.assertRegex(table, r'(?m)^selection "selection.yaml" \(given\):$')
        self.assertNotIn("selected", self.json("list")["plugins"][0])

    def test_list_names_what_is_found_nowhere(self):
        self.write("wrong.yaml", "selection: 1\nproviders: [acme, {provider: dnnl, version: '>=99'}]\n")
        report = self.json("list", "--selection", "wrong.yaml")
        self.assertEqual([one["provider"] for one in report["selection"]["providers"]],
                         [None, None, "CPUExecutionProvider"])
        self.assertTrue(report["selection"]["providers"][2]["appended"])
        acme, dnnl = report["selection"]["findings"]
        self.assertIn("no plugin offers the provider \"acme\"", acme["message"])
        self.assertIn("with version >=99", dnnl["message"])
        selected = {plugin["name"]: plugin["selected"] for plugin in report["plugins"]}
        self.assertEqual(selected["dnnl"], {"position": None, "reason": 'its version is not in ">=99"'})
        self.assertEqual(selected["cpu"]["reason"], "every session has the CPU provider")
        self.assertIn("wrong.yaml:2:13: no plugin offers", self.ephost("list", "--selection", "wrong.yaml").stdout)

    def copy_dnnl(self, folder, version):
        self.write(f"{folder}/dnnl.yaml", re.sub(r"(?m)^version: .*$", f"version: {version}",
                                                 (PLUGINS / "dnnl.yaml").read_text()))
        self.write(f"{folder}/libephost_dnnl.so", "no library at all")

    def test_list_tells_versions_apart(self):
        self.copy_dnnl("plugins/newer", "99.0.0")
        shutil.copytree(PLUGINS.resolve(), self.folder / "copies")
        report = self.json("list", "--selection", "selection.yaml", "--plugin-path", "plugins/newer",
                           "--plugin-path", "copies")
        of_dnnl = [plugin["selected"] for plugin in report["plugins"] if plugin["name"] == "dnnl"]
        self.assertEqual([one["position"] for one in of_dnnl], [None, 1, None])
        self.assertEqual(of_dnnl[0]["reason"], "it cannot be loaded")
        self.assertRegex(of_dnnl[2]["reason"], r'^used only if version \S+ of "copies/dnnl.yaml" fails$')
        self.assertEqual(report["selection"]["providers"][0]["manifest"], "copies/dnnl.yaml")

    def test_inspect_takes_the_plugin_as_the_selection_chooses_it(self):
        self.write("exact.yaml", "selection: 1\nproviders:\n  - provider: dnnl\n    version: '<99'\n"
                                 "    options: {num_threads: 2}\n    devices: [cpu]\n")
        self.copy_dnnl("plugins", "99.0.0")
        arguments = ("inspect", "dnnl", "--plugin-path", "plugins")
        self.assertIn("99.0.0", self.ephost(*arguments).stderr)  # is tried first
        result = self.ephost(*arguments, "--selection", "exact.yaml", "--format", "json")
        self.assertNotIn("99.0.0", result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["selection"]["version_range"], "<99")
        self.assertEqual(report["selection"]["devices"], ["cpu"])
        self.assertTrue(report["library"].startswith(str(PLUGINS.resolve())))
        options = {option["name"]: option["selected"] for option in report["options"]}
        self.assertEqual(options["num_threads"], "2")
        table = self.ephost(*arguments, "--selection", "exact.yaml").stdout
        self.assertRegex(table, r"(?m)^selected by +exact\.yaml \(given\), version <99, devices cpu$")
        self.assertRegex(table, r"(?m)^num_threads +int +session +\S+ +2 +")

    def test_inspect_refuses_what_a_session_would(self):
        self.write("wrong.yaml", "selection: 1\nproviders: [{provider: dnnl, options: {nosuch: 2}}]\n")
        self.assertIn("nosuch", self.refusal("INVALID_ARGUMENT", "inspect", "dnnl", "--selection", "wrong.yaml"))
        self.write("wrong.yaml", "selection: 1\nproviders: [{provider: dnnl, devices: ['npu:7']}]\n")
        self.assertIn("npu:7", self.refusal("INVALID_ARGUMENT", "inspect", "dnnl", "--selection", "wrong.yaml"))
        self.assertIn('it names "dnnl"', self.refusal("NOT_FOUND", "inspect", "image", "--selection", "wrong.yaml"))
        self.json("inspect", "cpu", "--selection", "wrong.yaml")  # every session has it
        self.assertIn("is a file", self.refusal("INVALID_ARGUMENT", "inspect", PLUGINS / "cpu.yaml", "--selection",
                                                "wrong.yaml"))


class DefaultSelectionTest(SelectionCases):
    """Where commands look for a selection that is not given."""

    def setUp(self):
        super().setUp()
        for place, name in (("etc/ephost/selection.yaml", "system"), ("home/.config/ephost/selection.yaml", "user"),
                            ("named.yaml", "EPHOST_SELECTION"), ("given.yaml", "given")):
            # An entry that has no effect, which is a finding.
            self.write(place, f"selection: 1\nproviders: [dnnl]\nsession:\n  session.tag: {name}\n")

    def used(self, *arguments, **variables):
        """The origin of the selection that `check-selection` takes."""
        result = self.in_environment("check-selection", *arguments, "--format", "json", status=1, **variables)
        report = json.loads(result.stdout)
        self.assertEqual(report["session"]["session.tag"], report["origin"])
        return report["origin"]

    def test_the_nearest_one_is_used(self):
        self.assertEqual(self.used("given.yaml", EPHOST_SELECTION="named.yaml"), "given")
        self.assertEqual(self.used(EPHOST_SELECTION="named.yaml"), "EPHOST_SELECTION")
        self.assertEqual(self.used(), "user")
        (self.folder / "home/.config/ephost/selection.yaml").unlink()
        self.assertEqual(self.used(), "system")
        self.write("conf/ephost/selection.yaml", "selection: 1\nproviders: []\nsession: {session.tag: user}\n")
        self.assertEqual(self.used(XDG_CONFIG_HOME=self.folder / "conf"), "user")
        self.write("more/ephost/selection.yaml", "selection: 1\nproviders: []\nsession: {session.tag: system}\n")
        (self.folder / "etc/ephost/selection.yaml").unlink()
        self.assertEqual(self.used(XDG_CONFIG_DIRS=f"{self.folder / 'nowhere'}:relative:{self.folder / 'more'}"),
                         "system")

    def partition(self, *flags, **variables):
        result = self.in_environment("partition", tiny("tiny_cnn"), *flags, "--verbose", "--format", "json", **variables)
        nodes = json.loads(result.stdout)["nodes"]
        return {node["provider"] for node in nodes}, result.stderr

    def test_commands_use_it_and_say_so(self):
        providers, log = self.partition()
        self.assertIn("DnnlExecutionProvider", providers)
        self.assertIn(f'using the selection "{self.folder / "home/.config/ephost/selection.yaml"}" (user)', log)
        run = json.loads(self.in_environment("list", "--format", "json").stdout)
        self.assertEqual(run["selection"]["origin"], "user")
        inspected = json.loads(self.in_environment("inspect", "dnnl", "--format", "json").stdout)
        self.assertEqual(inspected["selection"]["origin"], "user")
        # One that is used by default need not name the plugin.
        self.assertNotIn("selection", json.loads(self.in_environment("inspect", "image", "--format", "json").stdout))

    def test_the_command_line_goes_before_it(self):
        for flags in (("--no-selection",), ("--ep", "cpu"), ("--policy", "PREFER_CPU")):
            with self.subTest(flags):
                providers, log = self.partition(*flags)
                self.assertNotIn("using the selection", log)
                if flags[0] != "--policy":
                    self.assertEqual(providers, {"CPUExecutionProvider"})
        self.assertNotIn("using the selection", self.partition(EPHOST_SELECTION="")[1])
        self.in_environment("run", tiny("tiny_cnn"), "--selection", "given.yaml", "--no-selection", status=2)

    def test_one_that_is_named_has_to_exist(self):
        error = self.in_environment("partition", tiny("tiny_cnn"), status=4, EPHOST_SELECTION="nowhere.yaml").stderr
        self.assertIn("nowhere.yaml", error)
        self.assertIn("EPHOST_SELECTION; --no-selection does without", error)

    def test_a_broken_one_is_an_error_that_says_how_to_do_without(self):
        self.write("home/.config/ephost/selection.yaml", "selection: 1\nproviders: [cpu\n")
        error = self.in_environment("run", tiny("tiny_cnn"), status=2).stderr
        self.assertIn("selection.yaml:", error)
        self.assertIn("--no-selection", error)
        self.in_environment("run", tiny("tiny_cnn"), "--no-selection")
        self.assertIn("wrong with it:", self.in_environment("list").stdout)

    def test_no_command_writes_over_it(self):
        selection = self.folder / "home/.config/ephost/selection.yaml"
        text = selection.read_text()
        self.in_environment("compile", tiny("tiny_cnn"), "-o", selection, "--force", status=2)
        self.assertEqual(selection.read_text(), text)

    def test_is_what_verify_checks_against(self):
        self.in_environment("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "ctx.onnx")
        self.in_environment("verify", "ctx.onnx")
        self.write("home/.config/ephost/selection.yaml", "selection: 1\nproviders: []\n")
        self.in_environment("verify", "ctx.onnx", status=1)
        self.in_environment("verify", "ctx.onnx", "--no-selection")


class CacheDirTest(SelectionCases):
    def run_model(self, *flags, **variables):
        return json.loads(self.in_environment("run", tiny("tiny_cnn"), "--ep", "dnnl", *flags, "--format", "json",
                                              **variables).stdout)["cache"]

    def test_the_environment_states_the_default_store(self):
        store = self.folder / "store"
        self.assertEqual(self.run_model(EPHOST_CACHE_DIR=store)["outcome"], "miss")
        self.assertEqual(self.run_model(EPHOST_CACHE_DIR=store)["outcome"], "hit")
        self.assertIsNone(self.run_model(EPHOST_CACHE_DIR=""))
        listed = json.loads(self.in_environment("cache", "list", "--format", "json", EPHOST_CACHE_DIR=store).stdout)
        self.assertEqual((listed["store"], len(listed["entries"])), (str(store), 1))
        self.in_environment("cache", "verify", EPHOST_CACHE_DIR=store)
        self.in_environment("cache", "prune", EPHOST_CACHE_DIR=store)
        self.in_environment("cache", "clear", EPHOST_CACHE_DIR=store)
        self.assertEqual(self.run_model(EPHOST_CACHE_DIR=store)["outcome"], "miss")

    def test_whatever_else_states_one_goes_before_it(self):
        store = self.folder / "store"
        other = self.folder / "other"
        self.write("store.yaml", f"selection: 1\nproviders: [dnnl]\nsession: {{ep.cache_dir: {other}}}\n")
        for flags in (("--cache-dir", other), ("--config", f"ep.cache_dir={other}"), ("--selection", "store.yaml"),
                      ("--config", "ep.cache_dir=")):
            with self.subTest(flags):
                arguments = flags if "--selection" in flags else ("--ep", "dnnl", *flags)
                self.in_environment("run", tiny("tiny_cnn"), *arguments, EPHOST_CACHE_DIR=store)
                self.assertFalse(store.exists())
        self.assertTrue(other.exists())

    def test_compile_and_bench_use_it_too(self):
        store = self.folder / "store"
        self.in_environment("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "ctx.onnx", EPHOST_CACHE_DIR=store)
        self.assertTrue(store.exists())
        shutil.rmtree(store)
        self.in_environment("bench", tiny("tiny_cnn"), "--ep", "dnnl", "--runs", 1, EPHOST_CACHE_DIR=store)
        self.assertTrue(store.exists())

    def test_cache_commands_need_a_store(self):
        error = self.in_environment("cache", "list", status=2).stderr
        self.assertIn("EPHOST_CACHE_DIR", error)


if __name__ == "__main__":
    unittest.main()
