"""Plugins that a program registers: devices, options for sessions and runs, progress, fallback."""

import pathlib
import threading
import time
import unittest

import numpy as np

import ephost as ort
from support import SCRIPTED, PackageTest, relu_model, tiny


class Plugins(PackageTest):
    def setUp(self):
        super().setUp()
        ort.register_execution_provider_library("mine", SCRIPTED)
        self.addCleanup(ort.unregister_execution_provider_library, "mine")
        self.feed = {"x": np.array([1, -1], np.float32)}

    def session(self, options=None, **scripted):
        return ort.InferenceSession(relu_model(), options, [("scripted", scripted)])

    def test_a_registered_plugin_is_available_until_it_is_unregistered(self):
        other = pathlib.Path(SCRIPTED)
        self.refusal(ort.InvalidArgument, ort.register_execution_provider_library, "mine", other)
        name = self.session().get_providers()[0]
        self.assertIn(name, ort.get_available_providers())
        ort.unregister_execution_provider_library("mine")
        self.assertNotIn(name, ort.get_available_providers())
        with self.assertWarns(UserWarning):
            self.session()
        ort.register_execution_provider_library("mine", str(SCRIPTED))

    def test_a_layer_is_no_provider(self):
        done = self.python("import os, sys, warnings\nos.environ['EPHOST_PLUGIN_PATH'] = sys.argv[1]\n"
                           "import ephost\nwarnings.simplefilter('ignore')\n"
                           "session = ephost.InferenceSession(sys.argv[2], providers=['counting', '', 'cpu'])\n"
                           "print(session.get_providers(), ephost.get_available_providers())",
                           SCRIPTED.parents[1] / "counting_layer", tiny("tiny_cnn"))
        self.assertEqual(done.stdout, "['CPUExecutionProvider'] ['DnnlExecutionProvider', 'ImageExecutionProvider', "
                                      "'CPUExecutionProvider']\n")

    def test_a_session_names_a_simulated_device(self):
        device = next(one for one in ort.get_ep_devices() if one.id == "sim")
        self.assertEqual((device.device.type, device.is_virtual, device.ep_metadata),
                         (ort.OrtHardwareDeviceType.NPU, True, {"slot": "sim"}))
        self.assertIn("'sim'", repr(device))
        report = self.folder / "report"
        options = ort.SessionOptions()
        options.add_provider_for_devices([device], {"report": report})
        ort.InferenceSession(relu_model(), options)
        self.assertIn("sim", report.read_text())
        self.assertIsInstance(ort.get_ep_targets(), list)

    def test_options_change_for_a_run_and_for_all_later_ones(self):
        session = self.session()
        options = ort.RunOptions()
        options.add_run_config_entry("ep.scripted.run_offset", "10")
        np.testing.assert_array_equal(session.run(None, self.feed, options)[0], [11, 10])
        np.testing.assert_array_equal(session.run(None, self.feed)[0], [1, 0])
        session.set_ep_dynamic_options({"ep.scripted.offset": 5})
        np.testing.assert_array_equal(session.run(None, self.feed)[0], [6, 5])

    def test_progress_is_told(self):
        told = []
        options = ort.SessionOptions()
        options.set_progress_function(lambda *what: told.append(what))
        session = self.session(options, compile_milliseconds=50)
        scripted = session.get_providers()[0]
        self.assertEqual({provider for provider, _, _ in told}, {scripted, "ephost"})
        self.assertEqual({message for provider, _, message in told if provider == scripted}, {"compiling a script"})
        self.assertIn(("ephost", 0, "partitioning"), told)
        self.assertTrue(all(0 <= fraction <= 1 for _, fraction, _ in told))

    def test_other_threads_work_while_a_session_is_created(self):
        made = []
        thread = threading.Thread(target=lambda: made.append(self.session(compile_milliseconds=500)))
        thread.start()
        steps = 0
        while thread.is_alive():
            time.sleep(0.001)
            steps += 1
        self.assertEqual(len(made), 1)
        self.assertGreater(steps, 20)

    def test_another_thread_ends_the_creation_of_a_session(self):
        options, failures = ort.SessionOptions(), []

        def create():
            try:
                self.session(options, compile_milliseconds=60000)
            except ort.Cancelled as failure:
                failures.append(failure)
        thread = threading.Thread(target=create)
        thread.start()
        time.sleep(0.3)
        self.assertTrue(thread.is_alive())
        options.set_load_cancellation_flag(True)
        thread.join(30)
        self.assertEqual(len(failures), 1)

    def test_a_creation_that_takes_too_long_ends(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.load_timeout_seconds", "1")
        self.assertIn("load_timeout_seconds", self.refusal(ort.DeadlineExceeded, self.session, options,
                                                           compile_milliseconds=60000))

    def test_the_code_of_a_plugin_has_its_class(self):
        for isolation in ("none", "worker"):
            for failure in (ort.OutOfMemory, ort.DeviceLost, ort.Cancelled, ort.DeadlineExceeded):
                with self.subTest(isolation=isolation, failure=failure):
                    options = ort.SessionOptions()
                    options.add_session_config_entry("session.isolation", isolation)
                    session = self.session(options, fail="compute", fail_code=int(failure.code))
                    self.assertIn("scripted failure", self.refusal(failure, session.run, None, self.feed))

    def test_what_a_progress_function_raises_ends_the_creation(self):
        def fail(*_):
            raise LookupError("of the program")
        options = ort.SessionOptions()
        options.set_progress_function(fail)
        with self.assertRaisesRegex(LookupError, "of the program"):
            self.session(options, compile_milliseconds=60000)

    def test_a_provider_that_fails_is_replaced_or_is_the_failure(self):
        session = self.session(fail="compile")
        fallback, = session.get_fallbacks()
        self.assertEqual(fallback.nodes, 1)
        self.assertIn("scripted failure", fallback.reason)
        np.testing.assert_array_equal(session.run(None, self.feed)[0], [1, 0])
        options = ort.SessionOptions()
        options.add_session_config_entry("session.disable_ep_fallback", "1")
        self.assertIn("scripted failure", self.refusal(ort.EPFail, self.session, options, fail="compile"))


if __name__ == "__main__":
    unittest.main()
