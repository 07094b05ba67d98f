"""Sessions that read a model again after its files were replaced, changed or truncated."""

import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import ephost as ort
from support import PackageTest, info

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
WEIGHTS = np.arange(64, dtype=np.float32).reshape(2, 32)


class Replacements(PackageTest):
    def save(self, nodes, inputs, inner=(), name="model.onnx"):
        """A model that multiplies by WEIGHTS, which are external data."""
        graph = helper.make_graph(nodes, "external", inputs, [info("y", FLOAT, [None, 32])], value_info=inner,
                                  initializer=[numpy_helper.from_array(WEIGHTS, "w")])
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        (self.folder / "weights.bin").unlink(missing_ok=True)  # onnx would append to it
        onnx.save_model(model, str(self.folder / name), save_as_external_data=True, location="weights.bin",
                        size_threshold=0, convert_attribute=False)
        self.assertEqual((self.folder / "weights.bin").stat().st_size, WEIGHTS.nbytes)
        return str(self.folder / name)

    def wrongly_declared(self):
        """A session whose first run finds that `r` is not [2,2], so that the model is read again."""
        path = self.save([helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("Exp", ["r"], ["e"]),
                          helper.make_node("MatMul", ["e", "w"], ["y"])],
                         [info("x", FLOAT, [6]), info("s", INT64, [2])], [info("r", FLOAT, [2, 2])])
        return ort.InferenceSession(path)

    INPUTS = {"x": np.zeros(6, np.float32), "s": np.array([3, 2])}
    EXPECTED = np.ones((3, 2), np.float32) @ WEIGHTS

    def replace(self, content, name="weights.bin"):
        (self.folder / "new").write_bytes(content)
        os.replace(self.folder / "new", self.folder / name)

    def change(self, content, name="weights.bin"):
        """In place, with the times that the file had."""
        path = self.folder / name
        times = path.stat()
        with open(path, "r+b") as file:
            file.write(content)
            file.truncate()
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def test_files_that_are_as_they_were_are_read_again(self):
        np.testing.assert_array_equal(self.wrongly_declared().run(None, self.INPUTS)[0], self.EXPECTED)

    def test_external_data_of_another_file_is_refused(self):
        other = np.zeros_like(WEIGHTS).tobytes()
        for name, act in {"replaced": lambda: self.replace(other), "longer": lambda: self.replace(other * 2),
                          "truncated": lambda: self.replace(b""),
                          "gone": (self.folder / "weights.bin").unlink,
                          "changed in place": lambda: self.change(other),
                          "truncated in place": lambda: self.change(b"")}.items():
            with self.subTest(name):
                session = self.wrongly_declared()
                act()
                text = self.refusal(ort.InvalidGraph, session.run, None, self.INPUTS)
                self.assertIn("weights.bin", text)
                self.assertIn("was changed or replaced after it had been read; create the session again", text)

    def test_a_model_of_another_file_is_refused(self):
        session = self.wrongly_declared()
        self.replace((self.folder / "model.onnx").read_bytes(), "model.onnx")
        self.assertIn("model.onnx", self.refusal(ort.InvalidGraph, session.run, None, self.INPUTS))

    def open_session(self):
        """A session that reads its model again for each shape."""
        path = self.save([helper.make_node("Neg", ["x"], ["n"]), helper.make_node("MatMul", ["n", "w"], ["y"])],
                         [info("x", FLOAT, ["rows", 2])])
        options = ort.SessionOptions()
        options.add_session_config_entry("session.shapes.specialize", "in_run")
        options.add_session_config_entry("session.shapes.runs_before", "0")
        return ort.InferenceSession(path, options, providers=["dnnl"])

    def test_specialisations_have_the_weights_of_their_session(self):
        session = self.open_session()
        self.replace(np.zeros_like(WEIGHTS).tobytes())
        for rows in (1, 3, 3, 8, 8):
            x = np.full((rows, 2), -1, np.float32)
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], -x @ WEIGHTS)


if __name__ == "__main__":
    unittest.main()
