"""Where scripts for onnxruntime import some names from."""
