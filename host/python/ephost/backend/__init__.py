"""ephost as a backend of the ONNX project: `onnx.backend.base.Backend`. Needs the package onnx.

    import ephost.backend
    outputs = ephost.backend.prepare(model).run([image])
"""
from ephost.backend.backend import (EphostBackend, EphostRep, OnnxRuntimeBackend, OnnxRuntimeBackendRep, is_compatible,
                                    prepare, run, run_model, run_node, supports_device)
