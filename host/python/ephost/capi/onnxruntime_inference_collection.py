"""Sessions, bindings and values, where scripts for onnxruntime import them from."""
from ephost import (AdapterFormat, InferenceSession, IOBinding, LoraAdapter, ModelCompiler, OrtDevice, OrtValue,
                SparseTensor)
from ephost._compatibility import check_and_normalize_provider_args
