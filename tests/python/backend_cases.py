"""ephost.backend beyond what the ONNX project's tests (onnx_backend_test.py) call."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import ephost.backend
from support import PackageTest, data_of, identity_of, tiny


class Backend(PackageTest):
    def test_runs_inputs_by_name_in_order_or_alone(self):
        rep = ephost.backend.prepare(onnx.load_from_string(identity_of(TensorProto.FLOAT)), "CPU")
        x = np.arange(3, dtype=np.float32)
        for inputs in ({"x": x}, [x], (x,), x):
            outputs = rep.run(inputs)
            np.testing.assert_array_equal(outputs["y"], x)
            np.testing.assert_array_equal(outputs[0], x)
        with self.assertRaisesRegex(ValueError, "has 1 inputs, and is given 2"):
            rep.run([x, x])

    def test_takes_models_of_any_form_and_arguments_of_sessions(self):
        inputs, expected = data_of("tiny_cnn")
        for model in (onnx.load(tiny("tiny_cnn")), tiny("tiny_cnn").read_bytes(), tiny("tiny_cnn"),
                      str(tiny("tiny_cnn"))):
            rep = ephost.backend.prepare(model, providers=["dnnl"])
            self.assertEqual(rep.session.get_providers()[0], "DnnlExecutionProvider")
            outputs = rep.run(inputs)
            self.assert_close({name: outputs[name] for name in expected}, expected)
        with self.assertRaises(TypeError):
            ephost.backend.prepare(5)
        outputs = ephost.backend.run_model(tiny("tiny_cnn"), inputs)
        self.assert_close({name: outputs[name] for name in expected}, expected)

    def test_runs_single_nodes(self):
        x, y = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
        node = helper.make_node("Add", ["a", "b"], ["c"])
        np.testing.assert_array_equal(ephost.backend.run_node(node, [x, y])[0], [4, 6])
        np.testing.assert_array_equal(ephost.backend.run_node(node, {"b": y, "a": x}, opset_version=13)["c"], [4, 6])
        node = helper.make_node("Split", ["a"], ["b", "c"], axis=0)
        outputs = ephost.backend.run_node(node, x, opset_version=11)
        self.assertEqual([one.tolist() for one in outputs], [[1], [2]])
        node = helper.make_node("Binarizer", ["a"], ["b"], domain="ai.onnx.ml", threshold=1.5)
        np.testing.assert_array_equal(ephost.backend.run_node(node, x)[0], [0, 1])
        node = helper.make_node("Concat", ["t", "t"], ["u"], axis=0)
        self.assertEqual(ephost.backend.run_node(node, {"t": np.array(["a"], object)})[0].tolist(), ["a", "a"])

    def test_supports_the_cpu_alone(self):
        for device, expected in (("CPU", True), ("CPU:0", True), ("CUDA", False), ("TOASTER", False)):
            self.assertEqual(ephost.backend.supports_device(device), expected)
            self.assertEqual(ephost.backend.is_compatible(None, device), expected)
        with self.assertRaisesRegex(ValueError, "there is no device CUDA"):
            ephost.backend.prepare(identity_of(TensorProto.FLOAT), "CUDA")

    def test_arrays_of_small_types_are_those_of_onnx(self):
        rep = ephost.backend.prepare(identity_of(TensorProto.BFLOAT16))
        numbers = np.array([1, -2.5], np.float32)
        expected = onnx.numpy_helper.to_array(helper.make_tensor("", TensorProto.BFLOAT16, [2], numbers.tolist()))
        for given in (numbers, np.array([0x3f80, 0xc020], np.uint16)):
            found = rep.run([given])[0]
            self.assertEqual(found.dtype, expected.dtype)
            self.assertEqual(found.tobytes(), expected.tobytes())


if __name__ == "__main__":
    unittest.main()
