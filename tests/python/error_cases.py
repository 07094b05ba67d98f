"""Failures are exceptions, one class for each status code, with the text of the library."""

import pathlib
import unittest

import numpy as np
from onnx import TensorProto

import ephost as ort
from ephost._errors import CLASSES, error_of
from support import PackageTest, identity_of, tiny


class Errors(PackageTest):
    def setUp(self):
        super().setUp()
        self.session = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)))
        self.x = np.zeros(3, np.float32)

    def test_has_a_class_for_each_code(self):
        self.assertEqual([one.code for one in CLASSES], list(ort.StatusCode))
        for one in CLASSES:
            self.assertTrue(issubclass(one, ort.EphostError))
            self.assertIs(getattr(ort, one.__name__), one)
            self.assertEqual(one.__name__.upper(), one.code.name.replace("_", ""))

    def test_what_onnxruntime_has_no_code_for_is_caught_as_what_it_raises(self):
        for own, bases in ((ort.OutOfMemory, (ort.Fail, MemoryError)), (ort.DeviceLost, (ort.Fail, ort.EngineError)),
                           (ort.Cancelled, (ort.Fail, ort.ModelLoadCanceled)),
                           (ort.DeadlineExceeded, (ort.Fail, ort.ModelLoadCanceled, TimeoutError))):
            for base in bases:
                with self.subTest(own=own, base=base):
                    try:
                        raise error_of(own.code.value, b"CODE: the reason")
                    except base as failure:
                        self.assertEqual((type(failure), str(failure), failure.code),
                                         (own, "CODE: the reason", own.code))

    def test_a_number_that_is_no_code_is_an_error_all_the_same(self):
        self.assertIs(type(error_of(999, b"it failed")), ort.EphostError)

    def test_scripts_find_the_classes_where_onnxruntime_has_them(self):
        from ephost.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RunOptions, RuntimeException
        self.assertEqual((Fail, InvalidArgument, RuntimeException, RunOptions),
                         (ort.Fail, ort.InvalidArgument, ort.RuntimeException, ort.RunOptions))

    def test_the_classes_need_no_import_of_their_own(self):
        self.python("import ephost as ort\n"
                    "try:\n    ort.InferenceSession('absent.onnx')\n"
                    "except ort.capi.onnxruntime_pybind11_state.NoSuchFile:\n    pass\n"
                    "assert ort.capi._pybind_state.InferenceSession is ort.InferenceSession\n"
                    "assert ort.capi.onnxruntime_inference_collection.IOBinding is ort.IOBinding")

    def test_says_where_numpy_comes_from_if_it_is_missing(self):
        done = self.python("import sys\nsys.modules['numpy'] = None\nimport ephost", status=1)
        self.assertIn("ImportError: ephost needs numpy, which is not installed for this Python", done.stderr)

    def test_a_wrong_input_is_named(self):
        for feed, words in (({}, '"x"'), ({"z": self.x}, '"z"'), ({"x": self.x.astype(np.int64)}, "int64"),
                            ({"x": np.zeros(4, np.float32)}, "4"), ({"x": np.zeros((3, 1), np.float32)}, "3,1")):
            self.assertIn(words, self.refusal(ort.InvalidArgument, self.session.run, None, feed))
        with self.assertRaises(ValueError):  # as onnxruntime raises for what is missing
            self.session.run(None, {})

    def test_an_unknown_output_is_named(self):
        self.assertIn('"nothing"', self.refusal(ort.EphostError, self.session.run, ["nothing"], {"x": self.x}))

    def test_arguments_of_another_kind_are_type_errors(self):
        for arguments in ((None, [self.x]), ("y", {"x": self.x}), (None, {1: self.x}), (None, {"x": self.x}, "options")):
            with self.assertRaises(TypeError):
                self.session.run(*arguments)

        for arguments in ((5,), (None,), (tiny("tiny_cnn"), "options"), (tiny("tiny_cnn"), None, "cpu")):
            with self.assertRaises(TypeError):
                ort.InferenceSession(*arguments)
        for arguments in ((ort.SessionOptions(), 5), (None, tiny("tiny_cnn"))):
            with self.assertRaises(TypeError):
                ort.ModelCompiler(*arguments)

    def test_names_of_inputs_are_texts(self):
        for name in (1, b"x", "\ud800"):
            with self.subTest(name=name), self.assertRaisesRegex(TypeError, "keys are not all texts"):
                self.session.run(None, {name: self.x})

    def test_providers_are_names_with_or_without_options(self):
        for one in (3, ("CPUExecutionProvider", {}, 1), ("CPUExecutionProvider", "x"), None):
            with self.subTest(provider=one), self.assertRaisesRegex(TypeError, "a name and a dict of options"):
                ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)), providers=[one])

    def test_a_number_of_threads_is_a_number(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = "many"
        with self.assertRaisesRegex(ort.InvalidArgument, "session.intra_op_num_threads.*\"many\""):
            ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)), options)

    def test_numbers_of_enumerations_are_checked(self):
        for severity in (-2, 5, "high"):
            with self.subTest(severity=severity), self.assertRaisesRegex(ort.InvalidArgument, "from 0 .* to 4"):
                options = ort.SessionOptions()
                options.log_severity_level = severity
                ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)), options)
        with self.assertRaisesRegex(ort.InvalidArgument, "from 0 .* to 4"):
            ort.RunOptions().log_severity_level = 5
        with self.assertRaisesRegex(ValueError, "99 is not a valid OrtExecutionProviderDevicePolicy"):
            ort.SessionOptions().set_provider_selection_policy(99)

    def test_no_memory_is_at_the_null_address(self):
        binding = self.session.io_binding()
        with self.assertRaisesRegex(ort.InvalidArgument, "null address"):
            binding.bind_input(self.session.get_inputs()[0].name, "cpu", 0, np.float32, [3], 0)

    def test_a_model_that_cannot_be_read_is_refused(self):
        self.refusal(ort.NoSuchFile, ort.InferenceSession, self.folder / "absent.onnx")
        self.refusal(ort.InvalidProtobuf, ort.InferenceSession, b"no model")
        broken = self.folder / "broken.onnx"
        broken.write_bytes(tiny("tiny_cnn").read_bytes()[:1000])
        self.refusal(ort.InvalidProtobuf, ort.InferenceSession, broken)

    def test_texts_that_are_not_utf_8_are_readable(self):
        name = pathlib.Path(str(self.folder) + "/\udcff.onnx")
        self.assertIn(".onnx", self.refusal(ort.NoSuchFile, ort.InferenceSession, name))

    def test_a_plugin_that_cannot_be_registered_is_refused(self):
        self.refusal(ort.NoSuchFile, ort.register_execution_provider_library, "mine", self.folder / "absent.yaml")
        self.refusal(ort.NotFound, ort.unregister_execution_provider_library, "mine")


if __name__ == "__main__":
    unittest.main()
