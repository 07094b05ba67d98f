"""Cases of `ephost new-plugin`. What becomes of its projects is checked in tests/integration/new_plugin."""

import unittest

from command_line import CommandLineTest

KINDS = [(language, kind) for language in ("c", "cpp") for kind in ("kernels", "compiler")]


class NewPluginTest(CommandLineTest):
    def test_writes_a_project_of_each_kind(self):
        for language, kind in KINDS:
            with self.subTest(language=language, kind=kind):
                name = f"{kind}_{language}"
                report = self.json("new-plugin", name, "--language", language, "--kind", kind)
                self.assertEqual((report["folder"], report["name"], report["vendor"]), (name, name, name))
                folder = self.folder / name
                found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
                self.assertEqual(found, report["files"])
                self.assertIn(f"{name}_provider.{'c' if language == 'c' else 'cc'}", found)
                self.assertIn(report["provider"], (folder / f"{name}.yaml").read_text())
                self.assertTrue((folder / "ci.sh").stat().st_mode & 0o100)
                for path in found:
                    self.assertNotIn("acme", (folder / path).read_text().lower(), path)

    def test_takes_vendor_and_folder(self):
        text = self.ephost("new-plugin", "fast_npu", "--language", "c", "--kind", "kernels", "--vendor",
                           "Müller & Söhne", "-o", "new/").stdout
        self.assertIn("new: the plugin fast_npu with the provider FastNpuExecutionProvider\n", text)
        self.assertIn('vendor: "Müller & Söhne"\n', (self.folder / "new" / "fast_npu.yaml").read_text())

    def test_leaves_what_exists_alone(self):
        for existing in ("folder", "file"):
            path = self.folder / existing
            path.mkdir() if existing == "folder" else path.write_text("mine")
            error = self.refusal("INVALID_ARGUMENT", "new-plugin", "a", "--language", "c", "--kind", "kernels",
                                 "-o", existing)
            self.assertIn("exists already", error)
        self.assertEqual((self.folder / "file").read_text(), "mine")
        self.assertEqual(list((self.folder / "folder").iterdir()), [])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["file", "folder"])

    def test_refuses_names_that_no_plugin_can_have(self):
        kind = ("--language", "c", "--kind", "kernels")
        self.assertIn("acme_npu", self.refusal("INVALID_ARGUMENT", "new-plugin", "Acme", *kind))
        self.assertIn("every session", self.refusal("INVALID_ARGUMENT", "new-plugin", "cpu", *kind))
        self.assertIn("vendor", self.refusal("INVALID_ARGUMENT", "new-plugin", "a", *kind, "--vendor", 'a"b'))
        self.refusal("INVALID_ARGUMENT", "new-plugin", "a", "--language", "rust", "--kind", "kernels")
        self.refusal("INVALID_ARGUMENT", "new-plugin", "a", "--language", "c")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
