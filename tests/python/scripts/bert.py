"""A BERT encoder, whose inputs are told apart by their names."""
import sys

import numpy as np
import onnxruntime as ort

model, inputs = sys.argv[1:]
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.intra_op_num_threads = 2
session = ort.InferenceSession(model, sess_options=options,
                               providers=["CUDAExecutionProvider", "CPUExecutionProvider"]
                               if "CUDAExecutionProvider" in ort.get_available_providers() else ["CPUExecutionProvider"])
given = np.load(inputs)
types = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32}
feed = {one.name: given[one.name].astype(types[one.type]) for one in session.get_inputs()}
assert len(feed) >= 2, feed.keys()
outputs = session.run(None, feed)
for one, array in zip(session.get_outputs(), outputs):
    print(one.name, list(array.shape), f"{np.abs(array).mean():.2f}")
