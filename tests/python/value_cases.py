"""Values of all kinds: what goes into a run, and what comes out of it."""

import gc
import sys
import types
import unittest
import unittest.mock
import weakref

import numpy as np
from onnx import TensorProto, helper

import ephost as ort
from ephost import _dtypes, _ephost
from support import PackageTest, identity_of, info, map_info, model_of, optional_info, owned

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


class Arrays(PackageTest):
    def through(self, array, element, session=None):
        session = session or ort.InferenceSession(identity_of(element, [f"d{i}" for i in range(array.ndim)]))
        return session.run(None, {"x": array})[0]

    def test_all_dtypes_of_numpy_come_back(self):
        for name, element in (("float16", TensorProto.FLOAT16), ("float32", TensorProto.FLOAT),
                              ("float64", TensorProto.DOUBLE), ("int8", TensorProto.INT8), ("int16", TensorProto.INT16),
                              ("int32", TensorProto.INT32), ("int64", TensorProto.INT64), ("uint8", TensorProto.UINT8),
                              ("uint16", TensorProto.UINT16), ("uint32", TensorProto.UINT32),
                              ("uint64", TensorProto.UINT64), ("bool", TensorProto.BOOL),
                              ("complex64", TensorProto.COMPLEX64), ("complex128", TensorProto.COMPLEX128)):
            array = np.array([[0, 1], [1, 0], [1, 1]], name)
            found = self.through(array, element)
            self.assertEqual((found.dtype, found.shape), (array.dtype, array.shape))
            np.testing.assert_array_equal(found, array)

    def test_other_names_of_the_same_integers_are_the_same(self):
        for dtype in (np.longlong, np.int_):
            found = self.through(np.array([1, -2], dtype), TensorProto.INT64)
            np.testing.assert_array_equal(found, [1, -2])

    def test_texts_come_back(self):
        session = ort.InferenceSession(identity_of(TensorProto.STRING, ("n", "m")))
        expected = [["a", "grün"], ["", "x\0y"]]
        for array in (np.array(expected, object), np.array(expected)):
            self.assertEqual(self.through(array, None, session).tolist(), expected)
        coded = np.array([[b"a", b"\xff"]], object)
        self.assertEqual(self.through(coded, None, session)[0, 1].encode("utf-8", "surrogateescape"), b"\xff")
        again = self.through(self.through(coded, None, session), None, session)
        self.assertEqual(again[0, 1], "\udcff")

    def test_scalars_and_empty_arrays_come_back(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT, ()))
        for given in (np.array(2.5, np.float32), np.float32(2.5)):
            found = session.run(None, {"x": given})[0]
            self.assertEqual((found.shape, float(found)), ((), 2.5))
        self.assertEqual(self.through(np.zeros((2, 0), np.float32), TensorProto.FLOAT).shape, (2, 0))

    def test_lists_become_tensors_of_the_type_of_the_input(self):
        for element, given in ((TensorProto.FLOAT, [[1, 2.5]]), (TensorProto.FLOAT, ((True, 2),)),
                               (TensorProto.UINT8, [[0, 255]]), (TensorProto.BOOL, [[True, False]]),
                               (TensorProto.STRING, [["hello", "a longer text"]]), (TensorProto.DOUBLE, [[]])):
            session = ort.InferenceSession(identity_of(element, ("n", "m")))
            found = session.run([], {"x": given})[0]
            self.assertEqual(found.tolist(), [list(row) for row in given])
            binding = session.io_binding()
            binding.bind_cpu_input("x", given)
            session.run_with_iobinding(binding)
            self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), found.tolist())
        image = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(self.through(image.tolist(), None, ort.InferenceSession(
            identity_of(TensorProto.FLOAT, ("n", "m")))), image)

    def test_lists_that_are_no_tensor_are_refused(self):
        for element, given in ((TensorProto.INT64, [1.5]), (TensorProto.FLOAT, [1j]), (TensorProto.FLOAT, [[1], [1, 2]]),
                               (TensorProto.FLOAT, ["1"]), (TensorProto.BOOL, [2]), (TensorProto.STRING, [1]),
                               (TensorProto.BFLOAT16, [1.0])):
            session = ort.InferenceSession(identity_of(element))
            self.assertIn("list" if element != TensorProto.STRING else "str and bytes",
                          self.refusal(ort.InvalidArgument, session.run, None, {"x": given}))

    def test_inputs_are_not_copied(self):
        array = np.arange(4, dtype=np.float32)
        value = ort.OrtValue.ortvalue_from_numpy(array)
        self.assertEqual(value.data_ptr(), array.ctypes.data)
        self.assertEqual(value.numpy().ctypes.data, array.ctypes.data)
        value.numpy()[0] = 7
        self.assertEqual(array[0], 7)

    def test_memory_lives_as_long_as_it_is_needed(self):
        array = owned(4)
        alive = weakref.ref(array)
        value = ort.OrtValue.ortvalue_from_numpy(array)
        view = value.numpy()
        del array, value
        gc.collect()
        np.testing.assert_array_equal(view, [0, 1, 2, 3])
        self.assertIsNotNone(alive())
        del view
        gc.collect()
        self.assertIsNone(alive())

    def test_refuses_dtypes_that_onnx_does_not_have(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        for array in (np.zeros(1, np.longdouble), np.zeros(1, "M8[s]"), np.zeros(1, [("a", "f4"), ("b", "f4")]),
                      np.array([1, "a"], object)):
            self.refusal(ort.InvalidArgument, session.run, None, {"x": array})
        for given in ({1.0}, 1.0, "1.0"):
            self.assertIn(type(given).__name__, self.refusal(ort.InvalidArgument, session.run, None, {"x": given}))


class SmallTypes(PackageTest):
    """Element types that numpy does not have itself."""

    def test_bits_of_bfloat16_pass_as_integers(self):
        session = ort.InferenceSession(identity_of(TensorProto.BFLOAT16))
        bits = np.array([0x3f80, 0xc000, 0x7fc0], np.uint16)
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
        self.assertEqual((value.data_type(), value.element_type()), ("tensor(bfloat16)", TensorProto.BFLOAT16))
        np.testing.assert_array_equal(session.run(None, {"x": value})[0].view(np.uint16), bits)
        self.refusal(ort.InvalidArgument, session.run, None, {"x": bits})  # could be meant as numbers

    def test_packs_and_unpacks_types_of_less_than_a_byte(self):
        for number, dtype, items in ((22, np.int8, [-8, 7, 0, -1, 3]), (21, np.uint8, [15, 0, 7, 8, 1]),
                                     (26, np.int8, [-2, 1, 0, -1, 1]), (25, np.uint8, [3, 0, 1, 2, 3]),
                                     (23, np.uint8, [0, 15, 8, 7, 1])):
            array = np.array(items, dtype)
            value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, number)
            self.assertEqual(value.tensor_size_in_bytes(), -(-5 * _ephost.element_bits(number) // 8))
            np.testing.assert_array_equal(value.numpy().astype(np.float32 if ml_dtypes and number == 23 else np.int32),
                                          array if not (ml_dtypes and number == 23) else
                                          array.view(ml_dtypes.float4_e2m1fn).astype(np.float32))
        bytes_of = _ephost.Value.of_bytes(22, [3], np.array([0x7f, 0x08], np.uint8))
        np.testing.assert_array_equal(_dtypes.unpack(bytes_of.bytes(), 22, [3]).astype(np.int32), [-1, 7, -8])

    def test_refuses_numbers_that_do_not_fit(self):
        make = ort.OrtValue.ortvalue_from_numpy_with_onnx_type
        self.assertIn("-8 to 7", self.refusal(ort.InvalidArgument, make, np.array([8], np.int8), 22))
        self.assertIn("0 to 15", self.refusal(ort.InvalidArgument, make, np.array([16], np.uint8), 21))
        self.refusal(ort.InvalidArgument, make, np.array([1], np.float32), 16)
        self.refusal(ort.InvalidArgument, make, np.array([1], np.uint8), 99)

    def test_knows_the_structured_dtypes_of_onnx(self):
        session = ort.InferenceSession(identity_of(TensorProto.BFLOAT16))
        dtype = np.dtype((np.uint16, {"bfloat16": (np.uint16, 0)}))
        array = np.array([0x3f80, 0x4000], np.uint16).view(dtype)
        found, = session.run(None, {"x": array})
        np.testing.assert_array_equal(found.view(np.uint16), [0x3f80, 0x4000])

    def test_outputs_have_the_dtypes_that_ml_dtypes_offers(self):
        other = types.SimpleNamespace(bfloat16=np.float16, int4=np.int16, float4_e2m1fn=np.bool_)
        with unittest.mock.patch.dict(sys.modules, {"ml_dtypes": other}):
            make = ort.OrtValue.ortvalue_from_numpy_with_onnx_type
            value = make(np.array([0x3c00], np.uint16), TensorProto.BFLOAT16)
            self.assertEqual((value.numpy().dtype, value.numpy()[0]), (np.float16, 1))
            value = make(np.array([-8, 7], np.int8), 22)
            self.assertEqual((value.numpy().dtype, value.numpy().tolist()), (np.int16, [-8, 7]))
            value = make(np.array([1, 0, 1], np.uint8), 23)
            self.assertEqual((value.numpy().dtype, value.numpy().tolist()), (np.bool_, [True, False, True]))

    @unittest.skipIf(ml_dtypes is None, "the package ml_dtypes is not installed")
    def test_uses_ml_dtypes(self):
        session = ort.InferenceSession(identity_of(TensorProto.BFLOAT16))
        array = np.array([1, -2.5], ml_dtypes.bfloat16)
        found, = session.run(None, {"x": array})
        self.assertEqual(found.dtype, array.dtype)
        np.testing.assert_array_equal(found.astype(np.float32), [1, -2.5])
        for name, number in (("int4", 22), ("uint4", 21)):
            array = np.array([1, 2, 3], getattr(ml_dtypes, name))
            value = ort.OrtValue.ortvalue_from_numpy(array)
            self.assertEqual((value.element_type(), value.tensor_size_in_bytes()), (number, 2))
            self.assertEqual(value.numpy().dtype, array.dtype)
            np.testing.assert_array_equal(value.numpy().astype(np.int32), [1, 2, 3])


class OtherKinds(PackageTest):
    def test_sequences_are_lists(self):
        model = model_of([helper.make_node("SequenceInsert", ["s", "x"], ["r"])],
                         [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None),
                          info("x", TensorProto.FLOAT, None)],
                         [helper.make_tensor_sequence_value_info("r", TensorProto.FLOAT, None)])
        session = ort.InferenceSession(model)
        x = np.arange(2, dtype=np.float32)
        result, = session.run(None, {"s": [x, x[:1]], "x": x})
        self.assertEqual([one.tolist() for one in result], [[0, 1], [0], [0, 1]])
        for one in result:
            one += 5
        np.testing.assert_array_equal(x, [0, 1])  # elements of the result are not those of the input
        self.assertEqual(len(session.run(None, {"s": [], "x": x})[0]), 1)
        value, = session.run_with_ort_values(None, {"s": ort.OrtValue(_ephost.Value.sequence([], 1)),
                                                    "x": ort.OrtValue.ortvalue_from_numpy(x)})
        self.assertTrue(value.is_tensor_sequence())
        self.assertEqual(value.data_type(), "seq(tensor(float))")

    def test_nothing_is_none(self):
        model = model_of([helper.make_node("OptionalHasElement", ["o"], ["has"])], [optional_info("o", TensorProto.FLOAT)],
                         [info("has", TensorProto.BOOL, [])])
        session = ort.InferenceSession(model)
        self.assertEqual(session.get_inputs()[0].type, "optional(tensor(float))")
        self.assertFalse(session.run(None, {"o": None})[0])
        self.assertTrue(session.run(None, {"o": np.ones(2, np.float32)})[0])
        value = ort.OrtValue(_ephost.Value())
        self.assertEqual((value.has_value(), value.is_tensor(), value.numpy()), (False, False, None))

    def test_maps_are_dicts(self):
        node = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
        out = map_info("z", TensorProto.STRING, TensorProto.FLOAT, is_sequence=True)
        graph = helper.make_graph([node], "g", [info("x", TensorProto.FLOAT, [2, 2])], [out])
        opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 2)]
        session = ort.InferenceSession(
            helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
        self.assertEqual(session.get_outputs()[0].type, "seq(map(string,tensor(float)))")
        result, = session.run(None, {"x": np.array([[0.25, 0.75], [1, 0]], np.float32)})
        self.assertEqual(result, [{"cat": 0.25, "dog": 0.75}, {"cat": 1, "dog": 0}])
        node = helper.make_node("DictVectorizer", ["d"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[1, 7])
        given = map_info("d", TensorProto.INT64, TensorProto.FLOAT)
        graph = helper.make_graph([node], "g", [given], [info("y", TensorProto.FLOAT, None)])
        session = ort.InferenceSession(
            helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
        self.assertEqual(session.get_inputs()[0].type, "map(int64,tensor(float))")
        np.testing.assert_array_equal(session.run(None, {"d": {7: 4.0}})[0].reshape(-1), [0, 4])

    def test_sparse_tensors_are_inputs(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3, 3)))
        sparse = ort.SparseTensor.sparse_coo_from_numpy([3, 3], np.array([5, 6], np.float32), np.array([1, 8]))
        dense = np.array([[0, 5, 0], [0, 0, 0], [0, 0, 6]], np.float32)
        self.assertEqual((sparse.format(), sparse.dense_shape(), sparse.data_type()),
                         (ort.OrtSparseFormat.ORT_SPARSE_COO, [3, 3], "sparse_tensor(float)"))
        value = ort.OrtValue.ort_value_from_sparse_tensor(sparse)
        self.assertTrue(value.is_sparse_tensor())
        self.assertIs(value.as_sparse_tensor(), sparse)
        for given in (sparse, value):
            np.testing.assert_array_equal(session.run(None, {"x": given})[0], dense)
        np.testing.assert_array_equal(value.numpy(), dense)
        rows = ort.SparseTensor.sparse_csr_from_numpy([3, 3], np.array([5, 6], np.float32), np.array([1, 2]),
                                                      np.array([0, 1, 1, 2]))
        np.testing.assert_array_equal(session.run(None, {"x": rows})[0], dense)
        self.assertEqual(sparse.as_coo_view().indices().tolist(), [1, 8])
        view = rows.as_csrc_view()
        self.assertEqual((view.inner().tolist(), view.outer().tolist()), ([1, 2], [0, 1, 1, 2]))
        self.refusal(ort.InvalidArgument, rows.as_coo_view)
        self.refusal(ort.InvalidArgument, sparse.as_csrc_view)
        self.refusal(ort.InvalidArgument, ort.SparseTensor.sparse_coo_from_numpy, [3, 3], np.array([5], np.float32),
                     np.array([9]))


class OrtValues(PackageTest):
    def test_are_made_of_a_shape(self):
        for element in (np.float32, "float32", np.dtype(np.float32), TensorProto.FLOAT):
            value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], element)
            self.assertEqual((value.shape(), value.data_type(), value.device_name(), value.tensor_size_in_bytes()),
                             ([2, 3], "tensor(float)", "cpu", 24))
            np.testing.assert_array_equal(value.numpy(), np.zeros((2, 3)))
        self.refusal(ort.InvalidArgument, ort.OrtValue.ortvalue_from_shape_and_type, [2], np.float32, "cuda", 0)
        self.refusal(ort.InvalidArgument, ort.OrtValue.ortvalue_from_shape_and_type, [-1], np.float32)

    def test_are_arrays_for_numpy(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.arange(3, dtype=np.float32))
        self.assertTrue(np.shares_memory(np.asarray(value), value.numpy()))
        self.assertFalse(np.shares_memory(np.array(value, copy=True), value.numpy()))
        self.assertEqual(np.asarray(value, np.int64).tolist(), [0, 1, 2])
        sequence = ort.OrtValue(_ephost.Value.sequence([value._ephost_value]))
        with self.assertRaisesRegex(TypeError, "seq"):
            np.asarray(sequence)

    def test_are_updated_in_place(self):
        value = ort.OrtValue.ortvalue_from_shape_and_type([2], np.float32)
        value.update_inplace(np.array([1, 2], np.float32))
        np.testing.assert_array_equal(value.numpy(), [1, 2])
        self.refusal(ort.InvalidArgument, value.update_inplace, np.array([1, 2, 3], np.float32))
        self.refusal(ort.InvalidArgument, value.update_inplace, np.array([1, 2], np.int32))

    def test_are_updated_from_views_of_themselves(self):
        memory = np.arange(100, dtype=np.float32)
        value = ort.OrtValue.ortvalue_from_numpy(memory[3:])
        value.update_inplace(memory[:-3])
        np.testing.assert_array_equal(memory[3:], np.arange(97, dtype=np.float32))

    def test_over_a_read_only_array_are_read_only(self):
        numbers = np.frombuffer(np.arange(3, dtype=np.float32).tobytes(), np.float32)
        halves = numbers.view(np.uint16)[::1]
        for value in (ort.OrtValue.ortvalue_from_numpy(numbers),
                      ort.OrtValue.ortvalue_from_numpy_with_onnx_type(halves, TensorProto.BFLOAT16)):
            with self.subTest(value.data_type()):
                for write in (lambda: value.update_inplace(np.ones(3, np.float32)),
                              lambda: binding.bind_ortvalue_output("y", value)):
                    binding = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,))).io_binding()
                    with self.assertRaisesRegex(ort.InvalidArgument, "array that is read-only"):
                        write()
                with self.assertRaisesRegex(BufferError, "read-only"):
                    value.to_dlpack()
        value = ort.OrtValue.ortvalue_from_numpy(numbers)
        self.assertFalse(value.numpy().flags.writeable)
        np.testing.assert_array_equal(value.numpy(), [0, 1, 2])
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)))
        name = session.get_inputs()[0].name
        np.testing.assert_array_equal(session.run_with_ort_values(None, {name: value})[0].numpy(), [0, 1, 2])
        every_second = np.frombuffer(bytes(24), np.float32)[::2]  # copied
        ort.OrtValue.ortvalue_from_numpy(every_second).update_inplace(np.ones(3, np.float32))

    def test_devices_are_compared(self):
        self.assertEqual(ort.OrtDevice.make("CPU", 0), ort.OrtDevice())
        self.assertNotEqual(ort.OrtDevice.make("gpu", 0), ort.OrtDevice())
        self.assertEqual((ort.OrtDevice().device_type(), ort.OrtDevice().device_id()), (0, 0))
        self.assertEqual([ort.OrtDevice.make(name, 1).device_type() for name in ("cuda", "npu")], [1, 3])
        self.refusal(ort.InvalidArgument, ort.OrtDevice.make, "toaster", 0)


if __name__ == "__main__":
    unittest.main()
