"""Cases of `ephost keygen`, `sign` and `trust`, and of signature policies in the other commands."""

import hashlib
import os
import pathlib
import pty
import shutil
import stat
import subprocess
import unittest

import onnx

from command_line import EPHOST, CommandLineTest, PLUGINS, tiny

DNNL = "DnnlExecutionProvider"
CPU = "CPUExecutionProvider"
FIXTURES = pathlib.Path(os.environ["EPHOST_FIXTURES"])


class TrustTest(CommandLineTest):
    """With a key, and with plugins of its own that nobody has signed yet."""

    def setUp(self):
        super().setUp()
        self.id = self.json("keygen", "vendor", "--no-passphrase")["id"]
        self.plugins = self.folder / "plugins"
        for name in ("cpu", "dnnl"):
            (self.plugins / name).mkdir(parents=True)
            shutil.copy(PLUGINS / f"{name}.yaml", self.plugins / name)
            shutil.copy(PLUGINS / f"libephost_{name}.so", self.plugins / name)

    def manifest(self, name):
        return self.plugins / name / f"{name}.yaml"

    def sign_plugins(self):
        self.ephost("sign", self.manifest("cpu"), self.manifest("dnnl"), "--key", "vendor.key")

    def trust(self, *arguments):
        self.ephost("trust", "add", "vendor.pub", *arguments)

    def require(self, *command):
        """The arguments of a command that takes nothing but these plugins."""
        return (*command, "--plugin-path", self.plugins, "--signatures", "require")

    def run_tiny(self, **rest):
        return self.ephost(*self.require("run", tiny("tiny_cnn"), "--ep", "dnnl"), **rest)

    def refuse_tiny(self, code="EP_FAIL"):
        return self.refusal(code, *self.require("run", tiny("tiny_cnn"), "--ep", "dnnl"))


