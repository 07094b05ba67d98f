"""Scripts as one writes them for onnxruntime, run with nothing changed but the import."""

import pathlib
import unittest

import numpy as np

from support import PackageTest, TINY_MODELS, data_of

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"


class Scripts(PackageTest):
    def run_script(self, name, *arguments):
        """What the script prints, with `import onnxruntime as ort` replaced, and without any warning."""
        text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
        self.assertEqual(text.count("import onnxruntime as ort\n"), 1)
        text = text.replace("import onnxruntime as ort\n", "import ephost as ort\n")
        self.assertNotIn("ephost.", text)
        done = self.python(text, *arguments)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def expected(self, model, output):
        return data_of(model)[1][output]

    def save_inputs(self, model):
        np.savez(self.folder / "inputs.npz", **data_of(model)[0])
        return self.folder / "inputs.npz"

    def test_image_classification(self):
        out = self.run_script("classify_image", TINY_MODELS / "tiny_cnn" / "model.onnx", self.save_inputs("tiny_cnn"))
        logits, = data_of("tiny_cnn")[1].values()
        best = [int(line.split()[0]) for line in out.splitlines()]
        self.assertEqual(best, np.argsort(logits[0])[::-1][:5].tolist())

    def test_bert_with_its_inputs(self):
        out = self.run_script("bert", TINY_MODELS / "tiny_bert" / "model.onnx", self.save_inputs("tiny_bert"))
        for name, array in data_of("tiny_bert")[1].items():
            self.assertIn(f"{name} {list(array.shape)}", out)
        self.assertIn(f"{np.abs(next(iter(data_of('tiny_bert')[1].values()))).mean():.2f}", out)

    def test_io_binding(self):
        out = self.run_script("io_binding", TINY_MODELS / "tiny_cnn" / "model.onnx", self.save_inputs("tiny_cnn"))
        self.assertEqual(out.splitlines(), ["same: True", "same: True", "same: True"])

    def test_session_options(self):
        out = self.run_script("session_options", TINY_MODELS / "tiny_dynamic" / "model.onnx")
        self.assertEqual(out.splitlines(), ["providers: ['CPUExecutionProvider']", "batch: 2", "threads: 1",
                                            "profile: True", "optimized: True", "refused: InvalidArgument"])

    def test_compile_then_load(self):
        out = self.run_script("compile_model", TINY_MODELS / "tiny_cnn" / "model.onnx", self.save_inputs("tiny_cnn"))
        self.assertEqual(out.splitlines(), ["compiled: True", "same: True", "same: True"])

    def test_threads(self):
        out = self.run_script("threads", TINY_MODELS / "tiny_cnn" / "model.onnx", self.save_inputs("tiny_cnn"))
        self.assertEqual(out, "32 results, all the same: True\n8 callbacks, all the same: True\n")


if __name__ == "__main__":
    unittest.main()
