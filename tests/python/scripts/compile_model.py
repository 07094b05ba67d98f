"""Compiles a model to a context model, and loads that."""
import os
import sys

import numpy as np
import onnxruntime as ort

model, inputs = sys.argv[1:]
best = ort.get_available_providers()[0]
options = ort.SessionOptions()
devices = [device for device in ort.get_ep_devices() if device.ep_name == best]
options.add_provider_for_devices(devices, {})
compiler = ort.ModelCompiler(options, model, embed_compiled_data_into_model=True,
                             flags=ort.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED)
compiler.compile_to_file("compiled.onnx")
print("compiled:", os.path.exists("compiled.onnx"))

feed = dict(np.load(inputs))
expected = ort.InferenceSession(model, sess_options=options).run(None, feed)[0]
session = ort.InferenceSession("compiled.onnx", sess_options=options)
print("same:", np.array_equal(session.run(None, feed)[0], expected))
session = ort.InferenceSession(compiler.compile_to_bytes(), sess_options=options)
print("same:", np.array_equal(session.run(None, feed)[0], expected))
