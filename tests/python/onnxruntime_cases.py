"""What scripts and tests for onnxruntime expect of the package, under the alias that they would use."""

import contextlib
import json
import os
import pathlib
import sys
import threading
import unittest
import warnings
import weakref

import numpy as np
from onnx import StringStringEntryProto, TensorProto, helper, numpy_helper

import ephost
from support import PackageTest, identity_of, info, map_info, model_of, owned, tiny

sys.modules["onnxruntime"] = ephost

import onnxruntime as ort  # noqa: E402
from onnxruntime.capi import _pybind_state as extension  # noqa: E402
from onnxruntime.capi.onnxruntime_inference_collection import check_and_normalize_provider_args  # noqa: E402

X = np.arange(1, 7, dtype=np.float32).reshape(3, 2)


def squaring_model():
    """Y = X * W, where the model's W is 1 to 6."""
    return model_of([helper.make_node("Mul", ["X", "W"], ["Y"])], [info("X", TensorProto.FLOAT, [3, 2])],
                    [info("Y", TensorProto.FLOAT, [3, 2])], [numpy_helper.from_array(X, "W")])


class Versions(PackageTest):
    def test_an_alias_has_the_same_classes(self):
        from onnxruntime.backend.backend import OnnxRuntimeBackend
        from onnxruntime.capi import onnxruntime_pybind11_state as state
        self.assertIs(state.Fail, ephost.Fail)
        self.assertIs(state.StatusCode, ephost.StatusCode)
        self.assertIs(OnnxRuntimeBackend.prepare(squaring_model()).session.__class__, ephost.InferenceSession)
        second = {name for name in sys.modules if name.startswith("onnxruntime._")}
        self.assertEqual(second, set())

    def test_the_version_is_that_of_the_api(self):
        self.assertGreaterEqual(tuple(map(int, ort.__version__.split("."))), (1, 30, 0))
        self.assertEqual(ort.__version__, ort.get_version_string())
        self.assertEqual(ort.ephost_version, ephost._ephost.version)
        self.assertIn("Build Info", ort.get_build_info())
        self.assertIn(ort.ephost_version, ort.get_build_info())


class Devices(PackageTest):
    def test_a_device_says_what_it_is(self):
        cpu = ort.OrtDevice.make("cpu", 0)
        self.assertEqual((cpu.device_type(), cpu.device_id(), cpu.device_mem_type()), (0, 0, 0))
        self.assertEqual(cpu.device_vendor_id(), ort.OrtDeviceVendorId.NONE)
        self.assertEqual(ort.OrtDevice.make("cuda", 1).device_vendor_id(), 0x10DE)
        self.assertEqual(ort.OrtDevice.make("gpu", 1, ort.OrtDeviceVendorId.AMD).device_vendor_id(), 0x1002)
        made = extension.OrtDevice(extension.OrtDevice.cpu(), extension.OrtDevice.default_memory(), 0)
        self.assertEqual(made, cpu)
        self.refusal(ort.InvalidArgument, ort.OrtDevice, "toaster")
        self.refusal(ort.InvalidArgument, ort.OrtDevice, 99, 0, 0)

    def test_a_memory_says_what_it_is(self):
        arena, memory = ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, ort.OrtDeviceMemoryType.DEFAULT
        for made, name in ((ort.OrtMemoryInfo("Cpu", arena, 0, ort.OrtMemType.DEFAULT), "Cpu"),
                           (ort.OrtMemoryInfo.create_v2("Mine", ort.OrtMemoryInfoDeviceType.CPU, 0, 0, memory, 128, arena),
                            "Mine")):
            self.assertEqual((made.name, made.device_id, made.mem_type, made.allocator_type, made.device_mem_type,
                              made.device_vendor_id, made.device_type), (name, 0, 0, arena, memory, 0, "cpu"))

    def test_an_arena_has_its_settings(self):
        made = ort.OrtArenaCfg(8, 0, 4, 2)
        self.assertEqual((made.max_mem, made.arena_extend_strategy, made.initial_chunk_size_bytes,
                          made.max_dead_bytes_per_chunk, made.max_power_of_two_extend_bytes), (8, 0, 4, 2, -1))
        self.assertEqual(ort.OrtArenaCfg({"initial_growth_chunk_size_bytes": 12}).initial_growth_chunk_size_bytes, 12)
        self.assertIn("size", self.refusal(ort.InvalidArgument, ort.OrtArenaCfg, {"size": 1}))

    def test_inputs_are_expected_in_host_memory(self):
        session = ort.InferenceSession(squaring_model())
        self.assertEqual(session.get_input_epdevices(), [None])
        self.assertEqual([one.device_type for one in session.get_input_memory_infos()], ["cpu"])
        self.assertEqual([one.mem_type for one in session.get_output_memory_infos()], [ort.OrtMemType.DEFAULT])


