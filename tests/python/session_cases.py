"""InferenceSession and its options."""

import contextlib
import io
import json
import os
import pathlib
import time
import unittest
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import ephost as ort
from support import PackageTest, data_of, identity_of, info, model_of, optional_info, tiny


class Sessions(PackageTest):
    def run_tiny(self, name, session):
        inputs, expected = data_of(name)
        names = [one.name for one in session.get_outputs()]
        self.assert_close(dict(zip(names, session.run(None, inputs))), expected)

    def test_runs_a_model_from_a_path(self):
        for path in (tiny("tiny_cnn"), str(tiny("tiny_cnn"))):
            self.run_tiny("tiny_cnn", ort.InferenceSession(path))

    def test_runs_a_model_from_bytes(self):
        model = tiny("tiny_cnn").read_bytes()
        for given in (model, bytearray(model), memoryview(model)):
            self.run_tiny("tiny_cnn", ort.InferenceSession(given))

    def test_runs_on_the_providers_in_their_order(self):
        for providers in (["dnnl"], ["DnnlExecutionProvider", "CPUExecutionProvider"], ["dnnl", "cpu"],
                          [("dnnl", {})], [("DnnlExecutionProvider", {}), "cpu"]):
            session = ort.InferenceSession(tiny("tiny_cnn"), providers=providers)
            self.assertEqual(session.get_providers(), ["DnnlExecutionProvider", "CPUExecutionProvider"])
            self.run_tiny("tiny_cnn", session)

    def test_runs_on_the_cpu_provider_where_none_is_named(self):
        for given in (None, []):
            session = ort.InferenceSession(tiny("tiny_cnn"), providers=given)
            self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_warns_of_a_provider_that_is_not_there_and_takes_the_next(self):
        with self.assertWarnsRegex(UserWarning, "no plugin offers the provider 'CUDAExecutionProvider'") as caught:
            session = ort.InferenceSession(tiny("tiny_cnn"),
                                           providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.assertEqual(pathlib.Path(caught.filename), pathlib.Path(__file__))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_takes_options_of_providers_beside_them_or_with_them(self):
        for given in ({"providers": ["cpu"], "provider_options": [{"num_threads": 1}]},
                      {"providers": [("cpu", {"num_threads": "1"})]}):
            session = ort.InferenceSession(tiny("tiny_cnn"), **given)
            self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {"num_threads": "1"}})
        twice = ort.InferenceSession(tiny("tiny_cnn"), providers=[("cpu", {"num_threads": 1}), "CPUExecutionProvider"])
        self.assertEqual(twice.get_provider_options(), {"CPUExecutionProvider": {"num_threads": "1"}})
        text = self.refusal(ort.InvalidArgument, ort.InferenceSession, tiny("tiny_cnn"), providers=["cpu"],
                            provider_options=[{"no_such_option": 1}])
        self.assertIn("no_such_option", text)
        self.refusal(ort.InvalidArgument, ort.InferenceSession, tiny("tiny_cnn"), providers=["cpu"], provider_options=[])
        self.refusal(ort.InvalidArgument, ort.InferenceSession, tiny("tiny_cnn"), providers=[("cpu", {"a": 1})],
                     provider_options=[{"a": 1}])

    def test_warns_of_options_about_an_arena(self):
        with self.assertWarnsRegex(UserWarning, "no effect.*: arena_extend_strategy") as caught:
            session = ort.InferenceSession(tiny("tiny_cnn"), providers=[
                ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested", "num_threads": 1})])
        self.assertEqual(pathlib.Path(caught.filename), pathlib.Path(__file__))
        self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {"num_threads": "1"}})

    def test_changes_its_providers(self):
        for model in (tiny("tiny_cnn"), tiny("tiny_cnn").read_bytes()):
            session = ort.InferenceSession(model)
            session.set_providers(["dnnl"], [{"num_threads": 1}])
            self.assertEqual(session.get_providers(), ["DnnlExecutionProvider", "CPUExecutionProvider"])
            self.assertEqual(session.get_provider_options()["DnnlExecutionProvider"], {"num_threads": "1"})
            self.run_tiny("tiny_cnn", session)
            self.refusal(ort.InvalidArgument, session.set_providers, [("cpu", {"no_such_option": 1})])
            self.assertEqual(session.get_providers()[0], "DnnlExecutionProvider")
            self.run_tiny("tiny_cnn", session)
            session.set_providers()
            self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_has_names_that_have_no_effect(self):
        info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        self.assertEqual((info.name, info.device_type, info.device_id, info.memory_type), ("Cpu", "cpu", 0, 0))
        ort.create_and_register_allocator(info, ort.OrtArenaCfg(0, -1, -1, -1))
        ort.create_and_register_allocator_v2("CPUExecutionProvider", info, {}, ort.OrtArenaCfg({"max_mem": 0}))
        ort.disable_telemetry_events()
        ort.enable_telemetry_events()
        ort.set_seed(7)
        ort.preload_dlls(cuda=False)
        self.assertFalse(ort.has_collective_ops())
        options = ort.RunOptions()
        self.assertEqual((options.training_mode, options.synchronize_execution_providers), (False, True))

    def test_prints_what_helps_to_find_a_problem(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            ort.print_debug_info()
        self.assertIn(f"ephost: {ort.ephost_version}\n", text.getvalue())
        self.assertIn("DnnlExecutionProvider", text.getvalue())

    def test_lists_providers_with_the_cpu_provider_last(self):
        found = ort.get_available_providers()
        self.assertEqual(found[-1], "CPUExecutionProvider")
        self.assertEqual(set(found), {"CPUExecutionProvider", "DnnlExecutionProvider", "ImageExecutionProvider"})
        self.assertEqual(ort.get_all_providers(), found)
        self.assertEqual(ort.get_device(), "CPU")
        self.assertEqual(ort.__version__, ort.get_version_string())

    def test_describes_inputs_and_outputs(self):
        session = ort.InferenceSession(tiny("tiny_dynamic"))
        only, = session.get_inputs()
        self.assertEqual((only.type, only.shape[0].__class__, only.shape[1:].__class__), ("tensor(float)", str, list))
        self.assertIn("tensor(float)", repr(only))
        model = model_of(
            [helper.make_node("SequenceConstruct", ["a", "a"], ["s"]), helper.make_node("Optional", ["a"], ["o"])],
            [info("a", TensorProto.DOUBLE, [2, None])],
            [helper.make_tensor_sequence_value_info("s", TensorProto.DOUBLE, None),
             optional_info("o", TensorProto.DOUBLE)])
        session = ort.InferenceSession(model)
        self.assertEqual(session.get_inputs()[0].shape, [2, None])
        self.assertEqual([one.type for one in session.get_outputs()],
                         ["seq(tensor(double))", "optional(tensor(double))"])

    def test_lists_overridable_initializers_apart_from_inputs(self):
        weight = numpy_helper.from_array(np.array([2, 3], np.float32), "w")
        model = model_of([helper.make_node("Mul", ["x", "w"], ["y"])],
                         [info("x", TensorProto.FLOAT, [2]), info("w", TensorProto.FLOAT, [2])],
                         [info("y", TensorProto.FLOAT, [2])], [weight])
        session = ort.InferenceSession(model)
        self.assertEqual([one.name for one in session.get_inputs()], ["x"])
        self.assertEqual([one.name for one in session.get_overridable_initializers()], ["w"])
        x = np.ones(2, np.float32)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [2, 3])
        np.testing.assert_array_equal(session.run(["y"], {"x": x, "w": x * 5})[0], [5, 5])

    def test_tells_what_the_model_states(self):
        model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                                                    [info("x", TensorProto.FLOAT, [1])],
                                                    [info("y", TensorProto.FLOAT, [1])], doc_string="of the graph"),
                                  producer_name="tests", domain="org.example", model_version=7, doc_string="of the model",
                                  opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
        helper.set_model_props(model, {"colour": "green"})
        meta = ort.InferenceSession(model.SerializeToString()).get_modelmeta()
        self.assertEqual((meta.producer_name, meta.graph_name, meta.domain, meta.version, meta.description,
                          meta.graph_description, meta.custom_metadata_map),
                         ("tests", "g", "org.example", 7, "of the model", "of the graph", {"colour": "green"}))

    def test_says_which_memory_inputs_and_outputs_lie_in(self):
        session = ort.InferenceSession(tiny("tiny_cnn"))
        for one in session.get_input_memory_infos() + session.get_output_memory_infos():
            self.assertEqual((one.name, one.device_type, one.device_id, one.memory_type), ("Cpu", "cpu", 0, 0))

    def test_refuses_arguments_that_it_does_not_know(self):
        with self.assertRaisesRegex(TypeError, "no argument 'provider'"):
            ort.InferenceSession(tiny("tiny_cnn"), provider="cpu")


