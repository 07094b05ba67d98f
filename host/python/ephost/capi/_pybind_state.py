"""The same as onnxruntime_pybind11_state, under onnxruntime's other name."""
from ephost.capi.onnxruntime_pybind11_state import *  # noqa: F403
