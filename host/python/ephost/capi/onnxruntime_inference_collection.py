"""Sessions, bindings and values, where scripts for onnxruntime import them from."""
from .. import InferenceSession, IOBinding, ModelCompiler, OrtDevice, OrtValue, SparseTensor