class Options(PackageTest):
    def test_refuses_an_attribute_that_there_is_not(self):
        with self.assertRaises(AttributeError):
            ort.SessionOptions().intra_op_threads = 2

    def test_attributes_become_configuration_entries(self):
        options = ort.SessionOptions()
        self.assertEqual(options._stated_entries(), {})
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.execution_order = ort.ExecutionOrder.MEMORY_EFFICIENT
        options.intra_op_num_threads, options.inter_op_num_threads = 1, 2
        self.assertEqual(options._stated_entries(), {
            "session.graph_optimization_level": "disable_all", "session.execution_mode": "parallel",
            "session.execution_order": "memory", "session.intra_op_num_threads": "1",
            "session.inter_op_num_threads": "2"})
        ort.InferenceSession(tiny("tiny_two_branches"), options)

    def test_optimizations_can_be_left_out(self):
        weights = [numpy_helper.from_array(np.array([1, 2], np.float32), name) for name in ("a", "b")]
        model = model_of([helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])],
                         [info("x", TensorProto.FLOAT, [2])], [info("y", TensorProto.FLOAT, [2])], weights)
        counts = []
        for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
            options = ort.SessionOptions()
            options.graph_optimization_level = level
            options.optimized_model_filepath = self.folder / f"{level.name}.onnx"
            ort.InferenceSession(model, options)
            counts.append(options.optimized_model_filepath.read_bytes().count(b"Add"))
        self.assertEqual(counts, [1, 0])

    def test_keeps_configuration_entries(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.max_memory_patterns", "3")
        self.assertEqual(options.get_session_config_entry("session.max_memory_patterns"), "3")
        self.refusal(ort.NotFound, options.get_session_config_entry, "no.such.entry")
        with self.assertRaises(RuntimeError):  # as onnxruntime raises
            options.get_session_config_entry("no.such.entry")
        options.add_session_config_entry("session.max_memory_patterns", "many")
        self.refusal(ort.InvalidArgument, ort.InferenceSession, tiny("tiny_cnn"), options)

    def test_fixes_free_dimensions(self):
        session = ort.InferenceSession(tiny("tiny_dynamic"))
        name = session.get_inputs()[0].shape[0]
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name(name, 3)
        self.assertEqual(ort.InferenceSession(tiny("tiny_dynamic"), options).get_inputs()[0].shape[0], 3)

    def test_gives_a_model_its_weights_without_copies(self):
        weight = numpy_helper.from_array(np.array([2, 3], np.float32), "w")
        model = model_of([helper.make_node("Mul", ["x", "w"], ["y"])], [info("x", TensorProto.FLOAT, [2])],
                         [info("y", TensorProto.FLOAT, [2])], [weight])
        for value in (np.array([5, 7], np.float32), ort.OrtValue.ortvalue_from_numpy(np.array([5, 7], np.float32))):
            options = ort.SessionOptions()
            options.add_initializer("w", value)
            del value  # the session keeps it
            session = ort.InferenceSession(model, options)
            np.testing.assert_array_equal(session.run(None, {"x": np.ones(2, np.float32)})[0], [5, 7])
        options = ort.SessionOptions()
        options.add_initializer("w", np.array([5, 7, 9], np.float32))
        self.refusal(ort.InvalidArgument, ort.InferenceSession, model, options)

    def test_gives_a_model_its_external_data(self):
        inputs, expected = data_of("tiny_external")
        files = [path for path in tiny("tiny_external").parent.iterdir()
                 if path.is_file() and path.name != "model.onnx"]
        self.assertEqual(len(files), 1)
        options = ort.SessionOptions()
        options.add_external_initializers_from_files_in_memory([files[0].name], [files[0].read_bytes()])
        session = ort.InferenceSession(tiny("tiny_external").read_bytes(), options)
        self.assert_close(dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs))), expected)
        self.refusal(ort.InvalidArgument, options.add_external_initializers, ["a", "b"], [np.ones(1, np.float32)])

    def test_names_providers_through_the_options(self):
        options = ort.SessionOptions()
        self.assertFalse(options.has_providers())
        options.add_provider("dnnl", {})
        self.assertTrue(options.has_providers())
        session = ort.InferenceSession(tiny("tiny_cnn"), options)
        self.assertEqual(session.get_providers(), ["DnnlExecutionProvider", "CPUExecutionProvider"])

    def test_chooses_devices(self):
        devices = ort.get_ep_devices()
        self.assertIn("CPUExecutionProvider", {one.ep_name for one in devices})
        mine = [one for one in devices if one.ep_name == "DnnlExecutionProvider"]
        self.assertEqual(mine[0].device.type, ort.OrtHardwareDeviceType.CPU)
        options = ort.SessionOptions()
        options.add_provider_for_devices(mine, {})
        session = ort.InferenceSession(tiny("tiny_cnn"), options)
        self.assertEqual(session.get_providers()[0], "DnnlExecutionProvider")
        self.refusal(ort.InvalidArgument, self.create_with_devices, [])

    def create_with_devices(self, devices):
        options = ort.SessionOptions()
        options.add_provider_for_devices(devices)
        return ort.InferenceSession(tiny("tiny_cnn"), options)

    def test_chooses_by_a_policy(self):
        for policy in (ort.OrtExecutionProviderDevicePolicy.PREFER_CPU, "PREFER_CPU"):
            options = ort.SessionOptions()
            options.set_provider_selection_policy(policy)
            self.assertTrue(options.has_providers())
            providers = ort.InferenceSession(tiny("tiny_cnn"), options).get_providers()
            self.assertEqual(providers[-1], "CPUExecutionProvider")
            self.refusal(ort.InvalidArgument, ort.InferenceSession, tiny("tiny_cnn"), options, ["cpu"])
        self.refusal(ort.InvalidArgument, ort.SessionOptions().set_provider_selection_policy, "PREFER_TOASTER")

    def test_takes_a_selection_file(self):
        file = self.folder / "selection.yaml"
        file.write_text("selection: 1\nproviders:\n  - provider: dnnl\n")
        options = ort.SessionOptions()
        options.load_selection(file)
        session = ort.InferenceSession(tiny("tiny_cnn"), options)
        self.assertEqual(session.get_providers()[0], "DnnlExecutionProvider")

    def test_shrinks_between_runs(self):
        session = ort.InferenceSession(tiny("tiny_mlp"))
        feed = {session.get_inputs()[0].name: np.ones(session.get_inputs()[0].shape, np.float32)}
        before = session.run(None, feed)
        self.assertIsNone(session.shrink())
        np.testing.assert_array_equal(session.run(None, feed)[0], before[0])

    def test_writes_a_profile(self):
        options = ort.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = str(self.folder / "trace_")
        session = ort.InferenceSession(tiny("tiny_cnn"), options)
        session.run(None, data_of("tiny_cnn")[0])
        self.assertAlmostEqual(session.get_profiling_start_time_ns() / 1e9, time.time(), delta=60)
        self.assertEqual(ort.InferenceSession(tiny("tiny_cnn")).get_profiling_start_time_ns(), 0)
        file = session.end_profiling()
        self.assertTrue(file.startswith(str(self.folder / "trace_")))
        self.assertTrue(json.loads(pathlib.Path(file).read_text()))
        self.refusal(ort.InvalidArgument, session.end_profiling)

    def test_tells_of_the_cache_store(self):
        outcomes = []
        for _ in range(2):
            options = ort.SessionOptions()
            options.add_session_config_entry("ep.cache_dir", str(self.folder))
            session = ort.InferenceSession(tiny("tiny_cnn"), options, providers=["dnnl"])
            outcomes.append(session.get_cache_use().outcome)
        self.assertEqual(outcomes, ["miss", "hit"])
        self.assertEqual(session.get_fallbacks(), [])

    def test_messages_obey_the_severity(self):
        program = ("import ephost, sys\n{before}\noptions = ephost.SessionOptions()\n{of_session}\n"
                   "options.add_session_config_entry('session.no_such_entry', '1')\n"
                   "ephost.InferenceSession(sys.argv[1], options)")
        for before, of_session, is_said in (("", "", True), ("ephost.set_default_logger_severity(3)", "", False),
                                            ("", "options.log_severity_level = 3", False),
                                            ("ephost.set_default_logger_severity(3)", "options.log_severity_level = 2",
                                             True)):
            done = self.python(program.format(before=before, of_session=of_session), tiny("tiny_cnn"))
            self.assertEqual("session.no_such_entry" in done.stderr, is_said, done.stderr)
        self.refusal(ort.InvalidArgument, ort.set_default_logger_severity, 5)

    def test_states_the_threads_of_all_sessions_beforehand(self):
        self.python("import ephost, sys\nephost.set_global_thread_pool_sizes(1, 1)\n"
                    "ephost.InferenceSession(sys.argv[1])", tiny("tiny_cnn"))
        ort.get_available_providers()
        self.refusal(ort.InvalidArgument, ort.set_global_thread_pool_sizes, 1, 1)


