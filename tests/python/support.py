"""What the test cases beside this file share. They use the package of the build (PYTHONPATH), whatever the machine has
installed: the environment is that of tests/python/CMakeLists.txt."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, TypeProto, helper, numpy_helper

import ephost

TINY_MODELS = pathlib.Path(os.environ["EPHOST_TINY_MODELS"])


FIXTURES = pathlib.Path(os.environ["EPHOST_FIXTURES"])
# A plugin whose options say what its provider does (tests/fixtures/scripted).
SCRIPTED = FIXTURES / "scripted" / "scripted.yaml"


def tiny(name):
    return TINY_MODELS / name / "model.onnx"


def data_of(name):
    """The inputs and expected outputs of a tiny model, by name."""
    folder = TINY_MODELS / name / "test_data_set_0"
    return tuple({proto.name: numpy_helper.to_array(proto) for proto in _protos(folder, prefix)}
                 for prefix in ("input", "output"))


def _protos(folder, prefix):
    for path in sorted(folder.glob(f"{prefix}_*.pb")):
        proto = TensorProto()
        proto.ParseFromString(path.read_bytes())
        yield proto


def info(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def optional_info(name, element):
    """The description of an optional tensor."""
    described = helper.make_value_info(name, TypeProto())
    described.type.optional_type.elem_type.CopyFrom(helper.make_tensor_type_proto(element, None))
    return described


def map_info(name, key, element, is_sequence=False):
    """The description of a map to numbers, or of a sequence of such maps."""
    described = helper.make_value_info(name, TypeProto())
    of = described.type.sequence_type.elem_type if is_sequence else described.type
    of.map_type.key_type = key
    of.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(element, []))
    return described


def owned(count, dtype="float32"):
    """An array of 0, 1, ... with memory of its own, which weakref takes."""
    array = Owner((count,), dtype)
    array[:] = range(count)
    return array


class Owner(np.ndarray):
    pass


def model_of(nodes, inputs, outputs, initializers=(), opset=15, functions=()):
    """The bytes of a model of these nodes."""
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model.SerializeToString()


def identity_of(element, shape=("n",)):
    """A model whose output "y" is its input "x"."""
    return model_of([helper.make_node("Identity", ["x"], ["y"])], [info("x", element, shape)],
                    [info("y", element, shape)])


def endless_model():
    """A model that runs for hours: a Loop over "steps" that multiplies a number by one. Input: "steps"."""
    one = numpy_helper.from_array(np.array([1.0], np.float32), "one")
    body = helper.make_graph(
        [helper.make_node("Mul", ["before", "one"], ["after"]), helper.make_node("Identity", ["go"], ["on"])], "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("before", TensorProto.FLOAT, [1])],
        [info("on", TensorProto.BOOL, []), info("after", TensorProto.FLOAT, [1])])
    return model_of([helper.make_node("Loop", ["steps", "", "one"], ["y"], body=body)],
                    [info("steps", TensorProto.INT64, [])], [info("y", TensorProto.FLOAT, [1])], [one])


def relu_model():
    return model_of([helper.make_node("Relu", ["x"], ["y"])], [info("x", TensorProto.FLOAT, [2])],
                    [info("y", TensorProto.FLOAT, [2])])


ENDLESS_FEED = {"steps": np.array(1 << 60, np.int64)}


class PackageTest(unittest.TestCase):
    """Each case has its own folder."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def python(self, program, *arguments, status=0, timeout=120, variables=None):
        """Runs a program of Python in a process of its own."""
        done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], cwd=self.folder, text=True,
                              env={**os.environ, **(variables or {})}, capture_output=True, timeout=timeout,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def refusal(self, error, function, *arguments, **named):
        """The text of the exception of a call that must fail with this class."""
        with self.assertRaises(error) as caught:
            function(*arguments, **named)
        self.assertIsInstance(caught.exception, ephost.EphostError)
        self.assertTrue(str(caught.exception).startswith(caught.exception.code.name + ": "), caught.exception)
        return str(caught.exception)

    def assert_close(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for name, array in expected.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4, err_msg=name)
