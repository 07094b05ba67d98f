"""Where scripts for onnxruntime import some names from, or look them up as `ort.capi.onnxruntime_pybind11_state`."""
from . import _pybind_state, onnxruntime_inference_collection, onnxruntime_pybind11_state