class KeygenTest(CommandLineTest):
    def test_writes_files_that_only_the_user_reads(self):
        report = self.json("keygen", "acme", "--no-passphrase")
        self.assertEqual(report["encrypted"], False)
        self.assertEqual(stat.S_IMODE((self.folder / "acme.key").stat().st_mode), 0o600)
        self.assertIn(f"public key {report['id']}", (self.folder / "acme.pub").read_text())
        (self.folder / "content").write_text("content")
        subprocess.run(["minisign", "-S", "-s", "acme.key", "-m", "content"], cwd=self.folder, check=True,
                       capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        subprocess.run(["minisign", "-V", "-p", "acme.pub", "-m", "content"], cwd=self.folder, check=True,
                       capture_output=True, timeout=60)

    def test_overwrites_nothing(self):
        self.write("a.key", "precious")
        self.write("b.pub", "precious")
        os.symlink("nowhere", self.folder / "c.key")
        for name in "abc":
            self.assertIn("exists", self.refusal("INVALID_ARGUMENT", "keygen", name, "--no-passphrase"))
        self.assertEqual((self.folder / "a.key").read_text(), "precious")
        self.assertFalse((self.folder / "b.key").exists())
        self.assertFalse((self.folder / "nowhere").exists())

    def with_passphrase(self, *arguments, passphrase="open sesame", status=0):
        reader, writer = os.pipe()
        os.write(writer, passphrase.encode() + b"\n")
        os.close(writer)
        result = subprocess.run([EPHOST, *map(str, arguments), "--passphrase-fd", str(reader)], cwd=self.folder,
                                pass_fds=[reader], env={"HOME": str(self.folder)}, capture_output=True, text=True,
                                timeout=60)
        os.close(reader)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_takes_the_passphrase_from_a_descriptor(self):
        self.with_passphrase("keygen", "acme")
        self.assertIn("encrypted", (self.folder / "acme.key").read_text())
        shutil.copy(PLUGINS / "dnnl.yaml", self.folder)
        shutil.copy(PLUGINS / "libephost_dnnl.so", self.folder)
        self.with_passphrase("sign", "dnnl.yaml", "--key", "acme.key")
        wrong = self.with_passphrase("sign", "dnnl.yaml", "--key", "acme.key", passphrase="sesam", status=2)
        self.assertIn("the passphrase is wrong", wrong.stderr)
        self.with_passphrase("keygen", "empty", passphrase="", status=2)

    def test_asks_at_the_terminal_without_showing_what_is_typed(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(EPHOST, [EPHOST, "keygen", "acme"], {"HOME": str(self.folder)})
        output = b""
        for _ in range(2):
            while not output.rstrip(b" ").endswith(b":"):
                output += os.read(terminal, 1024)
            os.write(terminal, b"open sesame\n")
            output += b"\n"
        try:
            while chunk := os.read(terminal, 1024):
                output += chunk
        except OSError:  # the end of the terminal
            pass
        self.assertEqual(os.waitpid(pid, 0)[1], 0, output)
        self.assertNotIn(b"sesame", output)
        self.assertIn("encrypted", (self.folder / "acme.key").read_text())

    def test_needs_a_terminal_or_a_descriptor(self):
        result = subprocess.run([EPHOST, "keygen", "acme"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                start_new_session=True, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--passphrase-fd", result.stderr)


class SignTest(TrustTest):
    def test_fills_in_what_the_manifest_lacks(self):
        manifest = self.manifest("dnnl")
        lines = manifest.read_text().splitlines(keepends=True)
        if "sha256:\n" in lines:
            at = lines.index("sha256:\n")
            del lines[at:at + 2]
        manifest.write_text("".join(lines))
        (manifest.parent / "data.bin").write_text("data")
        report = self.json("sign", manifest, "--key", "vendor.key")
        self.assertEqual(report["files"][0]["added"], ["sha256", "files"])
        self.assertIn("data.bin", manifest.read_text())
        verified = subprocess.run(["minisign", "-V", "-p", "vendor.pub", "-m", manifest], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertIn(f"provider:{DNNL}", verified.stdout)
        self.trust()
        self.ephost("sign", self.manifest("cpu"), "--key", "vendor.key")
        self.run_tiny()
        (manifest.parent / "data.bin").write_text("other data")
        self.assertIn("data.bin", self.refuse_tiny("INVALID_ARGUMENT"))

    def test_refuses_what_it_cannot_sign(self):
        with open(self.plugins / "dnnl" / "libephost_dnnl.so", "ab") as library:
            library.write(b"x")
        self.sign_one = ("sign", self.manifest("dnnl"), "--key", "vendor.key")
        if "sha256:" in self.manifest("dnnl").read_text():
            self.assertIn("has the SHA-256", self.refusal("INVALID_ARGUMENT", *self.sign_one))
        self.refusal("INVALID_ARGUMENT", "sign", self.manifest("cpu"), "--key", "vendor.pub")
        self.refusal("INVALID_ARGUMENT", "sign", tiny("tiny_cnn"), "--key", "vendor.key")
        self.refusal("NO_SUCHFILE", "sign", self.manifest("cpu"), "--key", "nobody.key")
        self.refusal("INVALID_ARGUMENT", "sign", self.manifest("cpu"), "--key", "vendor.key", "--expires", "2001-01-01")


class PolicyTest(TrustTest):
    def test_require_runs_what_trusted_keys_signed(self):
        self.assertIn("is not signed", self.refuse_tiny())
        self.sign_plugins()
        self.assertIn(f"{self.id} is not trusted", self.refuse_tiny())
        self.trust()
        self.run_tiny()

    def test_require_names_the_reason(self):
        self.sign_plugins()
        self.trust()
        manifest = self.manifest("dnnl")
        text = manifest.read_text()
        manifest.write_text(text + "# changed\n")
        self.assertIn("not a signature of this content", self.refuse_tiny())
        manifest.write_text(text)
        library = self.plugins / "dnnl" / "libephost_dnnl.so"
        with open(library, "ab") as file:
            file.write(b"x")
        self.assertIn("SHA-256", self.refuse_tiny("INVALID_ARGUMENT"))

    def test_warn_warns_once(self):
        run = self.ephost("run", tiny("tiny_cnn"), "--ep", "dnnl", "--plugin-path", self.plugins, "--signatures", "warn")
        for name in ("cpu", "dnnl"):
            self.assertEqual(run.stderr.count(f"{name}.yaml\" is not signed"), 1, run.stderr)

    def test_the_strictest_policy_counts(self):
        command = ("run", tiny("tiny_cnn"), "--ep", "dnnl", "--plugin-path", self.plugins)
        self.ephost(*command)
        strict = {"EPHOST_SIGNATURES": "require"}
        self.assertIn("is not signed", self.ephost(*command, "--signatures", "off", variables=strict, status=5).stderr)
        self.assertIn("EPHOST_SIGNATURES is \"on\"",
                      self.ephost(*command, variables={"EPHOST_SIGNATURES": "on"}, status=2).stderr)
        self.refusal("EP_FAIL", *command, "--config", "session.signatures=require")
        self.refusal("INVALID_ARGUMENT", *command, "--config", "session.signatures=yes")
        selection = self.write("selection.yaml", "selection: 1\nproviders: [dnnl]\nsignatures: require\n")
        self.refusal("EP_FAIL", "run", tiny("tiny_cnn"), "--selection", selection, "--plugin-path", self.plugins)
        self.sign_plugins()
        self.trust()
        self.ephost("run", tiny("tiny_cnn"), "--selection", selection, "--plugin-path", self.plugins)

    def test_list_and_inspect_show_the_state(self):
        listed = self.json(*self.require("list"))
        states = {plugin["manifest"]: plugin for plugin in listed["plugins"]}
        self.assertIn("is not signed", str(states[str(self.manifest("dnnl"))]))
        inspect = ("inspect", self.manifest("dnnl"))
        self.assertEqual(self.json(*inspect)["signature"]["state"], "unsigned")
        self.sign_plugins()
        self.assertEqual(self.json(*inspect)["signature"]["state"], "not trusted")
        self.trust("--name", "Acme")
        self.assertEqual(self.json(*inspect)["signature"]["state"], f"signed by {self.id} (Acme)")
        self.assertRegex(self.ephost(*inspect).stdout, rf"signature +signed by {self.id} \(Acme\)")
        self.assertEqual(self.json(*inspect)["signature"]["not_covered"], [])
        (self.plugins / "dnnl" / "later.bin").write_text("later")
        self.assertEqual(self.json(*inspect)["signature"]["not_covered"], ["later.bin"])
        self.assertIn("not covered: later.bin", self.ephost(*inspect).stdout)
        self.assertIn("added files", self.ephost("sign", self.manifest("dnnl"), "--key", "vendor.key").stdout)
        self.assertEqual(self.json(*inspect)["signature"]["not_covered"], [])
        (self.plugins / "dnnl" / "last.bin").write_text("last")
        signing = self.ephost("sign", self.manifest("dnnl"), "--key", "vendor.key")
        self.assertIn("not covered: last.bin;", signing.stdout)

    def test_pinned_keys(self):
        self.sign_plugins()
        self.trust("--provider", DNNL)
        self.assertIn(f"is trusted for {DNNL} alone", self.refuse_tiny())
        self.trust("--provider", DNNL, "--provider", CPU)
        self.run_tiny()
        self.ephost("keygen", "other", "--no-passphrase")
        self.ephost("trust", "add", "other.pub")
        self.ephost("sign", self.manifest("dnnl"), "--key", "other.key")
        self.assertIn(f"is not the one that {DNNL} is pinned to", self.refuse_tiny())

    def test_revocation_wins(self):
        self.sign_plugins()
        self.trust()
        self.run_tiny()
        self.ephost("trust", "revoke", self.plugins / "dnnl" / "libephost_dnnl.so")
        self.assertIn("was revoked", self.refuse_tiny())
        # That of the build tree is the same file, without a signature or a checksum in its manifest.
        under_warn = self.ephost("run", tiny("tiny_cnn"), "--ep", "dnnl", "--plugin-path", self.plugins,
                                 "--signatures", "warn", status=5)
        self.assertEqual(under_warn.stderr.count("was revoked"), 2)

    def test_a_folder_that_others_may_write_is_not_trusted(self):
        self.sign_plugins()
        self.trust()
        (self.folder / ".config" / "ephost" / "trust").chmod(0o777)
        self.assertIn("others may write it", self.refuse_tiny())

    def test_trust_list_and_remove(self):
        self.trust("--name", "Acme", "--provider", DNNL, "--expires", "2099-01-31")
        key, = self.json("trust", "list")["keys"]
        self.assertEqual((key["id"], key["name"], key["providers"], key["expires"], key["origin"]),
                         (self.id, "Acme", [DNNL], "2099-01-31T00:00:00Z", "user"))
        self.assertIn(DNNL, self.ephost("trust", "list").stdout)
        self.refusal("INVALID_ARGUMENT", "trust", "remove", "nobody")
        shutil.copy(self.folder / "vendor.pub", pathlib.Path(key["file"]).parent)
        self.assertEqual(len(self.json("trust", "list")["keys"]), 2)
        self.ephost("trust", "remove", self.id)
        self.assertEqual(self.json("trust", "list")["keys"], [])
        self.refusal("INVALID_ARGUMENT", "trust", "add", "vendor.key")
        self.refusal("INVALID_ARGUMENT", "trust", "add", "vendor.pub", "--provider", "a-b")
        self.refusal("INVALID_ARGUMENT", "trust", "add", "vendor.pub", "--expires", "soon")
        self.ephost("trust", "revoke", self.id, "0" * 64)
        listed = self.json("trust", "list")
        self.assertEqual((listed["revoked_keys"], listed["revoked_files"]), ([self.id], ["0" * 64]))


class NeighbourTest(TrustTest):
    """With a plugin that depends on a library beside it, which depends on another one."""

    def setUp(self):
        super().setUp()
        shutil.copytree(FIXTURES / "distant", self.plugins / "distant")
        self.trust()

    def sign(self, omit=()):
        manifest = self.manifest("distant")
        with manifest.open("a") as file:
            file.write("files:\n")
            for name in {"libmiddle.so", "libdependency.so"} - set(omit):
                content = (self.plugins / "distant" / name).read_bytes()
                file.write(f"  {name}: {hashlib.sha256(content).hexdigest()}\n")
        self.ephost("sign", self.manifest("cpu"), manifest, "--key", "vendor.key")

    def command(self, isolation):
        return self.require("run", tiny("tiny_mlp"), "--ep", "fixture", "--isolation", isolation)

    def test_require_refuses_a_library_that_the_manifest_omits(self):
        self.sign(omit=["libdependency.so"])
        for isolation in ("none", "worker"):
            error = self.refusal("EP_FAIL", *self.command(isolation))
            self.assertIn("libdependency.so\" was loaded with the plugin", error)

    def test_require_loads_what_the_manifest_lists(self):
        self.sign()
        for isolation in ("none", "worker"):
            self.ephost(*self.command(isolation))


class ModelTest(TrustTest):
    def setUp(self):
        super().setUp()
        self.sign_plugins()
        self.trust()
        self.model = self.folder / "model_ctx.onnx"

    def compile(self, *arguments, model="tiny_cnn"):
        report = self.json("compile", tiny(model), "--ep", "dnnl", "--plugin-path", self.plugins, "-o", self.model,
                           *arguments)
        return [self.folder / file["path"] for file in report["files"] if file["path"].endswith(".bin")]

    def load(self, **rest):
        return self.ephost(*self.require("run", self.model, "--ep", "dnnl"), **rest)

    def refuse(self):
        return self.refusal("INVALID_GRAPH", *self.require("run", self.model, "--ep", "dnnl"))

    def test_a_signed_context_model_runs(self):
        for arguments in ([], ["--embed"], ["--external-initializers", "weights.bin", "--initializer-threshold", "0"]):
            self.compile("--sign", "vendor.key", *arguments, model="tiny_diamond")
            self.load()
        verified = subprocess.run(["minisign", "-V", "-p", "vendor.pub", "-m", self.model], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        (self.folder / "weights.bin").write_bytes(bytes((self.folder / "weights.bin").stat().st_size))
        self.load(status=4)

    def test_require_refuses_an_unsigned_context_model(self):
        self.compile()
        self.assertIn("is not signed", self.refuse())
        self.ephost("sign", self.model, "--key", "vendor.key")
        self.load()

    def test_require_refuses_a_stripped_context_model(self):
        self.compile("--sign", "vendor.key")
        model = onnx.load(str(self.model), load_external_data=False)
        del model.metadata_props[:]
        model.producer_name = "somebody else"
        onnx.save(model, str(self.model))
        self.assertIn("not a signature of this content", self.refuse())
        report = self.json(*self.require("verify", self.model), status=1)
        self.assertIn("not a signature of this content", " ".join(report["problems"]))
        (self.folder / "model_ctx.onnx.minisig").unlink()
        self.assertIn("is not signed", self.refuse())

    def test_require_refuses_a_changed_payload(self):
        binary, = self.compile("--sign", "vendor.key")
        model = onnx.load(str(self.model), load_external_data=False)
        self.assertTrue(any("binary" in entry.key for entry in model.metadata_props))
        content = bytearray(binary.read_bytes())
        content[-1] ^= 1
        binary.write_bytes(content)
        self.assertIn("it is of other files", self.refuse())

    def test_require_refuses_a_model_that_others_may_change(self):
        binary, = self.compile("--sign", "vendor.key")
        command = self.require("run", self.model, "--ep", "dnnl")
        strictly = {"EPHOST_ALLOW_WRITABLE_PLUGINS": "0"}
        self.ephost(*command, variables=strictly)
        for path in (self.model, binary):
            path.chmod(0o666)
            error = self.ephost(*command, status=4, variables=strictly).stderr
            self.assertIn(f'the file "{path}" can be changed by others', error)
            # No variable makes the signature of such a model mean something.
            error = self.ephost(*command, "--allow-writable-plugins", status=4).stderr
            self.assertIn(f'the file "{path}" can be changed by others', error)
            path.chmod(0o644)
        self.model.chmod(0o666)
        self.ephost("run", self.model, "--ep", "dnnl", "--plugin-path", self.plugins, variables=strictly)

    def test_warn_uses_an_unsigned_context_model(self):
        self.compile()
        command = ("run", self.model, "--ep", "dnnl", "--plugin-path", self.plugins)
        warned = self.ephost(*command, "--signatures", "warn").stderr
        self.assertEqual(warned.count("model_ctx.onnx\" is not signed"), 1, warned)
        self.assertNotIn("signed", self.ephost(*command).stderr)

    def test_a_revoked_model_is_refused_under_warn(self):
        binary, = self.compile("--sign", "vendor.key")
        self.ephost("trust", "revoke", binary)
        error = self.refusal("INVALID_GRAPH", "run", self.model, "--ep", "dnnl", "--plugin-path", self.plugins,
                             "--signatures", "warn")
        self.assertIn("was revoked", error)

    def test_specialised_models_are_signed_too(self):
        symbol = onnx.load(tiny("tiny_dynamic")).graph.input[0].type.tensor_type.shape.dim[0].dim_param
        self.compile("--sign", "vendor.key", "--shape-profile", f"{symbol}=4", model="tiny_dynamic")
        specialised = self.folder / "model_ctx_4.onnx.minisig"
        self.assertEqual(set(self.folder.glob("*.minisig")),
                         {self.folder / "model_ctx.onnx.minisig", specialised})
        self.json(*self.require("verify", self.model))
        specialised.unlink()
        report = self.json(*self.require("verify", self.model), status=1)
        self.assertIn("model_ctx_4.onnx\" is not signed", " ".join(report["problems"]))
        self.ephost("sign", self.model, "--key", "vendor.key")
        self.json(*self.require("verify", self.model))

    def test_verify_reports_the_signature(self):
        self.compile()
        report = self.json("verify", self.model)
        self.assertEqual(report["signature"], "unsigned")
        self.assertIn("is not signed", report["signature_problem"])
        self.assertTrue(report["ok"])
        self.assertNotEqual(report["sources"][0]["verdict"], "not asked")
        report = self.json(*self.require("verify", self.model), status=1)
        self.assertFalse(report["ok"])
        # No plugin sees the content of such a model.
        self.assertEqual([source["verdict"] for source in report["sources"]], ["not asked"])
        selection = self.write("selection.yaml", "selection: 1\nproviders: [dnnl]\nsignatures: require\n")
        self.json("verify", self.model, "--selection", selection, "--plugin-path", self.plugins, status=1)
        self.ephost("sign", self.model, "--key", "vendor.key")
        report = self.json(*self.require("verify", self.model))
        self.assertEqual(report["signature"], f"signed by {self.id}")
        self.assertIn("the signature covers the model file", self.ephost("verify", self.model).stdout)

    def test_signing_needs_a_file(self):
        self.refusal("INVALID_ARGUMENT", "compile", tiny("tiny_cnn"), "--ep", "dnnl", "-o", "-", "--sign", "vendor.key")

    def in_store(self, *arguments, **rest):
        return self.json(*self.require("run", tiny("tiny_cnn"), "--ep", "dnnl", "--cache-dir", self.folder / "store"),
                         *arguments, **rest)["cache"]

    def test_the_store_signs_its_entries(self):
        self.assertEqual(self.in_store()["outcome"], "miss")
        key = self.folder / "state" / "ephost" / "store.key"
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
        self.assertEqual(self.in_store()["outcome"], "hit")

    def test_unsigned_entries_are_compiled_again(self):
        command = ("run", tiny("tiny_cnn"), "--ep", "dnnl", "--plugin-path", self.plugins, "--cache-dir",
                   self.folder / "store")
        self.assertEqual(self.json(*command)["cache"]["outcome"], "miss")
        self.assertEqual(self.json(*command)["cache"]["outcome"], "hit")
        second = self.in_store()
        self.assertEqual(second["outcome"], "miss")
        self.assertIn("is not signed", second["reason"])
        self.assertEqual(self.in_store()["outcome"], "hit")
        (self.folder / "state" / "ephost" / "store.key").unlink()
        self.assertIn("is not trusted", self.in_store()["reason"])

    def test_revocations_hold_for_the_store(self):
        entry = self.folder / "store" / "ephost-context-cache" / f"ephost-entry-{self.in_store()['key']}"
        self.ephost("trust", "revoke", entry / "model_ctx.onnx")
        again = self.in_store()
        self.assertEqual(again["outcome"], "miss")
        self.assertIn("was revoked", again["reason"])

    def test_without_a_key_the_store_is_not_used(self):
        (self.folder / "state" / "ephost").mkdir(parents=True)
        (self.folder / "state" / "ephost" / "store.key").write_text("not a key\n")
        self.assertEqual(self.in_store()["outcome"], "uncached")


if __name__ == "__main__":
    unittest.main()