class Values(PackageTest):
    def test_objects_of_the_extension_are_those_of_the_package(self):
        value = ort.OrtValue.ortvalue_from_numpy(X)
        capsule = value._ortvalue.to_dlpack()
        self.assertFalse(extension.is_dlpack_uint8_tensor(capsule))
        again = extension.OrtValue.from_dlpack(capsule, False)
        self.assertEqual(again.data_ptr(), value._ortvalue.data_ptr())
        self.assertTrue(extension.is_dlpack_uint8_tensor(np.zeros(3, np.uint8).__dlpack__()))
        session = ort.InferenceSession(squaring_model())
        outputs = session._sess.run_with_ort_values({"X": value._get_c_value()}, ["Y"], ort.RunOptions())
        self.assertIsInstance(outputs, extension.OrtValueVector)
        np.testing.assert_array_equal(outputs[0].numpy(), X * X)

    def test_a_binding_takes_devices(self):
        session, device = ort.InferenceSession(squaring_model()), extension.OrtDevice(0, 0, 0)
        binding = extension.SessionIOBinding(session._sess)
        binding.bind_ortvalue_input("X", extension.OrtValue.ortvalue_from_numpy(X, device))
        binding.bind_output("Y", device)
        session._sess.run_with_iobinding(binding, None)
        np.testing.assert_array_equal(binding.get_outputs()[0].numpy(), X * X)
        self.refusal(ort.InvalidArgument, extension.OrtValue.ortvalue_from_numpy, X, ort.OrtDevice.make("cuda", 0))

    def test_arrays_of_a_sparse_tensor_are_read_only(self):
        indices = np.array([3, 5, 15])
        for values in (np.ones(3, np.float32), np.array(["a", "b", "c"])):
            tensor = ort.SparseTensor.sparse_coo_from_numpy([9, 9], values, indices, ort.OrtDevice.make("cpu", 0))
            for array in (tensor.values(), tensor.as_coo_view().indices()):
                self.assertFalse(array.flags.writeable)
            self.assertTrue(values.flags.writeable)
            with self.assertRaises(RuntimeError):
                tensor.to_cuda(ort.OrtDevice.make("cuda", 0))

    def test_a_dense_output_has_a_sparse_form(self):
        stated = helper.make_sparse_tensor(helper.make_tensor("y", TensorProto.FLOAT, [3], [1.5, 2.5, 3.5]),
                                           helper.make_tensor("i", TensorProto.INT64, [3], [2, 3, 5]), [3, 3])
        output = helper.make_sparse_tensor_value_info("y", TensorProto.FLOAT, [3, 3])
        constant = [helper.make_node("Constant", [], ["y"], sparse_value=stated)]
        for nodes, initializers in ((constant, []), ([], [stated])):
            graph = helper.make_graph(nodes, "g", [], [output], sparse_initializer=initializers)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
            session = ort.InferenceSession(model.SerializeToString())
            value, = session.run_with_ort_values(["y"], {})
            sparse = value.as_sparse_tensor()
            self.assertEqual((sparse.dense_shape(), sparse.values().tolist(), sparse.as_coo_view().indices().tolist()),
                             ([3, 3], [1.5, 2.5, 3.5], [2, 3, 5]))
            np.testing.assert_array_equal(session.run(None, {})[0], [[0, 0, 1.5], [2.5, 0, 3.5], [0, 0, 0]])
        texts = ort.OrtValue.ortvalue_from_numpy(np.array([["", "a"], ["b", ""]])).as_sparse_tensor()
        self.assertEqual((texts.values().tolist(), texts.indices().tolist()), (["a", "b"], [1, 2]))
        with self.assertRaises(ort.InvalidArgument):
            ort.OrtValue(ephost._ephost.Value()).as_sparse_tensor()

    def test_sparse_operands_are_multiplied(self):
        a = np.array([[0, 2, 0, 0], [0, 0, 0, -3], [1, 0, 0, 0]], np.float32)
        b = np.arange(8, dtype=np.float32).reshape(4, 2)
        at = np.flatnonzero(a)
        stated = helper.make_sparse_tensor(numpy_helper.from_array(a.flatten()[at], "A"),
                                           numpy_helper.from_array(at, "i"), list(a.shape))
        product = helper.make_node("SparseToDenseMatMul", ["A", "B"], ["Y"], domain="com.microsoft", alpha=0.5)
        constant = helper.make_node("Constant", [], ["A"], sparse_value=stated)
        operand = helper.make_sparse_tensor_value_info("A", TensorProto.FLOAT, list(a.shape))
        given = ort.SparseTensor.sparse_coo_from_numpy(list(a.shape), a.flatten()[at], at, ort.OrtDevice.make("cpu", 0))
        for nodes, inputs, initializers in (([constant], [], []), ([], [], [stated]), ([], [operand], [])):
            graph = helper.make_graph([*nodes, product], "g", [info("B", TensorProto.FLOAT, [4, 2]), *inputs],
                                      [info("Y", TensorProto.FLOAT, [3, 2])], sparse_initializer=initializers)
            model = helper.make_model(graph, ir_version=8, opset_imports=[
                helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)])
            session = ort.InferenceSession(model.SerializeToString())
            value, = session.run_with_ort_values(["Y"], {
                "B": ort.OrtValue.ortvalue_from_numpy(b),
                **({"A": ort.OrtValue.ort_value_from_sparse_tensor(given)} if inputs else {})})
            np.testing.assert_array_equal(value.numpy(), 0.5 * a @ b)

    def test_bytes_without_a_type_are_texts(self):
        session = ort.InferenceSession(identity_of(TensorProto.STRING))
        for given, texts in ((np.array([b"must", b"have"], np.void), ["must", "have"]),
                             (np.array([b"A\0", b"B\0"], np.void), ["A\0", "B\0"]), (np.zeros(2, "V3"), ["\0\0\0"] * 2)):
            self.assertEqual(session.run(None, {"x": given})[0].tolist(), texts)
            self.assertEqual(ort.OrtValue.ortvalue_from_numpy(given).numpy().tolist(), texts)
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"x": np.zeros(2, [("a", "f4"), ("b", "f4")])})

    def test_keys_of_a_map_have_one_type(self):
        node = helper.make_node("CastMap", ["m"], ["y"], domain="ai.onnx.ml")
        graph = helper.make_graph([node], "g", [map_info("m", TensorProto.INT64, TensorProto.FLOAT)],
                                  [info("y", TensorProto.FLOAT, [1, "n"])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 15)],
                                  ir_version=8)
        session = ort.InferenceSession(model.SerializeToString())
        for keys in ((0, 1), (np.int64(0), np.int32(1))):
            found = session.run(None, {"m": dict(zip(keys, (2.5, np.float64(3))))})[0]
            self.assertEqual(found.tolist(), [[2.5, 3]])
        with self.assertRaisesRegex(RuntimeError, "Unexpected key type  <class 'str'>, it cannot be linked to C type int64_t"):
            session.run(None, {"m": {0: 1.0, "a": 2.0}})
        with self.assertRaisesRegex(ort.InvalidArgument, "64 bits"):
            session.run(None, {"m": {1 << 70: 1.0}})


