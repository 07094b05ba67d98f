"""Options of sessions, and errors by their classes."""
import os
import sys

import numpy as np
import onnxruntime as ort
ort.set_default_logger_severity(3)

model, = sys.argv[1:]
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
options.enable_mem_pattern = True
options.enable_cpu_mem_arena = False
options.log_severity_level = 3
options.logid = "script"
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
options.add_session_config_entry("session.inter_op.allow_spinning", "0")
free = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()[0]
options.add_free_dimension_override_by_name(free.shape[0], 2)
options.enable_profiling = True
options.optimized_model_filepath = "optimized.onnx"
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
print("providers:", session.get_providers())
print("batch:", session.get_inputs()[0].shape[0])
print("threads:", session.get_session_options().intra_op_num_threads)
run_options = ort.RunOptions()
run_options.log_severity_level = 3
run_options.logid = "first"
session.run(None, {free.name: np.zeros(session.get_inputs()[0].shape, np.float32)}, run_options)
print("profile:", os.path.getsize(session.end_profiling()) > 0)
print("optimized:", os.path.getsize("optimized.onnx") > 0)
try:
    session.run(None, {free.name: np.zeros((1, 1), np.float32)})
except Exception as error:
    print("refused:", type(error).__name__)
