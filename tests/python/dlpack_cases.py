"""DLPack: tensors of other libraries in the same memory, in both directions."""

import gc
import unittest
import weakref

import numpy as np
from onnx import TensorProto

import ephost as ort
from support import PackageTest, identity_of, owned


class DLPack(PackageTest):
    def test_numpy_takes_a_value_without_copying(self):
        for dtype in (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
                      np.uint32, np.uint64, np.complex64):
            value = ort.OrtValue.ortvalue_from_numpy(np.arange(6).reshape(2, 3).astype(dtype))
            array = np.from_dlpack(value)
            self.assertEqual((array.dtype, array.shape), (dtype, (2, 3)))
            self.assertEqual(array.ctypes.data, value.data_ptr())
        self.assertEqual(value.__dlpack_device__(), (1, 0))

    def test_a_value_takes_an_array_without_copying(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        for given in (array, array.__dlpack__()):
            value = ort.OrtValue.from_dlpack(given)
            self.assertEqual((value.data_ptr(), value.shape(), value.data_type()),
                             (array.ctypes.data, [2, 3], "tensor(float)"))

    def test_a_run_takes_anything_with_dlpack(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self):
                return self.array.__dlpack__()
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        array = np.arange(3, dtype=np.float32)
        np.testing.assert_array_equal(session.run(None, {"x": Foreign(array)})[0], array)

    def test_memory_lives_until_both_sides_are_gone(self):
        array = owned(6)
        alive = weakref.ref(array)
        value = ort.OrtValue.from_dlpack(np.asarray(array).__dlpack__())
        other = np.from_dlpack(value)
        value_alive = weakref.ref(value)
        del array, value
        gc.collect()
        self.assertIsNone(value_alive())
        self.assertIsNotNone(alive())
        np.testing.assert_array_equal(other, range(6))
        del other
        gc.collect()
        self.assertIsNone(alive())

    def test_a_capsule_that_nobody_takes_is_released(self):
        array = owned(6)
        alive = weakref.ref(array)
        capsule = ort.OrtValue.ortvalue_from_numpy(array).to_dlpack()
        del array
        gc.collect()
        self.assertIsNotNone(alive())
        del capsule
        gc.collect()
        self.assertIsNone(alive())

    def test_a_capsule_is_taken_once(self):
        capsule = np.arange(6, dtype=np.float32).__dlpack__()
        ort.OrtValue.from_dlpack(capsule)
        self.assertIn("not used yet", self.refusal(ort.InvalidArgument, ort.OrtValue.from_dlpack, capsule))
        self.refusal(ort.InvalidArgument, ort.OrtValue.from_dlpack, "a text")

    def test_bytes_can_be_truth_values(self):
        value = ort.OrtValue.from_dlpack(np.array([1, 0], np.uint8), is_bool_tensor=True)
        self.assertEqual(value.data_type(), "tensor(bool)")
        again = ort.OrtValue.from_dlpack(value)
        self.assertEqual((again.data_type(), again.data_ptr()), ("tensor(bool)", value.data_ptr()))

    def test_elements_that_are_not_aligned_are_copied(self):
        raw = np.frombuffer(bytearray(b"\0" + np.arange(3, dtype=np.float32).tobytes()), np.uint8)
        unaligned = raw[1:].view(np.float32)
        value = ort.OrtValue.from_dlpack(unaligned)
        self.assertNotEqual(value.data_ptr(), unaligned.ctypes.data)
        np.testing.assert_array_equal(value.numpy(), [0, 1, 2])

    def test_refuses_what_has_no_form_on_the_other_side(self):
        self.assertIn("contiguous", self.refusal(ort.InvalidArgument, ort.OrtValue.from_dlpack,
                                                 np.zeros((2, 3), np.float32).T))
        texts = ort.OrtValue.ortvalue_from_numpy(np.array(["a"]))
        self.refusal(ort.InvalidArgument, texts.to_dlpack)
        with self.assertRaises(BufferError):
            ort.OrtValue.ortvalue_from_shape_and_type([1], np.float32).__dlpack__(dl_device=(2, 0))

    def test_copies_where_it_is_asked_to(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.arange(3, dtype=np.float32))
        copy = ort.OrtValue.from_dlpack(value.__dlpack__(copy=True))
        self.assertNotEqual(copy.data_ptr(), value.data_ptr())
        np.testing.assert_array_equal(copy.numpy(), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