class Runs(PackageTest):
    def setUp(self):
        super().setUp()
        self.session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        self.feed = {"x": np.arange(3, dtype=np.float32)}

    def test_options_name_a_run_and_limit_its_time(self):
        options = ort.RunOptions()
        self.assertEqual((options.terminate, options.timeout, options.logid, options.log_severity_level),
                         (False, None, "", -1))
        options.logid, options.timeout, options.log_severity_level = "frame 17", 60, 3
        self.assertEqual((options.logid, options.timeout, options.log_severity_level), ("frame 17", 60, 3))
        self.session.run(None, self.feed, options)
        self.refusal(ort.InvalidArgument, setattr, options, "timeout", -1)

    def test_terminate_ends_runs_until_it_is_taken_back(self):
        options = ort.RunOptions()
        options.terminate = True
        self.refusal(ort.Cancelled, self.session.run, None, self.feed, options)
        options.terminate = False
        self.session.run(None, self.feed, options)

    def test_has_options_of_providers(self):
        options = ort.RunOptions()
        options.add_run_config_entry("ep.cpu.no_such_option", "1")
        self.assertEqual(options.get_run_config_entry("ep.cpu.no_such_option"), "1")
        self.assertIn("no_such_option", self.refusal(ort.InvalidArgument, self.session.run, None, self.feed, options))
        self.refusal(ort.NotFound, options.get_run_config_entry, "other")
        self.refusal(ort.InvalidArgument, self.session.set_ep_dynamic_options, {"ep.cpu.no_such_option": 1})

    def test_warns_of_options_of_runs_that_have_no_effect(self):
        done = self.python("import ephost, numpy, sys\nsession = ephost.InferenceSession(open(sys.argv[1], 'rb').read())\n"
                           "options = ephost.RunOptions()\n"
                           "options.add_run_config_entry('memory.enable_memory_arena_shrinkage', 'cpu:0')\n"
                           "options.add_run_config_entry('disable_synchronize_execution_providers', '1')\n"
                           "feed = {'x': numpy.ones(2, numpy.float32)}\n"
                           "print(*(session.run(None, feed, options)[0].tolist() for _ in range(3)))",
                           self.saved(identity_of(TensorProto.FLOAT)))
        self.assertEqual(done.stdout, "[1.0, 1.0] [1.0, 1.0] [1.0, 1.0]\n")
        for key in ("memory.enable_memory_arena_shrinkage", "disable_synchronize_execution_providers"):
            self.assertEqual(done.stderr.count(f'the option "{key}" of a run has no effect'), 2, done.stderr)
        options = ort.RunOptions()
        options.add_run_config_entry("memory.shrink", "1")
        self.refusal(ort.InvalidArgument, self.session.run, None, self.feed, options)

    def saved(self, model):
        file = self.folder / "model.onnx"
        file.write_bytes(model)
        return file

    def test_runs_with_a_vector_of_values(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.feed["x"])
        fetches = ort.OrtValueVector()
        feeds = ort.OrtValueVector()
        feeds.push_back(value)
        self.session.run_with_ortvaluevector(None, ["x"], feeds, ["y"], fetches, [ort.OrtDevice()])
        self.assertEqual([one.numpy().tolist() for one in fetches], [[0, 1, 2]])
        binding = ort.SessionIOBinding(self.session)
        binding.bind_ortvalue_input("x", value)
        binding.bind_output("y")
        self.session.run_with_iobinding(binding)
        self.assertEqual([one.numpy().tolist() for one in binding.get_outputs_as_ortvaluevector()], [[0, 1, 2]])

    def test_runs_with_values_in_the_place_of_arrays(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.feed["x"])
        np.testing.assert_array_equal(self.session.run(None, {"x": value})[0], self.feed["x"])
        result, = self.session.run_with_ort_values(["y"], {"x": value})
        self.assertIsInstance(result, ort.OrtValue)
        np.testing.assert_array_equal(result.numpy(), self.feed["x"])

    def test_outputs_have_memory_of_their_own(self):
        first, = self.session.run(None, self.feed)
        self.assertFalse(first.flags.owndata)  # it is the host's, not a copy
        first[:] = 9
        np.testing.assert_array_equal(self.session.run(None, self.feed)[0], [0, 1, 2])
        np.testing.assert_array_equal(self.feed["x"], [0, 1, 2])

    def test_outputs_live_longer_than_the_session(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        result, = session.run(None, self.feed)
        del session
        np.testing.assert_array_equal(result, [0, 1, 2])

    def test_takes_any_strides(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT, ("n", "m")))
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)
        self.assertFalse(unaligned.flags.aligned)
        read_only = base.copy()
        read_only.flags.writeable = False
        for array in (base.T, base[::2, 1:], base[::-1], np.asfortranarray(base), unaligned, read_only,
                      base.astype(">f4"), np.broadcast_to(base[0], (4, 6)), base[:0]):
            np.testing.assert_array_equal(session.run(None, {"x": array})[0], array)


