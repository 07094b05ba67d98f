"""Where scripts for onnxruntime import some names from, or look them up as `ort.capi.onnxruntime_pybind11_state`.

The files here import from `ephost` by name: under an alias of the package, relative imports would make second copies of
its modules, and so of the classes of exceptions."""
from ephost.capi import _pybind_state, onnxruntime_inference_collection, onnxruntime_pybind11_state