class Runs(PackageTest):
    def test_missing_inputs_are_named_in_the_words_that_scripts_look_for(self):
        model = model_of([helper.make_node("Add", ["a", "b"], ["c"])],
                         [info("a", TensorProto.FLOAT, [2]), info("b", TensorProto.FLOAT, [2])],
                         [info("c", TensorProto.FLOAT, [2])])
        session, feed = ort.InferenceSession(model), {"b": np.ones(2, np.float32)}
        for run in (session.run, lambda names, given: session.run_async(names, given, print)):
            with self.assertRaises(ValueError) as caught:
                run(None, feed)
            self.assertIn("Required inputs (['a']) are missing from input feed (['b'])", str(caught.exception))

    def test_a_run_in_the_background_keeps_its_inputs(self):
        session, done, lives = ort.InferenceSession(identity_of(TensorProto.FLOAT)), threading.Event(), []

        def call_back(outputs, data, error):
            lives.append((outputs[0].tolist(), error))
            done.set()
        for _ in range(50):
            array = owned(5)
            reference = weakref.ref(array)
            session.run_async(None, {"x": array}, call_back)
            del array
            self.assertTrue(done.wait(60))
            done.clear()
            self.assertEqual(lives.pop(), ([0, 1, 2, 3, 4], ""))
        del session
        self.assertIsNone(reference())

    def test_providers_that_are_not_there(self):
        session = ort.InferenceSession(squaring_model())
        text = self.refusal(RuntimeError, session.set_providers, ["NoSuchProvider"])
        self.assertIn("Unknown Provider Type: NoSuchProvider", text)
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_providers_and_options_apart(self):
        check = check_and_normalize_provider_args
        self.assertEqual(check(None, None, ["a"]), ([], []))
        self.assertEqual(check([("a", {1: 2}), "b"], None, ["a", "b"]), (["a", "b"], [{"1": "2"}, {}]))
        with self.assertWarns(UserWarning):
            self.assertEqual(check(["a", "b", "a"], [{"x": 1}, {}, {"y": 2}], ["a", "b"]), (["a", "b"], [{"x": "1"}, {}]))
        for providers, options in ((3, None), ([3], None), (["a"], 3), (["a"], ["x"]), (["a", "b"], [{}]),
                                   ([("a", {1: 2})], [{3: 4}])):
            with self.subTest(providers=providers, options=options), self.assertRaises(ValueError):
                check(providers, options, ["a", "b"])

    def test_entries_that_are_not_there(self):
        for options, get in ((ort.SessionOptions(), "get_session_config_entry"), (ort.RunOptions(), "get_run_config_entry")):
            text = self.refusal(RuntimeError, getattr(options, get), "K")
            self.assertIn(f"{type(options).__name__} does not have configuration with key: K", text)

    def test_says_which_provider_has_which_nodes(self):
        names = ("Add", "first"), ("Mul", "second"), ("Add", "third")
        nodes = [helper.make_node(op, [f"v{i}", "X"], [f"v{i + 1}"], name) for i, (op, name) in enumerate(names)]
        model = model_of(nodes, [info("v0", TensorProto.FLOAT, [2]), info("X", TensorProto.FLOAT, [2])],
                         [info("v3", TensorProto.FLOAT, [2])])
        path = self.folder / "model.onnx"
        path.write_bytes(model)
        options = ort.SessionOptions()
        text = self.refusal(ort.Fail, ort.InferenceSession(model, options).get_provider_graph_assignment_info)
        self.assertIn("Session configuration entry 'session.record_ep_graph_assignment_info' must be set to \"1\"", text)
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        for given in (model, path):
            found = ort.InferenceSession(given, options).get_provider_graph_assignment_info()
            self.assertEqual([(one.ep_name, [(node.domain, node.op_type, node.name) for node in one.get_nodes()])
                              for one in found], [("CPUExecutionProvider", [("", *name)]) for name in names])
        found = ort.InferenceSession(tiny("tiny_cnn"), options, ["dnnl"]).get_provider_graph_assignment_info()
        divided = ort.partition(tiny("tiny_cnn"), providers=["dnnl"]).graphs[0]
        self.assertEqual(sorted(node.name for one in found for node in one.get_nodes()),
                         sorted(node.name for node in divided.nodes))
        self.assertTrue(any(one.ep_name == "DnnlExecutionProvider" and len(one.get_nodes()) > 1 for one in found))

    def test_messages_go_to_a_function(self):
        heard = []
        self.addCleanup(ort.set_default_logger_callback, None)
        ort.set_default_logger_callback(lambda *message: heard.append(message), severity=0)
        ort.InferenceSession(squaring_model()).run(None, {"X": X})
        self.assertGreater(len(heard), 0)
        for severity, *texts in heard:
            self.assertIsInstance(severity, int)
            self.assertEqual(len(texts), 4)
            self.assertTrue(all(isinstance(text, str) for text in texts))
        ort.set_default_logger_callback(None)
        ort.set_default_logger_severity(2)
        heard.clear()
        ort.InferenceSession(squaring_model()).run(None, {"X": X})
        self.assertEqual(heard, [])
        for given in ((print, 5), (print, -1), ("no function",)):
            with self.subTest(given=given), self.assertRaises(RuntimeError):
                ort.set_default_logger_callback(*given)

    def test_what_the_function_for_messages_raises_is_reported(self):
        done = self.python("import ephost, sys\ndef fail(*_):\n    raise ValueError('of the callback')\n"
                           "ephost.set_default_logger_callback(fail, 0)\nephost.InferenceSession(sys.argv[1])",
                           tiny("tiny_cnn"))
        self.assertIn("ValueError: of the callback", done.stderr)


