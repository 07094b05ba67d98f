"""Cases of `ephost list --probe` and `ephost inspect`, which run plugins in workers."""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import time
import unittest

from command_line import EPHOST, CommandLineTest, tiny
from fault_cases import sanitized

FIXTURES = pathlib.Path(os.environ["EPHOST_FIXTURES"])
SCRIPTED = "ScriptedExecutionProvider"
# Where a plugin can end its process while it is probed, and how reports name the place.
PLACES = {"constructors": "the constructors of ", "eph_plugin_v1": "eph_plugin_v1 of ",
          "eph_plugin_preamble.get_api": "get_api of ", "eph_provider_api.get_devices": "get_devices of ",
          "eph_provider_api.create": "create of ", "eph_provider_api.get_kernels": "get_kernels of "}
DEATHS = {"segv": "died of SIGSEGV", "abort": "died of SIGABRT", "overflow": "died of SIGSEGV",
          "exit3": "exited with status 3"}


class ProbeTest(CommandLineTest):
    def environment_of(self, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        environment.update(HOME=str(self.folder), XDG_DATA_DIRS=str(self.folder),
                           XDG_STATE_HOME=str(self.folder / "state"), XDG_CACHE_HOME=str(self.folder / ".cache"),
                           EPHOST_QUARANTINE="off")
        environment.update(variables)
        return environment

    def start(self, *arguments, stderr=subprocess.PIPE, **variables):
        """The finished process, which sees the fixture `faulty` besides the plugins of the build."""
        return subprocess.run([EPHOST, *map(str, arguments), "--plugin-path", str(FIXTURES / "faulty")],
                              cwd=self.folder, env=self.environment_of(**variables), stdout=subprocess.PIPE,
                              stderr=stderr, text=True, timeout=300)

    def probes(self, *arguments, status, **variables):
        """What `list --probe` says of each provider, by type name."""
        process = self.start("list", "--probe", *arguments, "--format", "json", **variables)
        self.assertEqual(process.returncode, status, process.stderr)
        return {plugin["provider"]: plugin["probe"] for plugin in json.loads(process.stdout)["plugins"]}

    def assert_others_work(self, probes):
        for provider in ("CPUExecutionProvider", "DnnlExecutionProvider"):
            self.assertTrue(probes[provider]["works"], probes[provider])


class ListTest(ProbeTest):
    def test_shows_what_each_plugin_offers(self):
        probes = self.probes(status=0)
        for probe in probes.values():
            self.assertTrue(probe["works"], probe)
            self.assertIsNone(probe["problem"])
            self.assertEqual(probe["negotiated_abi"][0], 1)
            self.assertEqual(probe["isolation"], "worker")
        self.assertEqual(probes["CPUExecutionProvider"]["devices"][0]["type"], "cpu")
        self.assertIn("ephost.device/1", probes[SCRIPTED]["extensions"])

    def test_shows_the_same_in_a_table(self):
        table = self.start("list", "--probe").stdout
        self.assertRegex(table, r"(?m)^provider +name +version +vendor +abi +devices +extensions +works +manifest")
        self.assertRegex(table, rf"(?m)^{SCRIPTED} +scripted .* ephost\.device/1.* yes ")

    def test_says_the_same_of_plugins_in_its_own_process(self):
        there = self.probes(status=0)
        here = self.probes("--isolation", "none", status=0)
        for provider, probe in there.items():
            for member in ("negotiated_abi", "devices", "extensions", "works"):
                self.assertEqual(here[provider][member], probe[member], provider)
            self.assertEqual(here[provider]["isolation"], "none")

    def test_survives_a_plugin_that_dies_anywhere(self):
        for place, text in PLACES.items():
            for fault, death in DEATHS.items():
                if place == "constructors" and fault == "exit3":
                    text = ""  # the report of an exit has no call
                with self.subTest(f"{place}:{fault}"):
                    probes = self.probes(status=5, EPHOST_FAULT=f"{place}:{fault}")
                    self.assert_others_work(probes)
                    probe = probes[SCRIPTED]
                    self.assertFalse(probe["works"])
                    self.assertEqual(probe["problem"]["code"], "EP_FAIL")
                    self.assertIn(death, probe["problem"]["message"])
                    if death.startswith("died"):
                        self.assertIn(text, probe["problem"]["message"])

    def test_survives_a_plugin_that_hangs_anywhere(self):
        for place in ("constructors", "eph_plugin_preamble.get_api", "eph_provider_api.get_devices",
                      "eph_provider_api.create"):
            with self.subTest(place):
                began = time.monotonic()
                probes = self.probes("--call-limit", "2", status=5, EPHOST_FAULT=f"{place}:hang")
                self.assertLess(time.monotonic() - began, 60)
                self.assert_others_work(probes)
                self.assertIn("it took longer than 2 s, the limit of calls while a plugin is inspected",
                              probes[SCRIPTED]["problem"]["message"])

    def test_shows_progress_on_a_terminal(self):
        for arguments, shown in ((("list", "--probe"), "running the plugins"), (("inspect", "scripted"), "running scripted")):
            terminal, other_end = pty.openpty()
            process = self.start(*arguments, "--call-limit", "2", stderr=other_end, EPHOST_FAULT="constructors:hang")
            os.close(other_end)
            self.assertEqual(process.returncode, 5)
            self.assertIn(f"{shown} ... ".encode(), os.read(terminal, 65536))
            os.close(terminal)

    def test_says_in_a_table_why_a_plugin_cannot_be_used(self):
        process = self.start("list", "--probe", EPHOST_FAULT="eph_provider_api.get_devices:segv")
        self.assertEqual(process.returncode, 5)
        self.assertRegex(process.stdout, rf"(?m)^{SCRIPTED} .* no ")
        self.assertRegex(process.stdout,
                         r"cannot be used:\n +\S+faulty\.yaml\n +EP_FAIL: .*died of SIGSEGV .*in get_devices of")

    def test_shows_what_is_refused(self):
        shutil.copytree(FIXTURES / "other_version", self.folder / "refused")
        shutil.copytree(FIXTURES / "missing_dependency", self.folder / "unloadable")
        shutil.copytree(FIXTURES / "requires_extension", self.folder / "unchecked")
        for folder, text in (("refused", "1.2.4"), ("unloadable", "libephost_absent.so"),
                             ("unchecked", "ephost.time_travel/1")):
            with self.subTest(folder):
                probes = self.probes("--plugin-path", folder, status=5)
                self.assertIn(text, probes["FixtureExecutionProvider"]["problem"]["message"])
                self.assertTrue(probes[SCRIPTED]["works"])

    def test_runs_nothing_unless_it_is_asked_to(self):
        process = self.start("list", EPHOST_FAULT="constructors:segv")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertNotIn("works", process.stdout)
        for option in (["--refresh"], ["--isolation", "none"], ["--call-limit", "3"]):
            self.assertEqual(self.start("list", *option).returncode, 2)

    @unittest.skipIf(sanitized(), "a sanitizer decides how the process ends")
    def test_ends_with_a_plugin_that_is_run_in_its_own_process(self):
        process = self.start("list", "--probe", "--isolation", "none", EPHOST_FAULT="eph_provider_api.create:abort")
        self.assertEqual(process.returncode, -signal.SIGABRT, process.stderr)

    def test_quarantines_a_plugin_that_keeps_dying(self):
        for _ in range(2):
            probes = self.probes(status=5, EPHOST_QUARANTINE="2/600", EPHOST_FAULT="eph_plugin_v1:segv")
            self.assertIn("died of SIGSEGV", probes[SCRIPTED]["problem"]["message"])
        probes = self.probes(status=5, EPHOST_QUARANTINE="2/600")
        self.assertIn("quarantined until", probes[SCRIPTED]["problem"]["message"])
        self.assert_others_work(probes)

    def test_quarantines_a_plugin_that_hangs(self):
        probes = self.probes(status=5, EPHOST_QUARANTINE="1/600", EPHOST_FAULT="eph_plugin_v1:hang")
        self.assertIn("it took longer than 30 s", probes[SCRIPTED]["problem"]["message"])
        probes = self.probes(status=5, EPHOST_QUARANTINE="1/600")
        self.assertIn("quarantined until", probes[SCRIPTED]["problem"]["message"])

    def test_does_not_quarantine_a_plugin_for_a_limit_that_the_user_has_shortened(self):
        for _ in range(2):
            probes = self.probes("--call-limit", "1", status=5, EPHOST_QUARANTINE="1/600",
                                 EPHOST_FAULT="eph_plugin_v1:hang")
            self.assertIn("it took longer than 1 s", probes[SCRIPTED]["problem"]["message"])
        # It dies in spite of that.
        probes = self.probes("--call-limit", "20", status=5, EPHOST_QUARANTINE="1/600",
                             EPHOST_FAULT="eph_plugin_v1:segv")
        self.assertIn("died of SIGSEGV", probes[SCRIPTED]["problem"]["message"])
        probes = self.probes(status=5, EPHOST_QUARANTINE="1/600")
        self.assertIn("quarantined until", probes[SCRIPTED]["problem"]["message"])

    def test_uses_a_sandbox_and_says_what_it_lacks(self):
        probes = self.probes("--isolation", "sandbox", status=0)
        gaps = probes["CPUExecutionProvider"]["sandbox_gaps"]
        self.assertEqual(probes["CPUExecutionProvider"]["isolation"], "sandbox")
        self.assertEqual("not enforced by the sandbox:" in self.start("list", "--probe", "--isolation",
                                                                      "sandbox").stdout, gaps != [])


class InspectTest(ProbeTest):
    def test_fails_with_the_call_and_the_signal(self):
        for place in ("constructors", "eph_plugin_v1", "eph_plugin_preamble.get_api"):
            process = self.start("inspect", "scripted", EPHOST_FAULT=f"{place}:segv")
            self.assertEqual(process.returncode, 5, process.stderr)
            self.assertRegex(process.stderr,
                             rf"error\[EP_FAIL\]: the worker of \"scripted\" died of SIGSEGV .*in {PLACES[place]}")

    def test_describes_what_it_learned_before_the_plugin_died(self):
        process = self.start("inspect", "scripted", "--format", "json", EPHOST_FAULT="eph_provider_api.get_devices:segv")
        report = json.loads(process.stdout)
        self.assertIn("died of SIGSEGV", report["device_error"]["message"])
        self.assertEqual(report["negotiated_abi"][0], 1)

    def test_ends_a_plugin_that_hangs(self):
        process = self.start("inspect", "scripted", "--call-limit", "1", EPHOST_FAULT="constructors:hang")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("it took longer than 1 s", process.stderr)

    @unittest.skipIf(sanitized(), "a sanitizer decides how the process ends")
    def test_runs_the_plugin_in_its_own_process_if_it_shall(self):
        process = self.start("inspect", "scripted", "--isolation", "none", EPHOST_FAULT="eph_provider_api.create:abort")
        self.assertEqual(process.returncode, -signal.SIGABRT, process.stderr)
        # The environment can only be stricter.
        process = self.start("inspect", "scripted", "--isolation", "none", EPHOST_ISOLATION="worker",
                             EPHOST_FAULT="constructors:abort")
        self.assertEqual(process.returncode, 5, process.stderr)

    def test_passes_over_a_version_that_dies(self):
        shutil.copytree(FIXTURES / "good", self.folder / "lower")
        shutil.copytree(FIXTURES / "next_version", self.folder / "higher")
        paths = ["--plugin-path", "lower", "--plugin-path", "higher"]
        report = json.loads(self.start("inspect", "fixture", *paths, "--format", "json").stdout)
        self.assertEqual(report["version"], "2.0.0")
        (self.folder / "higher/libnext_version.so").write_bytes((FIXTURES / "resolver/libresolver.so").read_bytes())
        process = self.start("inspect", "fixture", *paths, "--format", "json")
        self.assertEqual(json.loads(process.stdout)["version"], "1.2.3")
        self.assertIn("version 2.0.0", process.stderr)
        self.assertIn("died of SIG", process.stderr)

    def test_shows_the_isolation(self):
        self.assertRegex(self.start("inspect", "scripted").stdout, r"(?m)^isolation +worker$")
        process = self.start("inspect", "scripted", "--isolation", "sandbox", "--format", "json")
        report = json.loads(process.stdout)
        self.assertEqual(report["isolation"], "sandbox")
        text = self.start("inspect", "scripted", "--isolation", "sandbox", "--refresh").stdout
        for gap in report["sandbox_gaps"]:
            self.assertIn(gap, text)

    def test_refuses_a_layer(self):
        manifest = next((FIXTURES / "counting_layer").glob("*.yaml"))
        process = self.start("inspect", manifest)
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertIn("layer", process.stderr)


class RecordTest(ProbeTest):
    """What was recorded is used until something changes."""

    def setUp(self):
        super().setUp()
        shutil.copytree(FIXTURES / "good", self.folder / "plugins")
        # A change within two seconds before is not trusted.
        time.sleep(3.1)

    def recorded(self, *arguments, **variables):
        """Whether a description was recorded."""
        process = self.start("inspect", "plugins/good.yaml", "--format", "json", *arguments, **variables)
        self.assertEqual(process.returncode, 0, process.stderr)
        return json.loads(process.stdout)["recorded"] is not None

    def test_is_used_and_says_so(self):
        self.assertFalse(self.recorded())
        self.assertTrue(self.recorded())
        first = self.start("inspect", "plugins/good.yaml", "--refresh", "--format", "json")
        second = self.start("inspect", "plugins/good.yaml", "--format", "json")
        first, second = json.loads(first.stdout), json.loads(second.stdout)
        self.assertRegex(second.pop("recorded"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertIsNone(first.pop("recorded"))
        self.assertEqual(first, second)
        self.assertRegex(self.start("inspect", "plugins/good.yaml").stdout,
                         r"(?m)^isolation +worker, recorded 20\S+Z \(--refresh runs it again\)$")
        self.assertTrue(self.probes("--plugin-path", "plugins", status=0)["FixtureExecutionProvider"]["recorded"])
        self.assertIn("known from another time", self.start("list", "--probe", "--plugin-path", "plugins").stdout)

    def test_is_not_used_for_a_plugin_that_changed(self):
        self.assertFalse(self.recorded())
        os.utime(self.folder / "plugins/libgood.so", (1, 1))
        self.assertFalse(self.recorded())

    def test_is_not_used_where_it_is_not_wanted(self):
        self.assertFalse(self.recorded())
        self.assertFalse(self.recorded("--refresh"))
        self.assertFalse(self.recorded("--isolation", "none"))
        self.assertFalse(self.recorded("--isolation", "sandbox"))
        self.assertTrue(self.recorded())
        self.assertFalse(self.recorded(ACME_DEVICES="0"))
        self.assertTrue(self.recorded(ACME_DEVICES="0", SHLVL="7"))

    def test_is_not_used_for_a_plugin_that_would_be_refused(self):
        self.assertFalse(self.recorded())
        self.assertTrue(self.recorded())
        process = self.start("inspect", "plugins/good.yaml", "--signatures", "require")
        self.assertEqual(process.returncode, 5)
        self.assertIn("signature", process.stderr)

    def test_that_is_damaged_or_foreign_is_no_failure(self):
        self.assertFalse(self.recorded())
        record, = (self.folder / ".cache/ephost/plugins").iterdir()
        content = record.read_bytes()
        for damage in (b"", b"garbage", content[:-1], content[:60] + b"x" + content[61:]):
            record.write_bytes(damage)
            self.assertFalse(self.recorded())
        self.assertTrue(self.recorded())
        record.chmod(0o666)
        self.assertFalse(self.recorded())
        shutil.rmtree(self.folder / ".cache")
        (self.folder / ".cache").write_text("no folder")
        self.assertFalse(self.recorded())

    def test_of_many_processes_at_once_is_whole(self):
        command = [EPHOST, "inspect", "plugins/good.yaml", "--format", "json"]
        for refresh in (["--refresh"], []):
            processes = [subprocess.Popen([*command, *refresh], cwd=self.folder, env=self.environment_of(),
                                          stdout=subprocess.PIPE) for _ in range(8)]
            reports = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
            self.assertEqual([process.returncode for process in processes], [0] * 8)
            for report in reports:
                self.assertEqual((report["version"], report["recorded"] is None), ("1.2.3", refresh != []))
        self.assertEqual(len(list((self.folder / ".cache/ephost/plugins").iterdir())), 1)

    def test_of_a_failure_tells_list_what_a_selection_passes_over(self):
        shutil.copytree(FIXTURES / "next_null_create", self.folder / "next")
        (self.folder / "selection.yaml").write_text("selection: 1\nproviders: [fixture]\n")
        time.sleep(3.1)
        paths = ["--plugin-path", "plugins", "--plugin-path", "next"]

        def verdicts():
            process = self.start("list", *paths, "--selection", "selection.yaml", "--format", "json")
            self.assertEqual(process.returncode, 0, process.stderr)
            return {plugin["version"]: plugin["selected"] for plugin in json.loads(process.stdout)["plugins"]
                    if plugin["name"] == "fixture"}

        self.assertEqual(verdicts()["2.0.0"]["position"], 1)
        self.probes(*paths, status=5)
        after = verdicts()
        self.assertIn("it could not be loaded when it was last probed: ", after["2.0.0"]["reason"])
        self.assertIn("create", after["2.0.0"]["reason"])
        self.assertEqual(after["1.2.3"]["position"], 1)
        # As sessions and `inspect` have it, which try it again.
        report = json.loads(self.start("inspect", "fixture", *paths, "--format", "json").stdout)
        self.assertEqual(report["version"], "1.2.3")
        shutil.copyfile(FIXTURES / "next_version/libnext_version.so", self.folder / "next/libnext_null_create.so")
        self.assertEqual(verdicts()["2.0.0"]["position"], 1)

    def test_is_of_one_policy_for_signatures(self):
        """Under `require`, libraries that the manifest does not list are refused, and with them maybe the plugin."""
        self.ephost("keygen", "vendor", "--no-passphrase")
        self.ephost("trust", "add", "vendor.pub", "--provider", "FixtureExecutionProvider")
        self.ephost("sign", "plugins/good.yaml", "--key", "vendor.key")
        time.sleep(3.1)
        self.assertFalse(self.recorded())
        self.assertFalse(self.recorded("--signatures", "require"))
        self.assertTrue(self.recorded())
        self.assertTrue(self.recorded("--signatures", "require"))

    def reason_of(self, selection, **variables):
        """Why `list` passes over the fixture, or chooses it."""
        (self.folder / "selection.yaml").write_text(selection)
        process = self.start("list", "--plugin-path", "plugins", "--selection", "selection.yaml", "--format", "json",
                             **variables)
        self.assertEqual(process.returncode, 0, process.stderr)
        return next(plugin["selected"]["reason"] for plugin in json.loads(process.stdout)["plugins"]
                    if plugin["name"] == "fixture")

    def break_plugin(self):
        shutil.copyfile(FIXTURES / "next_null_create/libnext_null_create.so", self.folder / "plugins/libgood.so")
        time.sleep(3.1)

    def test_of_a_failure_holds_where_sessions_load_the_plugin(self):
        self.break_plugin()
        selection = "selection: 1\nproviders: [{provider: fixture, isolation: sandbox}]\n"
        self.probes("--plugin-path", "plugins", status=5)
        self.assertNotIn("last probed", self.reason_of(selection))
        self.probes("--plugin-path", "plugins", "--isolation", "sandbox", status=5)
        self.assertIn("last probed", self.reason_of(selection))

    def test_is_not_made_of_a_failure_that_the_user_has_caused(self):
        selection = "selection: 1\nproviders: [fixture]\n"
        self.probes("--plugin-path", "plugins", "--call-limit", "0.001", status=5)
        self.assertNotIn("last probed", self.reason_of(selection))
        self.break_plugin()
        self.probes("--plugin-path", "plugins", "--call-limit", "20", status=5)
        self.assertNotIn("last probed", self.reason_of(selection))
        # Nor is one that the system has caused.
        program = self.write("no_worker", "#!/nonexistent\n")
        program.chmod(0o755)
        time.sleep(3.1)
        self.probes("--plugin-path", "plugins", status=5, EPHOST_WORKER_PROGRAM=str(program))
        self.assertNotIn("last probed", self.reason_of(selection, EPHOST_WORKER_PROGRAM=str(program)))
        self.probes("--plugin-path", "plugins", status=5)
        self.assertIn("last probed", self.reason_of(selection))

    def test_is_not_made_of_a_plugin_that_fails(self):
        for _ in range(2):
            probes = self.probes(status=5, EPHOST_FAULT="eph_provider_api.get_kernels:segv")
            self.assertIn("died", probes[SCRIPTED]["problem"]["message"])
            self.assertIsNone(probes[SCRIPTED]["recorded"])


class SelectedPoliciesTest(ProbeTest):
    """Commands that are given a selection load plugins as a session with that selection does."""

    def select(self, text):
        (self.folder / "selection.yaml").write_text("selection: 1\nproviders: [scripted]\n" + text)

    def test_check_selection_isolates_plugins(self):
        for place in ("constructors", "eph_provider_api.create"):
            for text in ("isolation: worker\n", "session: {session.isolation.Scripted: sandbox}\n"):
                self.select(text)
                process = self.start("check-selection", "selection.yaml", "--format", "json",
                                     EPHOST_FAULT=f"{place}:abort")
                self.assertEqual(process.returncode, 1, process.stderr)
                finding, = json.loads(process.stdout)["findings"]
                self.assertIn("died of SIGABRT", finding["message"])

    def test_check_selection_requires_signatures(self):
        self.select("signatures: require\n")
        for arguments in ([], ["--no-plugins"]):
            process = self.start("check-selection", "selection.yaml", "--format", "json", *arguments)
            self.assertEqual(process.returncode, 1, process.stderr)
            for finding in json.loads(process.stdout)["findings"]:
                self.assertIn("is not signed", finding["message"])

    def test_check_selection_finds_policies_of_nobody(self):
        self.select("session:\n  session.isolation.scriptd: sandbox\n  session.on_crash.scriptd: restart\n"
                    "  session.layers.scriptd: validate\n")
        process = self.start("check-selection", "selection.yaml", "--no-plugins", "--format", "json")
        self.assertEqual(process.returncode, 1, process.stderr)
        findings = json.loads(process.stdout)["findings"]
        self.assertEqual([finding["line"] for finding in findings], [4, 5, 6])
        for finding in findings:
            self.assertIn('did you mean "scripted"?', finding["message"])

    def test_list_requires_signatures(self):
        self.select("signatures: require\n")
        process = self.start("list", "--selection", "selection.yaml", "--format", "json")
        selected = {plugin["name"]: plugin["selected"] for plugin in json.loads(process.stdout)["plugins"]}
        self.assertEqual(selected["scripted"], {"position": None, "reason": "it cannot be loaded"})

    def test_inspect_isolates_plugins(self):
        def isolation(text, *arguments):
            self.select(text)
            process = self.start("inspect", "scripted", "--selection", "selection.yaml", "--format", "json", *arguments)
            self.assertEqual(process.returncode, 0, process.stderr)
            return json.loads(process.stdout)["isolation"]
        self.assertEqual(isolation(""), "worker")
        self.assertEqual(isolation("isolation: sandbox\n"), "sandbox")
        self.assertEqual(isolation("session: {session.isolation.scripted: sandbox}\n"), "sandbox")
        self.assertEqual(isolation("isolation: worker\n", "--isolation", "none"), "worker")
        self.assertEqual(isolation("isolation: none\n", "--isolation", "sandbox"), "sandbox")

    def test_inspect_requires_signatures(self):
        self.select("signatures: require\n")
        process = self.start("inspect", "scripted", "--selection", "selection.yaml")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("is not signed", process.stderr)

    def test_verify_isolates_plugins(self):
        self.select("")
        process = self.start("compile", tiny("tiny_mlp"), "--ep", "scripted", "-o", "ctx.onnx")
        self.assertEqual(process.returncode, 0, process.stderr)
        verify = ("verify", "ctx.onnx", "--selection", "selection.yaml")
        self.assertEqual(self.start(*verify).returncode, 0)
        self.select("isolation: worker\n")
        process = self.start(*verify, EPHOST_FAULT="eph_provider_api.validate:abort")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("died of SIGABRT", process.stdout + process.stderr)


if __name__ == "__main__":
    unittest.main()
