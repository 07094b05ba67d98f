"""Many threads and many sessions, runs in the background, and the GIL."""

import concurrent.futures
import queue
import threading
import time
import unittest

import numpy as np
from onnx import TensorProto

import ephost as ort
from support import ENDLESS_FEED, PackageTest, data_of, endless_model, identity_of, tiny


class Threads(PackageTest):
    def test_many_threads_run_one_session(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT))

        def work(seed):
            for step in range(200):
                x = np.full(seed + 1, seed * 1000 + step, np.float32)
                np.testing.assert_array_equal(session.run(None, {"x": x})[0], x)
            return True
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(16))))

    def test_many_threads_create_and_drop_sessions(self):
        inputs, expected = data_of("tiny_cnn")

        def work(_):
            session = ort.InferenceSession(tiny("tiny_cnn"), providers=["dnnl"])
            names = [one.name for one in session.get_outputs()]
            self.assert_close(dict(zip(names, session.run(None, inputs))), expected)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(24)))

    def test_many_threads_share_values_and_options(self):
        session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        options = ort.RunOptions()
        value = ort.OrtValue.ortvalue_from_numpy(np.arange(5, dtype=np.float32))

        def work(_):
            for _ in range(100):
                np.testing.assert_array_equal(session.run(None, {"x": value}, options)[0], range(5))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

    def test_other_threads_work_during_a_run_which_one_of_them_ends(self):
        session = ort.InferenceSession(endless_model())
        options, failures = ort.RunOptions(), []

        def run():
            try:
                session.run(None, ENDLESS_FEED, options)
            except ort.Cancelled as failure:
                failures.append(failure)
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)  # Python continues here, so the runs do not have the GIL
        self.assertTrue(all(thread.is_alive() for thread in threads))
        options.terminate = True
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(failures), 2)

    def test_a_time_limit_ends_a_run(self):
        options = ort.RunOptions()
        options.timeout = 0.05
        session = ort.InferenceSession(endless_model())
        self.assertIn("deadline", self.refusal(ort.DeadlineExceeded, session.run, None, ENDLESS_FEED, options))

    def test_another_thread_ends_the_creation_of_a_session(self):
        options = ort.SessionOptions()
        options.set_load_cancellation_flag(True)
        self.refusal(ort.Cancelled, ort.InferenceSession, tiny("tiny_cnn"), options)
        options.set_load_cancellation_flag(False)
        ort.InferenceSession(tiny("tiny_cnn"), options)


class Background(PackageTest):
    def setUp(self):
        super().setUp()
        self.session = ort.InferenceSession(identity_of(TensorProto.FLOAT))
        self.done = queue.Queue()

    def call_back(self, outputs, user_data, error):
        self.done.put((outputs, user_data, error))

    def test_a_callback_gets_the_outputs(self):
        for index in range(20):
            self.session.run_async(None, {"x": np.full(2, index, np.float32)}, self.call_back, index)
        for _ in range(20):
            outputs, index, error = self.done.get(timeout=60)
            self.assertEqual((outputs[0].tolist(), error), ([index, index], ""))

    def test_a_callback_gets_the_failure(self):
        self.session.run_async(None, {"x": np.zeros(2, np.int64)}, self.call_back, "mine")
        outputs, user_data, error = self.done.get(timeout=60)
        self.assertEqual((outputs, user_data), ([], "mine"))
        self.assertIn("INVALID_ARGUMENT", error)

    def test_terminate_ends_a_run_in_the_background(self):
        options = ort.RunOptions()
        session = ort.InferenceSession(endless_model())
        session.run_async(None, ENDLESS_FEED, self.call_back, None, options)
        time.sleep(0.1)
        self.assertTrue(self.done.empty())
        options.terminate = True
        self.assertTrue(self.done.get(timeout=60)[2].startswith("CANCELLED: "))

    def test_a_session_waits_for_its_runs_when_it_is_dropped(self):
        for index in range(10):
            self.session.run_async(None, {"x": np.full(2, index, np.float32)}, self.call_back, index)
        del self.session
        self.assertEqual(self.done.qsize(), 10)

    def test_the_interpreter_waits_for_runs_at_its_end(self):
        done = self.python(
            "import ephost, numpy, sys\nsession = ephost.InferenceSession(sys.argv[1])\n"
            "x = {one.name: numpy.ones(one.shape, numpy.float32) for one in session.get_inputs()}\n"
            "def tell(outputs, index, error):\n    sys.stdout.write(f'done {index}\\n')\n"
            "for i in range(5):\n    session.run_async(None, x, tell, i)",
            tiny("tiny_cnn"))
        self.assertEqual(sorted(done.stdout.split()), sorted("done 0 done 1 done 2 done 3 done 4".split()))

    def test_what_a_callback_raises_is_reported(self):
        done = self.python(
            "import ephost, numpy, sys\nsession = ephost.InferenceSession(sys.argv[1])\n"
            "x = {one.name: numpy.ones(one.shape, numpy.float32) for one in session.get_inputs()}\n"
            "def fail(*what):\n    raise ValueError('of the callback')\n"
            "session.run_async(None, x, fail)", tiny("tiny_cnn"))
        self.assertIn("ValueError: of the callback", done.stderr)


if __name__ == "__main__":
    unittest.main()
