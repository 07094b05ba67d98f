"""Processes that are forked from one that has used sessions."""

import unittest

from support import PackageTest, tiny

# Uses sessions with two threads, in this process and in one that it forks, and both once more.
BEGIN = """
import os, signal, sys
import numpy, ephost
path, provider = sys.argv[1:]

def create():
    options = ephost.SessionOptions()
    options.intra_op_num_threads = 2
    return ephost.InferenceSession(path, options, [provider])

def run(session):
    feed = {one.name: numpy.ones(one.shape, numpy.float32) for one in session.get_inputs()}
    return session.run(None, feed)[0]

signal.alarm(30)
session = create()
expected = run(session)
"""


class Forks(PackageTest):
    def test_a_child_uses_sessions(self):
        for provider in ("cpu", "dnnl"):
            self.python(BEGIN + "child = os.fork()\n"
                                "signal.alarm(30)\n"
                                "for one in (session, create()):\n"
                                "    numpy.testing.assert_allclose(run(one), expected, 1e-4)\n"
                                "if child == 0:\n"
                                "    os._exit(0)\n"
                                "assert os.waitpid(child, 0)[1] == 0", tiny("tiny_cnn"), provider)

    def test_a_child_uses_sessions_after_those_of_its_parent_are_gone(self):
        """The plugin is unloaded then, and OpenMP stays."""
        for provider in ("cpu", "dnnl"):
            self.python(BEGIN + "del session\n"
                                "child = os.fork()\n"
                                "if child == 0:\n"
                                "    signal.alarm(20)\n"
                                "    run(create())\n"
                                "    os._exit(0)\n"
                                "assert os.waitpid(child, 0)[1] == 0", tiny("tiny_cnn"), provider)

    def test_a_pool_of_processes_uses_sessions(self):
        self.python(BEGIN + "import multiprocessing\n"
                            "def create_and_run():\n"
                            "    return run(create())\n"
                            "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
                            "    results = [pool.apply_async(create_and_run) for _ in range(4)]\n"
                            "    assert all(one.get(30).shape == expected.shape for one in results)",
                    tiny("tiny_cnn"), "dnnl")


if __name__ == "__main__":
    unittest.main()