class ModelConfig(PackageTest):
    def model_with(self, config):
        proto = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                                                    [info("x", TensorProto.FLOAT, [2])], [info("y", TensorProto.FLOAT, [2])]),
                                  opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
        proto.metadata_props.extend([StringStringEntryProto(key="other", value="text"),
                                     StringStringEntryProto(key="ort_config", value=config)])
        return proto.SerializeToString()

    @contextlib.contextmanager
    def reading(self, value="1"):
        os.environ["ORT_LOAD_CONFIG_FROM_MODEL"] = value
        try:
            yield
        finally:
            del os.environ["ORT_LOAD_CONFIG_FROM_MODEL"]

    def test_options_of_the_model_count_where_the_environment_says_so(self):
        stated = {"intra_op_num_threads": 2, "inter_op_num_threads": 5, "graph_optimization_level": 99,
                  "enable_profiling": True}
        model = self.model_with(json.dumps({"session_options": stated}))
        path = self.folder / "model.onnx"
        path.write_bytes(model)
        given = ort.SessionOptions()
        given.intra_op_num_threads = 1
        os.chdir(self.folder)
        for source in (model, path):
            with self.reading():
                session = ort.InferenceSession(source, given)
            found = session.get_session_options()
            self.assertEqual({name: getattr(found, name) for name in stated}, stated)
            self.assertEqual(found.execution_mode, ort.ExecutionMode.ORT_SEQUENTIAL)
            self.assertTrue(pathlib.Path(session.end_profiling()).exists())
            self.assertEqual(given.intra_op_num_threads, 1)
            for value in ("0", ""):
                with self.reading(value):
                    self.assertFalse(ort.InferenceSession(source).get_session_options().enable_profiling)

    def test_a_wrong_configuration_is_named(self):
        for config, words in (("{", "ort_config"), ('{"session_options": {"threads": 2}}', "threads"),
                              ('{"session_options": {"execution_mode": 7}}', "7"), ("[]", "ort_config")):
            with self.reading():
                self.assertIn(words, self.refusal(ort.InvalidArgument, ort.InferenceSession, self.model_with(config)))


    def test_compatibility_of_compiled_models_is_read(self):
        model = helper.make_model(helper.make_graph([], "g", [], []))
        model.metadata_props.append(StringStringEntryProto(key="ep_compatibility_info.Mine", value="driver 5"))
        data, path = model.SerializeToString(), self.folder / "model.onnx"
        path.write_bytes(data)
        for get, source in ((extension.get_compatibility_info_from_model, path),
                            (extension.get_compatibility_info_from_model_bytes, data)):
            self.assertEqual(get(source, "Mine"), "driver 5")
            self.assertIsNone(get(source, "Other"))
            for wrong in ((source, ""), (type(source)(), "Mine")):
                with self.assertRaises(RuntimeError):
                    get(*wrong)
        for wrong in (b"this is not a model", data[:-3]):
            self.refusal(ort.InvalidProtobuf, extension.get_compatibility_info_from_model_bytes, wrong, "Mine")
        self.refusal(ort.NoSuchFile, extension.get_compatibility_info_from_model, "absent.onnx", "Mine")

    def test_devices_are_compared_with_providers(self):
        cpu = next(one for one in extension.get_hardware_devices() if one.type == ort.OrtHardwareDeviceType.CPU)
        details = extension.get_hardware_device_ep_incompatibility_details
        self.assertEqual(details("CPUExecutionProvider", cpu), {"reasons_bitmask": 0, "notes": "", "error_code": 0})
        for name in ("", "NoSuchProvider"):
            with self.assertRaises(RuntimeError):
                details(name, cpu)
        compatibility = extension.get_model_compatibility_for_ep_devices
        own = [one for one in ort.get_ep_devices() if one.ep_name == "CPUExecutionProvider"]
        self.assertEqual(compatibility(own, "any"), extension.OrtCompiledModelCompatibility.EP_NOT_APPLICABLE)
        self.refusal(ort.InvalidArgument, compatibility, [], "any")
        with self.assertRaises(TypeError):
            compatibility(own, None)