class Bindings(PackageTest):
    def setUp(self):
        super().setUp()
        self.session = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)))
        self.binding = self.session.io_binding()
        self.x = np.arange(3, dtype=np.float32)

    def test_binds_arrays(self):
        self.binding.bind_cpu_input("x", self.x)
        self.binding.bind_output("y")
        self.session.run_with_iobinding(self.binding)
        copied, = self.binding.copy_outputs_to_cpu()
        self.x += 1  # the input is bound, not copied
        self.session.run_with_iobinding(self.binding)
        np.testing.assert_array_equal(copied, [0, 1, 2])
        np.testing.assert_array_equal(self.binding.get_outputs()[0].numpy(), [1, 2, 3])

    def test_binds_values_and_addresses(self):
        out = ort.OrtValue.ortvalue_from_shape_and_type([3], np.float32)
        self.binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(self.x))
        self.binding.bind_ortvalue_output("y", out)
        self.session.run_with_iobinding(self.binding)
        np.testing.assert_array_equal(out.numpy(), self.x)
        target = np.zeros(3, np.float32)
        self.binding.bind_input("x", "cpu", 0, np.float32, (3,), self.x.ctypes.data)
        self.binding.bind_output("y", "cpu", 0, np.float32, (3,), target.ctypes.data)
        self.session.run_with_iobinding(self.binding)
        np.testing.assert_array_equal(target, self.x)

    def test_has_the_outputs_that_were_bound_in_their_order(self):
        operators = {"c": "Add", "d": "Mul", "e": "Sub"}
        model = model_of([helper.make_node(operator, ["x", "x"], [name]) for name, operator in operators.items()],
                         [info("x", TensorProto.FLOAT, [3])],
                         [info(name, TensorProto.FLOAT, [3]) for name in operators])
        session = ort.InferenceSession(model)
        expected = {"c": [0, 2, 4], "d": [0, 1, 4], "e": [0, 0, 0]}
        value = ort.OrtValue.ortvalue_from_shape_and_type([3], np.float32)
        for bound in ("d", "ec", "edc", "ede", ""):
            binding = session.io_binding()
            binding.bind_output("c")
            binding.clear_binding_outputs()
            binding.bind_cpu_input("x", self.x)
            for name in bound:
                binding.bind_ortvalue_output(name, value) if name == "d" else binding.bind_output(name)
            session.run_with_iobinding(binding)
            wanted = [expected[name] for name in dict.fromkeys(bound or "cde")]
            self.assertEqual([one.numpy().tolist() for one in binding.get_outputs()], wanted, bound)
            self.assertEqual([one.tolist() for one in binding.copy_outputs_to_cpu()], wanted, bound)

    def test_an_output_that_could_not_be_bound_is_none_of_the_outputs(self):
        self.binding.bind_cpu_input("x", self.x)
        self.refusal(ort.NotFound, self.binding.bind_output, "z")
        self.refusal(ort.InvalidArgument, self.binding.bind_ortvalue_output, "y",
                     ort.OrtValue.ortvalue_from_shape_and_type([4], np.float32))
        self.session.run_with_iobinding(self.binding)
        self.assertEqual(len(self.binding.get_outputs()), 1)

    def test_forgets_what_was_bound(self):
        self.binding.bind_cpu_input("x", self.x)
        self.binding.clear_binding_inputs()
        self.binding.clear_binding_outputs()
        self.refusal(ort.InvalidArgument, self.session.run_with_iobinding, self.binding)

    def test_refuses_what_does_not_fit(self):
        self.refusal(ort.NotFound, self.binding.bind_cpu_input, "z", self.x)
        self.refusal(ort.InvalidArgument, self.binding.bind_cpu_input, "x", self.x.astype(np.int64))
        self.refusal(ort.InvalidArgument, self.binding.bind_output, "y", "cuda", 0)
        self.refusal(ort.InvalidArgument, self.binding.bind_output, "y", "cpu", 0, None, None, self.x.ctypes.data)
        self.refusal(ort.InvalidArgument, self.binding.bind_input, "x", "cuda", 0, np.float32, (3,), self.x.ctypes.data)
        other = ort.InferenceSession(identity_of(TensorProto.FLOAT, (3,)))
        self.binding.bind_cpu_input("x", self.x)
        self.refusal(ort.InvalidArgument, other.run_with_iobinding, self.binding)


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()
