"""Where scripts for onnxruntime import the class from."""
from ephost.backend.backend import OnnxRuntimeBackendRep  # noqa: F401