class Adapters(PackageTest):
    def adaptable_model(self):
        """y = x * a + b, where a run may give other values for a and b."""
        weights = [numpy_helper.from_array(np.full(2, number, np.float32), name) for name, number in (("a", 2), ("b", 1))]
        return model_of([helper.make_node("Mul", ["x", "a"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])],
                        [info(name, TensorProto.FLOAT, [2]) for name in "xab"], [info("y", TensorProto.FLOAT, [2])], weights)

    def adapter(self, **parameters):
        made, path = ort.AdapterFormat(), self.folder / "mine.onnx_adapter"
        made.set_adapter_version(3)
        made.set_model_version(4)
        made.set_parameters({name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in parameters.items()})
        made.export_adapter(path)
        return path

    def test_a_file_is_read_as_it_was_written(self):
        given = {"p": np.arange(10, dtype=np.float32).reshape(5, 2), "q" * 7: np.arange(10).reshape(2, 5),
                 "scalar": np.array(2.5), "empty": np.zeros((0, 3), np.float16), "Ünicode": np.array([True, False])}
        read = ort.AdapterFormat.read_adapter(self.adapter(**given))
        self.assertEqual((read.get_format_version(), read.get_adapter_version(), read.get_model_version()), (1, 3, 4))
        found = read.get_parameters()
        self.assertEqual(list(found), list(given))
        for name, array in given.items():
            np.testing.assert_array_equal(found[name].numpy(), array)
            self.assertEqual(found[name].numpy().dtype, array.dtype)

    def test_a_run_takes_the_parameters_of_its_adapter(self):
        session, x = ort.InferenceSession(self.adaptable_model()), np.ones(2, np.float32)
        adapter, options = ort.LoraAdapter(), ort.RunOptions()
        adapter.Load(str(self.adapter(a=np.full(2, 10, np.float32))))
        options.add_active_adapter(adapter)
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [3, 3])
        self.assertEqual(session.run(None, {"x": x}, options)[0].tolist(), [11, 11])
        self.assertEqual(session.run(None, {"x": x, "a": x}, options)[0].tolist(), [2, 2])
        value = ort.OrtValue.ortvalue_from_numpy(x)
        self.assertEqual(session.run_with_ort_values(None, {"x": value}, options)[0].numpy().tolist(), [11, 11])
        self.assertIn('"a"', self.refusal(ort.InvalidArgument, ort.InferenceSession(identity_of(TensorProto.FLOAT)).run,
                                          None, {"x": x}, options))

    def test_damaged_files_are_refused(self):
        whole = self.adapter(p=np.arange(6, dtype=np.float32)).read_bytes()
        path = self.folder / "damaged"
        random = np.random.default_rng(5)
        for attempt in range(400):
            damaged = bytearray(whole[:random.integers(0, len(whole))] if attempt % 2 else whole)
            for at in random.integers(0, max(len(damaged), 1), 3 * (attempt % 3)):
                if at < len(damaged):
                    damaged[at] = random.integers(0, 256)
            path.write_bytes(damaged)
            with contextlib.suppress(ort.InvalidArgument):
                ort.AdapterFormat.read_adapter(path)
        path.write_bytes(b"no adapter at all")
        self.assertIn("TORT", self.refusal(ort.InvalidArgument, ort.LoraAdapter().Load, path))


