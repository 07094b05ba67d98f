"""Ctrl-C ends runs, the creation of sessions and compilations."""

import os
import signal
import subprocess
import sys
import time
import unittest

import ephost as ort
from support import PackageTest, SCRIPTED, endless_model, relu_model, tiny

# The program says when it is about to call the host, and the test then sends SIGINT.
BEGIN = "import ephost, numpy, os, signal, sys, time\nfeed = {'steps': numpy.array(1 << 60, numpy.int64)}\n"
READY = "print('ready', flush=True)\n"


class Interrupts(PackageTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "endless.onnx"
        self.model.write_bytes(endless_model())

    def interrupt(self, program, times=1, is_told=False):
        """What the program prints after it was interrupted; it must end by itself then. `is_told`: Python writes that
        it was interrupted when it ended."""
        with subprocess.Popen([sys.executable, "-c", BEGIN + program, str(self.model)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder) as process:
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                for _ in range(times):
                    time.sleep(0.5)
                    self.assertIsNone(process.poll(), "the program did not wait")
                    process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("KeyboardInterrupt", err) if is_told else self.assertEqual(err, "")
        return out

    def test_a_run_ends_and_the_session_stays_usable(self):
        out = self.interrupt("session = ephost.InferenceSession(sys.argv[1])\n" + READY +
                             "try:\n    session.run(None, feed)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
                             "print(session.run(None, {'steps': numpy.array(3)})[0])")
        self.assertEqual(out, "interrupted\n[1.]\n")

    def test_runs_of_all_kinds_end(self):
        for call in ("session.run(None, feed, ephost.RunOptions())",
                     "session.run_with_ort_values(None, {'steps': ephost.OrtValue.ortvalue_from_numpy(feed['steps'])})",
                     "binding = session.io_binding(); binding.bind_cpu_input('steps', feed['steps']); "
                     "session.run_with_iobinding(binding)"):
            out = self.interrupt("session = ephost.InferenceSession(sys.argv[1])\n" + READY +
                                 f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')")
            self.assertEqual(out, "interrupted\n", call)

    def test_options_of_a_run_are_as_before(self):
        out = self.interrupt("session = ephost.InferenceSession(sys.argv[1])\noptions = ephost.RunOptions()\n" + READY +
                             "try:\n    session.run(None, feed, options)\nexcept KeyboardInterrupt:\n    pass\n"
                             "print(options.terminate, session.run(None, {'steps': numpy.array(3)}, options)[0])")
        self.assertEqual(out, "False [1.]\n")

    def test_a_handler_that_raises_nothing_does_not_end_a_run(self):
        """The run continues, as system calls do, and the second signal ends it."""
        out = self.interrupt("count = []\ndef handle(*what):\n    count.append(1)\n    print('handled', flush=True)\n"
                             "    if len(count) == 2:\n        raise OSError('enough')\n"
                             "signal.signal(signal.SIGINT, handle)\n"
                             "session = ephost.InferenceSession(sys.argv[1])\n" + READY +
                             "try:\n    session.run(None, feed)\nexcept OSError as error:\n    print(error)", times=2)
        self.assertEqual(out, "handled\nhandled\nenough\n")

    def test_a_run_of_another_thread_goes_on(self):
        out = self.interrupt("import threading\nsession = ephost.InferenceSession(sys.argv[1])\n"
                             "options = ephost.RunOptions()\n"
                             "def run():\n    try:\n        session.run(None, feed, options)\n"
                             "    except ephost.Fail:\n        print('ended by terminate')\n"
                             "thread = threading.Thread(target=run)\nthread.start()\n" + READY +
                             "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass\n"
                             "time.sleep(0.2)\nprint(thread.is_alive())\noptions.terminate = True\nthread.join()")
        self.assertEqual(out, "True\nended by terminate\n")

    def test_runs_in_the_background_end_with_the_program(self):
        out = self.interrupt("import atexit\natexit.register(print, 'ready', flush=True)\n"
                             "session = ephost.InferenceSession(sys.argv[1])\n"
                             "session.run_async(None, feed, lambda *of: print(of[2].split(':')[0]), None)",
                             is_told=True)
        self.assertEqual(out, "CANCELLED\n")

    def test_runs_in_the_background_end_with_their_session(self):
        out = self.interrupt("session, other = (ephost.InferenceSession(sys.argv[1]) for _ in range(2))\n"
                             "options = ephost.RunOptions()\n"
                             "call = lambda outputs, name, error: print(name, error.split(':')[0], flush=True)\n"
                             "session.run_async(None, feed, call, 'first')\n"
                             "other.run_async(None, feed, call, 'second', options)\n" + READY +
                             "try:\n    del session\n    time.sleep(0)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
                             "options.terminate = True")
        self.assertEqual(out, "first CANCELLED\ninterrupted\nsecond CANCELLED\n")

    def test_a_program_that_ignores_signals_is_not_interrupted(self):
        out = self.interrupt("signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                             "session = ephost.InferenceSession(sys.argv[1])\noptions = ephost.RunOptions()\n"
                             "options.timeout = 1.5\n" + READY +
                             "try:\n    session.run(None, feed, options)\nexcept ephost.Fail as error:\n"
                             "    print('deadline' in str(error))")
        self.assertEqual(out, "True\n")

    def test_a_handler_of_the_program_is_kept(self):
        before = signal.getsignal(signal.SIGINT)
        ort.InferenceSession(tiny("tiny_cnn"))
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    def test_creation_and_compilation_end(self):
        self.model.write_bytes(relu_model())
        for call in ("ephost.InferenceSession(sys.argv[1], options, providers=slow)",
                     "ephost.ModelCompiler(options, sys.argv[1], providers=slow).compile_to_file('out.onnx')",
                     "ephost.partition(sys.argv[1], slow, options, compile=True)"):
            out = self.interrupt(f"ephost.register_execution_provider_library('scripted', {str(SCRIPTED)!r})\n"
                                 "slow = [('scripted', {'compile_milliseconds': 60000})]\n"
                                 "options = ephost.SessionOptions()\n" + READY +
                                 f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
                                 "print(os.path.exists('out.onnx'))")
            self.assertEqual(out, "interrupted\nFalse\n", call)

    def test_a_function_that_the_host_calls_may_be_interrupted(self):
        self.model.write_bytes(relu_model())
        out = self.interrupt(f"ephost.register_execution_provider_library('scripted', {str(SCRIPTED)!r})\n"
                             "options = ephost.SessionOptions()\n"
                             "options.set_progress_function(lambda *what: time.sleep(0.05))\n" + READY +
                             "try:\n    ephost.InferenceSession(sys.argv[1], options, "
                             "[('scripted', {'compile_milliseconds': 60000})])\n"
                             "except KeyboardInterrupt:\n    print('interrupted')")
        self.assertEqual(out, "interrupted\n")


if __name__ == "__main__":
    unittest.main()
