"""A program whose own memory goes away dies of that; the provider that reads the memory is not to blame."""

import re
import signal
import unittest

from support import PackageTest

PRELUDE = """
import os
import numpy as np, onnx
from onnx import TensorProto, helper
import ephost as ort
folder = os.environ["FOLDER"] + "/"
shape = [512, 512]
info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
def model(nodes, weights=()):
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
def file(name):
    open(folder + name, "wb").write(bytes(1 << 20))
    return folder + name
relu = model([helper.make_node("Relu", ["x"], ["y"])]).SerializeToString()
x = np.ones(shape, np.float32)
"""

INPUT = """
lent = np.memmap(file("in.bin"), dtype="f", mode="r", shape=(512, 512))
session = ort.InferenceSession(relu)
os.truncate(folder + "in.bin", 0)
session.run(None, {"x": lent})
"""

OUTPUT = """
lent = np.memmap(file("out.bin"), dtype="f", mode="r+", shape=(512, 512))
session = ort.InferenceSession(relu)
binding = session.io_binding()
binding.bind_cpu_input("x", x)
binding.bind_output("y", "cpu", 0, np.float32, [512, 512], lent.ctypes.data)
os.truncate(folder + "out.bin", 0)
session.run_with_iobinding(binding)
"""

MODEL = """
weights = helper.make_tensor("w", TensorProto.FLOAT, shape, x.tobytes(), raw=True)
onnx.save(model([helper.make_node("Add", ["x", "w"], ["y"])], [weights]), folder + "m.onnx",
          save_as_external_data=True, location="m.bin")
session = ort.InferenceSession(folder + "m.onnx")
os.truncate(folder + "m.bin", 0)
session.run(None, {"x": x})
"""


class Faults(PackageTest):
    def setUp(self):
        super().setUp()
        self.variables = {"FOLDER": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}

    def crash(self, code):
        return self.python(PRELUDE + code, status=-signal.SIGBUS, variables=self.variables).stderr

    def test_memory_that_the_program_lent_is_its_own_business(self):
        for code, place in ((INPUT, 'in the input "x"'), (OUTPUT, 'in the output "y"'),
                            (MODEL, 'in the mapped file "m.bin"')):
            for _ in range(3):
                error = self.crash(code)
                self.assertRegex(error, f"which is {re.escape(place)},.*compute of CPUExecutionProvider")
                self.assertIn("does not count against the plugin", error)
        self.assertFalse((self.folder / "state/ephost/failures").exists())
        done = self.python(PRELUDE + "ort.InferenceSession(relu).run(None, {'x': x})", variables=self.variables)
        self.assertNotIn("quarantined", done.stderr)


if __name__ == "__main__":
    unittest.main()