class Backends(PackageTest):
    def test_has_the_names_of_onnxruntimes_backend(self):
        import ephost.backend as backend
        from ephost.backend.backend import OnnxRuntimeBackend
        from ephost.backend.backend_rep import OnnxRuntimeBackendRep
        path = self.folder / "model.onnx"
        path.write_bytes(squaring_model())
        prepared = backend.prepare(str(path), graph_optimization_level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
                                   logid="mine")
        self.assertIsInstance(prepared, OnnxRuntimeBackendRep)
        self.assertEqual(prepared.session.get_session_options().logid, "mine")
        for outputs in (prepared.run(X), prepared.run([X]), prepared.run({"X": X}, logid="a run"),
                        backend.run(squaring_model(), X, logid="both"), backend.run_model(prepared, X),
                        backend.run(prepared.session, X), OnnxRuntimeBackend.run_model(str(path), X, device="CPU")):
            np.testing.assert_array_equal(outputs[0], X * X)
        options = ort.RunOptions()
        options.terminate = True
        with self.assertRaises(ort.Fail):
            prepared.run(X, run_options=options)
        with self.assertRaises(ort.Fail):
            prepared.run(X, terminate=True)

    def test_a_dict_may_be_the_input_itself(self):
        import ephost.backend as backend
        node = helper.make_node("DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[0, 1, 2])
        graph = helper.make_graph([node], "g", [map_info("m", TensorProto.INT64, TensorProto.FLOAT)],
                                  [info("y", TensorProto.FLOAT, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 15)],
                                  ir_version=8)
        for given in ({0: 25.0, 2: 0.5}, {"m": {0: 25.0, 2: 0.5}}, [{0: 25.0, 2: 0.5}]):
            self.assertEqual(np.ravel(backend.prepare(model).run(given)[0]).tolist(), [25.0, 0.0, 0.5])


if __name__ == "__main__":
    warnings.simplefilter("default")
    unittest.main()
