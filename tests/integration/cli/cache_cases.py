"""Cases of `ephost cache`, and of `--cache-dir` of the commands that create sessions."""

import fcntl
import os
import pty
import resource
import signal
import subprocess
import unittest

from command_line import EPHOST, CommandLineTest, tiny


class CacheTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "store"
        self.inside = self.store / "ephost-context-cache"

    def run_model(self, *arguments, model="tiny_cnn"):
        return self.json("run", tiny(model), "--ep", "dnnl", "--cache-dir", self.store, *arguments)

    def entries(self):
        return self.json("cache", "list", self.store)["entries"]

    def damage(self, pattern="*.bin"):
        file, = self.inside.glob(f"*/{pattern}")
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)

    def test_the_second_run_hits(self):
        first = self.run_model()
        self.assertEqual((first["cache"]["outcome"], first["cache"]["reason"]), ("miss", None))
        second = self.run_model("--config", "session.disable_model_compile=1")
        self.assertEqual((second["cache"]["outcome"], second["cache"]["key"]),
                         ("hit", first["cache"]["key"]))
        self.assertEqual(second["outputs"], first["outputs"])
        text = self.ephost("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store).stdout
        self.assertRegex(text, f"(?m)^cache: hit {first['cache']['key']}$")
        self.assertIsNone(self.json("run", tiny("tiny_cnn"))["cache"])

    def test_contexts_of_an_older_entry_are_reused(self):
        first = self.run_model()
        self.assertEqual(first["cache"]["reused_contexts"], 0)
        partitions = self.entries()[0]["partitions"]
        # The CPU provider has compiled nothing.
        cpu = ("--ep", "cpu", "--ep-option", "cpu:num_threads=1")
        second = self.run_model(*cpu, "--config", "session.disable_model_compile=1")
        self.assertEqual(second["cache"]["outcome"], "miss")
        self.assertEqual(second["cache"]["reused_contexts"], partitions)
        self.assertEqual(second["outputs"], first["outputs"])
        self.assertEqual(self.run_model(*cpu)["cache"]["outcome"], "hit")
        command = ("--ep", "dnnl", "--cache-dir", self.store, "--config", "session.disable_quant_qdq=1")
        run = self.ephost("run", tiny("tiny_cnn"), *command, "--verbose")
        self.assertRegex(run.stdout, r"(?m)^cache: miss [0-9a-f]{32}, \d+ contexts? reused$")
        self.assertRegex(run.stderr, 'DnnlExecutionProvider takes over "dnnl".* from the entry [0-9a-f]{32}')
        compiled = self.ephost("compile", tiny("tiny_cnn"), *command, "--ep", "cpu", "--ep-option",
                               "cpu:num_threads=2", "-o", self.folder / "a_ctx.onnx").stdout
        self.assertRegex(compiled, r"(?m)^cache: miss [0-9a-f]{32}, \d+ contexts? reused$")

    def test_bench_tells_of_its_last_session(self):
        report = self.json("bench", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store,
                           "--sessions", 2, "--runs", 1)
        self.assertEqual(report["cache"]["outcome"], "hit")
        self.assertIn("cache", [phase["name"] for phase in report["session"]["phases"]])

    def test_compile_takes_what_a_run_left(self):
        key = self.run_model()["cache"]["key"]
        arguments = ("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", self.folder / "a_ctx.onnx")
        direct = self.json(*arguments)
        self.assertIsNone(direct["cache"])
        stored = self.json(*arguments, "--cache-dir", self.store,
                           "--config", "session.disable_model_compile=1")
        self.assertEqual((stored["cache"]["outcome"], stored["cache"]["key"]), ("hit", key))
        for name in ("files", "partitions", "remaining_nodes"):
            self.assertEqual(stored[name], direct[name])
        self.assertTrue(self.json("verify", self.folder / "a_ctx.onnx")["ok"])

    def test_list_tells_what_a_key_was_made_of(self):
        key = self.run_model()["cache"]["key"]
        entry, = self.entries()
        self.assertEqual((entry["key"], entry["state"], entry["model"], entry["problem"]),
                         (key, "entry", "model.onnx", None))
        self.assertEqual(entry["providers"], ["DnnlExecutionProvider", "CPUExecutionProvider"])
        files = [file for file in (self.inside / f"ephost-entry-{key}").iterdir()]
        self.assertEqual(entry["bytes"], sum(file.stat().st_size for file in files))
        names = [line["name"] for line in entry["made_of"]]
        for name in ("format", "host version", "model", "plugin version", "plugin library",
                     "provider option", "device architecture", "device driver", "compatibility"):
            self.assertIn(name, names)
        table = self.ephost("cache", "list", "--cache-dir", self.store).stdout
        self.assertRegex(table, rf"(?m)^{key} +entry +model.onnx +DnnlExecutionProvider, CPU")

    def test_verify_finds_damage_and_the_next_run_repairs_it(self):
        key = self.run_model()["cache"]["key"]
        self.assertTrue(self.json("cache", "verify", self.store)["ok"])
        self.assertIn("1 checked, 0 damaged", self.ephost("cache", "verify", self.store).stdout)
        self.damage()
        report = self.json("cache", "verify", self.store, status=1)
        self.assertFalse(report["ok"])
        self.assertIn("model_dnnl.bin", report["entries"][0]["problems"][0])
        self.assertIn("damaged", self.refusal("INVALID_GRAPH", "cache", "verify", self.store, status=1))

        repaired = self.run_model()["cache"]
        self.assertEqual((repaired["outcome"], repaired["key"]), ("miss", key))
        self.assertIn("model_dnnl.bin", repaired["reason"])
        self.assertEqual({entry["state"] for entry in self.entries()}, {"entry", "quarantined"})
        bad, = [entry for entry in self.entries() if entry["state"] == "quarantined"]
        self.assertIn("model_dnnl.bin", bad["problem"])
        self.assertTrue(self.json("cache", "verify", self.store)["ok"])
        self.assertEqual(self.run_model()["cache"]["outcome"], "hit")

        removed, = self.json("cache", "prune", self.store)["removed"]
        self.assertEqual((removed["key"], removed["state"]), (key, "quarantined"))
        self.assertEqual([entry["state"] for entry in self.entries()], ["entry"])

    def test_a_bad_entry_is_warned_of(self):
        self.run_model()
        self.damage("model_ctx.onnx")
        error = self.ephost("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store).stderr
        self.assertIn("is quarantined", error)

    def test_prune_keeps_what_fits(self):
        for model in ("tiny_cnn", "tiny_mlp"):
            last = self.run_model(model=model)["cache"]["key"]
        size, = [entry["bytes"] for entry in self.entries() if entry["key"] == last]
        self.assertEqual(self.json("cache", "prune", self.store)["removed"], [])
        self.assertEqual(len(self.json("cache", "prune", self.store, "--max-bytes", size)["removed"]), 1)
        self.assertEqual([entry["key"] for entry in self.entries()], [last])

    def test_clear_leaves_what_is_somebody_elses(self):
        theirs = {}
        for name in ("notes.txt", "tmp-1/notes.txt", f"{'0' * 32}/model_ctx.onnx",
                     "ephost-context-cache/ephost-tmp-1/notes.txt",
                     f"ephost-context-cache/ephost-entry-{'0' * 32}/notes.txt"):
            theirs[self.write(f"store/{name}", name)] = name
        tag = self.write("store/ephost-context-cache/CACHEDIR.TAG")
        tag.write_bytes(b"Signature: 8a477f597d28d172789f06886806bc55\n# ephost context cache, format 2\n")
        self.run_model()
        self.run_model("--config", "ep.cache_max_bytes=1", model="tiny_mlp")
        self.json("cache", "prune", self.store)
        self.assertIn("1 folder removed", self.ephost("cache", "clear", self.store).stdout)
        self.assertEqual({path: path.read_text() for path in theirs}, theirs)
        self.assertEqual({path for path in self.store.rglob("*") if path.is_file()}, {*theirs, tag})
        self.assertIn("the store is empty", self.ephost("cache", "list", self.store).stdout)

    def test_a_folder_of_others_is_not_taken_for_a_store(self):
        notes = self.write("store/ephost-context-cache/notes.txt", "mine")
        cache = self.run_model()["cache"]
        self.assertEqual(cache["outcome"], "uncached")
        self.assertIn("CACHEDIR.TAG", cache["reason"])
        for verb in ("list", "verify", "prune", "clear"):
            self.assertIn("CACHEDIR.TAG", self.refusal("FAIL", "cache", verb, self.store))
        self.assertEqual([path for path in self.store.rglob("*") if path.is_file()], [notes])

    def limited(self, *arguments, output=subprocess.PIPE):
        """The finished process of a command that may write files of 4 KiB at most."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        return subprocess.run([EPHOST, *map(str, arguments)], cwd=self.folder, preexec_fn=limit,
                              stdout=output, stderr=subprocess.PIPE, text=True, timeout=300)

    def test_a_limit_of_file_sizes_only_costs_a_warning(self):
        result = self.limited("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("continues without the cache store", result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertEqual([path.name for path in self.inside.iterdir()], ["CACHEDIR.TAG"])

    def test_a_limit_of_file_sizes_fails_a_compilation_that_leaves_nothing(self):
        for arguments in ((), ("--embed",)):
            result = self.limited("compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o",
                                  self.folder / "m_ctx.onnx", *arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn("error[FAIL]: cannot write", result.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_limit_of_file_sizes_on_standard_output_is_an_error(self):
        with open(self.folder / "out", "wb") as out:
            result = self.limited("compile", tiny("tiny_cnn"), "--ep", "dnnl", "--embed", "-o", "-",
                                  output=out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("could not be written in full", result.stderr)

    def lock(self, folder):
        """Locks the folder until the test ends, as another process would."""
        descriptor = os.open(folder, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def test_a_store_that_stays_locked_only_costs_a_warning(self):
        self.run_model()
        self.lock(self.inside)
        cache = self.run_model("--config", "ep.context_lock_timeout_ms=10", model="tiny_mlp")["cache"]
        self.assertEqual(cache["outcome"], "uncached")
        self.assertIn("has been locked by", cache["reason"])

    def test_a_folder_that_stays_locked_fails_a_compilation_that_leaves_nothing(self):
        self.lock(self.folder)
        error = self.refusal("FAIL", "compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "m_ctx.onnx",
                             "--config", "ep.context_lock_timeout_ms=10")
        self.assertIn("has been locked by", error)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_waiting_is_announced_and_ends_at_a_signal(self):
        self.lock(self.folder)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [EPHOST, "compile", str(tiny("tiny_cnn")), "--ep", "dnnl", "-o", "m_ctx.onnx",
                 "--config", "ep.context_lock_timeout_ms=3600000"], cwd=self.folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.kill)
            line = process.stderr.readline()
            self.assertIn("waiting for the lock", line)
            process.send_signal(number)
            self.assertIn("CANCELLED", process.communicate(timeout=60)[1])
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_phase_that_waits_is_shown_on_a_terminal(self):
        self.lock(self.folder)
        for arguments, is_shown in (((), True), (("-q",), False), (("--format", "json"), False)):
            with self.subTest(arguments):
                terminal, other_end = pty.openpty()
                process = subprocess.Popen(
                    [EPHOST, "compile", str(tiny("tiny_cnn")), "--ep", "dnnl", "-o", "m_ctx.onnx", *arguments,
                     "--config", "ep.context_lock_timeout_ms=2000"], cwd=self.folder,
                    stdout=subprocess.DEVNULL, stderr=other_end)
                os.close(other_end)
                shown = b""
                try:
                    while chunk := os.read(terminal, 4096):
                        shown += chunk
                except OSError:  # the other end is closed
                    pass
                os.close(terminal)
                self.assertEqual(process.wait(timeout=60), 1)
                self.assertEqual(b"model.onnx, writing what was compiled ... " in shown, is_shown, shown)

    def test_a_killed_writer_is_cleared_away_by_the_next_hit(self):
        self.run_model()
        dead = self.inside / "ephost-tmp-1"
        dead.mkdir()
        (dead / "half").write_text("half")
        marker, = self.inside.glob("ephost-entry-*/ephost-cache-folder")
        (dead / marker.name).write_bytes(marker.read_bytes())
        self.assertEqual(self.run_model()["cache"]["outcome"], "hit")
        self.assertFalse(dead.exists())

    def test_a_store_that_cannot_be_used_only_costs_a_warning(self):
        self.store.write_text("a file")
        arguments = ("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store)
        self.assertIn("continues without the cache store", self.ephost(*arguments).stderr)
        self.assertEqual(self.json(*arguments)["cache"]["outcome"], "uncached")

    def test_processes_use_one_store_at_once(self):
        command = [EPHOST, "run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.store]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(6)]
        for process in running:
            text, errors = process.communicate(timeout=300)
            self.assertEqual((process.returncode, errors), (0, ""))
            self.assertRegex(text, "(?m)^cache: (hit|miss) ")
        self.assertEqual([entry["state"] for entry in self.entries()], ["entry"])
        self.assertTrue(self.json("cache", "verify", self.store)["ok"])

    def test_needs_the_name_of_a_store(self):
        for verb in ("list", "verify", "prune", "clear"):
            with self.subTest(verb):
                self.refusal("INVALID_ARGUMENT", "cache", verb, status=2)
        self.refusal("INVALID_ARGUMENT", "cache", status=2)

    def test_before_there_is_a_store_there_is_nothing_in_it(self):
        (self.folder / "empty").mkdir()
        for folder in ("nowhere", "empty"):
            for verb, empty in (("list", {"entries": [], "bytes": 0}),
                                ("prune", {"removed": [], "in_use": [], "removed_bytes": 0}),
                                ("clear", {"removed": [], "in_use": [], "removed_bytes": 0})):
                with self.subTest(verb=verb, folder=folder):
                    report = self.json("cache", verb, folder)
                    self.assertEqual(report, {"store": folder, **empty})
                    self.assertIn(f'there is no store in "{folder}" yet', self.ephost("cache", verb, folder).stdout)
                    if verb != "list":
                        self.assertEqual(self.ephost("cache", verb, folder, "--quiet").stdout, "")
            # What is not there cannot be sound.
            self.assertIn(folder, self.refusal("NO_SUCHFILE", "cache", "verify", folder))
        self.assertEqual(list((self.folder / "empty").iterdir()), [])
        self.assertFalse((self.folder / "nowhere").exists())

    def test_something_else_in_the_place_of_a_store_is_an_error(self):
        self.write("file", "no store")
        self.write("other/ephost-context-cache", "no store either")
        for verb in ("list", "prune", "clear"):
            for folder in ("file", "other"):
                with self.subTest(verb=verb, folder=folder):
                    self.refusal("FAIL", "cache", verb, folder)


if __name__ == "__main__":
    unittest.main()
