"""The quantised forms that make_models.py can give a float model."""

import dataclasses
import functools

import numpy as np

from models import block_quantization, dynamic_quantization, static_quantization
from models.builder import Model

S8_ACTIVATIONS = static_quantization.Options(activations=np.int8)
PER_TENSOR = static_quantization.Options(per_channel=False)
ZERO_POINTS = block_quantization.Options(zero_points=True)


def static(model, options=static_quantization.Options()):
    return static_quantization.quantize(model.proto, model.data_sets, options)


def of_proto(quantize, *arguments):
    return lambda model: quantize(model.proto, *arguments)


# Suffix of the model's name -> what makes the quantised ModelProto, and what it is.
FORMS = {
    "qdq": (static, "QDQ, u8 activations, s8 weights per channel"),
    "qdq_s8": (functools.partial(static, options=S8_ACTIVATIONS), "QDQ, s8 activations"),
    "qdq_tensor": (functools.partial(static, options=PER_TENSOR), "QDQ, s8 weights per tensor"),
    "dynamic": (of_proto(dynamic_quantization.quantize), "dynamic quantisation"),
    "int4": (of_proto(block_quantization.with_matmul_n_bits), "4-bit weights in MatMulNBits"),
    "int4_zp": (of_proto(block_quantization.with_matmul_n_bits, ZERO_POINTS),
                "the same with zero points"),
    "int4_dq": (of_proto(block_quantization.with_dequantize_linear),
                "4-bit weights before MatMul, operator set 21"),
}


def convert(model, form):
    """The model in one of the FORMS, with the test data of the float one."""
    convert_proto, _ = FORMS[form]
    proto = convert_proto(model)
    proto.graph.name = f"{model.proto.graph.name}_{form}"
    return Model(proto, model.data_sets, model.external_data)
