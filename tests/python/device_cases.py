"""Values in the memory of a device (tests/fixtures/device), which no access of the host may touch."""

import unittest

import numpy as np
from onnx import TensorProto, helper

import ephost as ort
from support import FIXTURES, PackageTest, info, model_of

X = np.arange(4, dtype=np.float32)


class Devices(PackageTest):
    @classmethod
    def setUpClass(cls):
        ort.register_execution_provider_library("streams", FIXTURES / "streams" / "streams.yaml")

    def setUp(self):
        super().setUp()
        model = model_of([helper.make_node("Add", ["x", "x"], ["y"])], [info("x", TensorProto.FLOAT, ["n"])],
                         [info("y", TensorProto.FLOAT, ["n"])])
        self.session = ort.InferenceSession(model, providers=["streams"])

    def test_hold_copies_of_arrays(self):
        for device in (("npu", 0), (ort.OrtDevice.make("npu", 0),)):
            value = ort.OrtValue.ortvalue_from_numpy(X, *device)
            self.assertEqual((value.device_name(), value.shape(), value.tensor_size_in_bytes()), ("npu", [4], 16))
            self.assertNotEqual(value.data_ptr(), X.ctypes.data)
            np.testing.assert_array_equal(value.numpy(), X)
            value.update_inplace(X + 1)
            np.testing.assert_array_equal(value.numpy(), X + 1)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 2], np.int64, "npu", 0)
        value.update_inplace(np.eye(2, dtype=np.int64))
        np.testing.assert_array_equal(value.numpy(), np.eye(2))
        self.refusal(ort.InvalidArgument, value.update_inplace, X)

    def test_stay_there_from_run_to_run(self):
        binding = self.session.io_binding()
        binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(X, "npu", 0))
        binding.bind_output("y", "npu", 0)
        for _ in range(3):
            self.session.run_with_iobinding(binding)
            made = binding.get_outputs()[0]
            self.assertEqual(made.device_name(), "npu")
            binding.bind_ortvalue_input("x", made)
        np.testing.assert_array_equal(made.numpy(), 8 * X)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], 8 * X)

    def test_are_inputs_and_outputs_of_any_run(self):
        value = ort.OrtValue.ortvalue_from_numpy(X, "npu", 0)
        np.testing.assert_array_equal(self.session.run(None, {"x": value})[0], 2 * X)
        made = self.session.run_with_ort_values(["y"], {"x": value})[0]
        self.assertEqual(made.device_name(), "cpu")
        out = ort.OrtValue.ortvalue_from_shape_and_type([4], np.float32, "npu", 0)
        binding = self.session.io_binding()
        binding.bind_cpu_input("x", X)
        binding.bind_ortvalue_output("y", out)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(out.numpy(), 2 * X)

    def test_say_in_which_memory_a_session_wants_them(self):
        for found in (self.session.get_input_memory_infos()[0], self.session.get_output_memory_infos()[0]):
            self.assertEqual((found.name, found.device_type, found.device_id), ("streams.dram", "npu", 0))

    def test_are_shared_by_dlpack(self):
        value = ort.OrtValue.ortvalue_from_numpy(X, "npu", 0)
        self.assertEqual(value.__dlpack_device__(), (12, 0))
        shared = ort.OrtValue.from_dlpack(value)
        self.assertEqual((shared.device_name(), shared.data_ptr()), ("npu", value.data_ptr()))
        value.update_inplace(X + 5)
        del value
        np.testing.assert_array_equal(shared.numpy(), X + 5)
        np.testing.assert_array_equal(self.session.run(None, {"x": shared})[0], 2 * (X + 5))
        copy = ort.OrtValue.from_dlpack(shared.__dlpack__(copy=True))
        self.assertNotEqual(copy.data_ptr(), shared.data_ptr())
        np.testing.assert_array_equal(copy.numpy(), X + 5)
        on_host = ort.OrtValue.from_dlpack(shared.__dlpack__(dl_device=(1, 0)))
        self.assertEqual(on_host.device_name(), "cpu")
        self.assertRaises(BufferError, shared.__dlpack__, dl_device=(1, 0), copy=False)
        self.assertRaises(BufferError, shared.__dlpack__, dl_device=(2, 0))
        capsule = shared.to_dlpack()
        ort.OrtValue.from_dlpack(capsule)
        self.refusal(ort.InvalidArgument, ort.OrtValue.from_dlpack, capsule)

    def test_are_no_memory_of_the_program(self):
        value = ort.OrtValue.ortvalue_from_numpy(X, "npu", 0)
        binding = self.session.io_binding()
        self.refusal(ort.InvalidArgument, binding.bind_input, "x", "npu", 0, np.float32, (4,), value.data_ptr())
        self.refusal(ort.InvalidArgument, binding.bind_output, "y", "npu", 1)
        self.refusal(ort.InvalidArgument, ort.OrtValue.ortvalue_from_numpy, np.array(["a"]), "npu", 0)
        self.refusal(ort.InvalidArgument, ort.OrtValue.ortvalue_from_numpy, X, "gpu", 0)


if __name__ == "__main__":
    unittest.main()
