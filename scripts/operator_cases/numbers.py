"""Cast, quantization, arithmetic of integers, comparison and bits."""

import itertools

import numpy as np

from operator_cases import messages
from operator_cases.case import Case, array, flags, floats, integers, longs
from operator_cases.messages import Coded

HALF, DOUBLE = np.float16, np.float64
FLOAT, UINT8, INT8, UINT16, INT16, INT32, FLOAT16 = 1, 2, 3, 4, 5, 6, 10
FLOAT8 = {"e4m3fn": messages.FLOAT8E4M3FN, "e4m3fnuz": messages.FLOAT8E4M3FNUZ, "e5m2": messages.FLOAT8E5M2,
          "e5m2fnuz": messages.FLOAT8E5M2FNUZ}
EDGES = array([-np.inf, -1e30, -70000, -500, -449, -448, -240.5, -240, -9.5, -2, -0.7, -0.0019, -1e-5, -0.0, 0, 1e-6,
               0.0009,
               0.002, 0.0625, 0.3, 1, 1.0625, 1.5, 3.3, 15.6, 17, 239, 241, 250, 447, 463, 465, 480, 57000, 61000,
               62000, 1e20,
               np.inf, np.nan])
# Powers of two, what is between them, and what is out of range.
POWERS = array([-np.inf, -3, -1e-39, -0.0, 0, 2e-39, 5e-39, 7e-39, 1.1754944e-38, 0.124, 0.125, 0.25, 0.3, 1, 1.1,
                1.4999, 1.5, 1.75, 2, 3, 1000, 1.7e38, 2e38, 3e38, np.inf, np.nan])
PACKED = ((21, 23, "int4", messages.INT4), (21, 23, "uint4", messages.UINT4), (25, 25, "int2", messages.INT2),
          (25, 25, "uint2", messages.UINT2))  # with the opset that quantizes and the one that casts


def cases():
    yield from casts()
    yield from quantized()
    yield from dequantized()
    yield from dynamic()
    yield from integer_arithmetic()
    yield from comparisons()


def casts():
    for name, element_type in FLOAT8.items():
        codes = Coded(element_type, np.arange(256))
        for saturate in (0, 1):
            # Twice, since the other side has no tensors of these types.
            yield Case("Cast", f"to {name} {saturate}", [EDGES], 19, [FLOAT], to=element_type, saturate=saturate)
            yield Case("Cast", f"half to {name} {saturate}", [EDGES[3:36].astype(HALF)], 19, [FLOAT], to=element_type,
                       saturate=saturate)
        yield Case("Cast", f"from {name}", [codes], 19, to=FLOAT)
        yield Case("Cast", f"from {name} to half", [codes], 21, to=FLOAT16)
        yield Case("CastLike", f"to {name}", [EDGES, Coded(element_type, [0])], 19, [FLOAT], saturate=1)
    for _, opset, name, element_type in (*PACKED, (None, 23, "float4", messages.FLOAT4E2M1)):
        whole = Coded(element_type, np.arange(15) % (1 << messages.BITS[element_type]))
        yield Case("Cast", f"from {name}", [whole], opset, to=FLOAT)
        if name != "float4":
            yield Case("Cast", f"from {name} to int8", [whole], opset, to=INT8)
            yield Case("Cast", f"int32 to {name}", [integers(9, low=0, high=4, dtype=np.int32)], opset, [FLOAT],
                       to=element_type)
            yield Case("Cast", f"int8 to {name} beyond", [integers(9, low=-128, high=127, dtype=np.int8)], opset,
                       [FLOAT],
                       to=element_type)
        yield Case("Cast", f"float to {name}", [floats(9, low=0, high=1)], opset, [FLOAT], to=element_type)
    yield Case("Cast", "float to float4 edges", [EDGES[3:-1]], 23, [FLOAT], to=messages.FLOAT4E2M1)
    for mode in ("up", "down", "nearest"):
        for saturate in (0, 1):
            yield Case("Cast", f"to e8m0 {mode} {saturate}", [POWERS], 25, [FLOAT], to=messages.FLOAT8E8M0,
                       round_mode=mode, saturate=saturate)
    powers = Coded(messages.FLOAT8E8M0, np.arange(256))
    yield Case("Cast", "from e8m0", [powers], 25, to=FLOAT)
    yield Case("Cast", "from e8m0 to half", [powers], 25, to=FLOAT16)
    yield Case("CastLike", "to e8m0", [POWERS, Coded(messages.FLOAT8E8M0, [0])], 25, [FLOAT], round_mode="down")
    yield Case("Cast", "float to bfloat16", [EDGES], 19, [FLOAT], to=messages.BFLOAT16)
    yield Case("Cast", "float to bool", [array([0, -0.0, 0.3, -2, np.nan, np.inf])], 19, to=9)
    yield Case("Cast", "float to int32", [array([-3.9, -0.5, 0.5, 2.5, 1e6])], 19, to=INT32)
    yield Case("Cast", "int32 to uint8", [array([-1, 0, 255, 256, 1000], np.int32)], 19, to=UINT8)
    yield Case("Cast", "int64 to int32", [array([-1, 2**31, 2**40 + 5], np.int64)], 19, to=INT32)
    yield Case("Cast", "float to text", [array([1, -0.5, 3.25, 1e10, np.inf, -np.inf, np.nan])], 19, to=8)
    yield Case("Cast", "text to float", [np.array(["1", "-0.5", "1e3", "INF", "-INF", "NaN", "+inf"], object)], 19,
               to=FLOAT)
    yield Case("Cast", "text to int", [np.array(["1", "-5", "12345"], object)], 19, to=7)
    yield Case("Cast", "int to text", [longs(1, -5, 12345)], 19, to=8)
    yield Case("Cast", "bool to float", [flags(5)], 19, to=FLOAT)


def codes(element_type, *shape):
    numbers = np.arange(int(np.prod(shape))).reshape(shape) * 7
    return Coded(element_type, numbers % (1 << messages.BITS[element_type]))


def quantized():
    x = floats(4, 6, low=-4, high=4)
    for opset, dtype in itertools.product((13, 19, 21, 23, 25), (np.uint8, np.int8)):
        zero = array(3, dtype)
        name = np.dtype(dtype).name
        yield Case("QuantizeLinear", name, [x, array(0.03), zero], opset)
        yield Case("QuantizeLinear", name + " columns", [x, floats(6, low=0.01, high=0.1), integers(6, dtype=dtype)],
                   opset)
        yield Case("QuantizeLinear", name + " rows", [x, floats(4, low=0.01, high=0.1), integers(4, dtype=dtype)],
                   opset,
                   axis=0)
    yield Case("QuantizeLinear", "no zero point", [x, array(0.03)], 21)
    yield Case("QuantizeLinear", "ties", [array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 300, -300, np.inf, -np.inf]),
                                          array(1)], 21)
    for output_type in (INT8, UINT16, INT16):
        yield Case("QuantizeLinear", f"output type {output_type}", [x, array(0.03)], 21, output_dtype=output_type)
    for dtype in (np.uint16, np.int16):
        yield Case("QuantizeLinear", np.dtype(dtype).name, [x, array(0.001), array(7, dtype)], 21)
    for opset, _, name, element_type in PACKED:
        yield Case("QuantizeLinear", name, [x, array(0.3), codes(element_type)], opset, [FLOAT])
        yield Case("QuantizeLinear", name + " rows", [x, floats(4, low=0.1, high=0.5), codes(element_type, 4)], opset,
                   [FLOAT],
                   axis=0)
        yield Case("QuantizeLinear", name + " blocks", [floats(3, 10), floats(3, 5, low=0.1, high=0.5),
                                                        codes(element_type, 3, 5)], opset, [FLOAT], axis=1,
                   block_size=2)
        yield Case("QuantizeLinear", name + " output type", [x, array(0.3)], opset, [FLOAT], output_dtype=element_type)
    for axis, shape in ((0, (2, 6)), (1, (4, 2)), (-1, (4, 2)), (-2, (2, 6))):
        size = 3 if axis in (1, -1) else 2
        for dtype in (np.uint8, np.int16):
            yield Case("QuantizeLinear", f"{np.dtype(dtype).name} blocks {axis}",
                       [x, floats(*shape, low=0.01, high=0.1), integers(*shape, dtype=dtype)], 21, axis=axis,
                       block_size=size)
    yield Case("QuantizeLinear", "short last block", [floats(2, 7), floats(2, 3, low=0.01, high=0.1),
                                                      integers(2, 3, dtype=np.int8)], 21, axis=1, block_size=3)
    for name, element_type in FLOAT8.items():
        for saturate in (0, 1):
            yield Case("QuantizeLinear", f"{name} {saturate}", [EDGES[4:34], array(0.5), Coded(element_type, 0)], 19,
                       [FLOAT],
                       saturate=saturate)
        yield Case("QuantizeLinear", f"{name} rows", [x, floats(4, low=0.1, high=0.5), Coded(element_type, [0] * 4)],
                   21,
                   [FLOAT], axis=0)
    yield Case("QuantizeLinear", "half", [floats(4, 6, dtype=HALF), array(0.03, HALF), array(3, np.uint8)], 19)
    yield Case("QuantizeLinear", "int32", [integers(4, 6, low=-200, high=200, dtype=np.int32), array(2),
                                           array(3, np.int8)], 19)
    yield Case("QuantizeLinear", "precision", [x, array(0.03), array(3, np.uint8)], 23, precision=1)
    yield Case("QuantizeLinear", "float4", [x, array(0.5), Coded(messages.FLOAT4E2M1, 0)], 23, [FLOAT])


def dequantized():
    for opset, dtype in itertools.product((13, 19, 21, 25), (np.uint8, np.int8)):
        x = integers(4, 6, low=0, high=100, dtype=dtype)
        name = np.dtype(dtype).name
        yield Case("DequantizeLinear", name, [x, array(0.03), array(3, dtype)], opset)
        yield Case("DequantizeLinear", name + " columns", [x, floats(6), integers(6, dtype=dtype)], opset)
        yield Case("DequantizeLinear", name + " rows", [x, floats(4), integers(4, dtype=dtype)], opset, axis=0)
    yield Case("DequantizeLinear", "int32", [integers(3, 4, low=-1000, high=1000, dtype=np.int32), array(0.01)], 21)
    yield Case("DequantizeLinear", "half scale", [integers(3, 4, dtype=np.int8), array(0.01, HALF), array(2, np.int8)],
               21)
    for dtype in (np.uint16, np.int16):
        yield Case("DequantizeLinear", np.dtype(dtype).name, [integers(3, 4, high=30000, dtype=dtype), array(0.01),
                                                              array(1000, dtype)], 21)
    for opset, _, name, element_type in PACKED:
        x = codes(element_type, 3, 5)
        yield Case("DequantizeLinear", name, [x, array(0.3), codes(element_type)], opset)
        yield Case("DequantizeLinear", name + " no zero point", [x, array(0.3)], opset)
        yield Case("DequantizeLinear", name + " rows", [x, floats(3), codes(element_type, 3)], opset, axis=0)
        yield Case("DequantizeLinear", name + " blocks", [codes(element_type, 3, 9), floats(3, 3),
                                                          codes(element_type, 3, 3)],
                   opset, axis=1, block_size=3)
        yield Case("DequantizeLinear", name + " blocks half", [codes(element_type, 3, 9), floats(3, 3, dtype=HALF)],
                   opset, axis=1, block_size=3)
        yield Case("DequantizeLinear", name + " blocks of rows", [codes(element_type, 5, 3), floats(2, 3)], opset,
                   axis=0, block_size=3)
    for axis, shape, size in ((0, (2, 6, 4), 2), (1, (4, 2, 4), 3), (2, (4, 6, 2), 2), (-2, (4, 3, 4), 2)):
        yield Case("DequantizeLinear", f"blocks {axis}", [integers(4, 6, 4, dtype=np.uint8), floats(*shape),
                                                          integers(*shape, dtype=np.uint8)], 21, axis=axis,
                                                          block_size=size)
    for name, element_type in FLOAT8.items():
        x = Coded(element_type, np.arange(0, 256, 5)[:48].reshape(4, 12))
        yield Case("DequantizeLinear", name, [x, array(0.5)], 19)
        yield Case("DequantizeLinear", name + " rows", [x, floats(4)], 21, axis=0)
    yield Case("DequantizeLinear", "half out", [integers(3, 4, dtype=np.int8), array(0.01)], 23, output_dtype=FLOAT16)


def dynamic():
    for name, x in (("", floats(3, 7)), (" positive", floats(3, 7, low=1, high=3)),
                    (" negative", floats(5, low=-3, high=-1)),
                    (" of zeros", array([0, 0]))):
        yield Case("DynamicQuantizeLinear", "plain" + name, [x], 11, 3)
    a = integers(2, 3, 4, high=255, dtype=np.uint8)
    for dtype in (np.uint8, np.int8):
        b = integers(4, 5, low=0, high=127, dtype=dtype)
        name = np.dtype(dtype).name
        yield Case("MatMulInteger", name, [a, b], 10)
        yield Case("MatMulInteger", name + " zero points", [a, b, array(100, np.uint8), array(7, dtype)], 10)
        yield Case("MatMulInteger", name + " columns", [a, b, array(100, np.uint8), integers(5, dtype=dtype)], 10)
        yield Case("QLinearMatMul", name, [a, array(0.02), array(100, np.uint8), b, array(0.03), array(7, dtype),
                                           array(0.4),
                                           array(90, np.uint8)], 10)
        yield Case("QLinearMatMul", name + " columns", [a, array(0.02), array(100, np.uint8), b,
                                                        floats(5, low=0.01, high=0.05),
                                                        integers(5, dtype=dtype), array(0.4), array(90, np.uint8)], 21)


INTS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def integer_arithmetic():
    for dtype in INTS:
        name = np.dtype(dtype).name
        low = -20 if np.dtype(dtype).kind == "i" else 0
        a, b = integers(3, 4, low=low, high=60, dtype=dtype), integers(4, low=1, high=7, dtype=dtype)
        for op_type in ("Add", "Sub", "Mul", "Div"):
            yield Case(op_type, name, [a, b], 14)
        yield Case("Mod", name, [a, b], 13)
        yield Case("Mod", name + " as in C", [a, b], 13, fmod=1)
        for op_type in ("Max", "Min"):
            yield Case(op_type, name, [a, b, integers(1, dtype=dtype)], 13)
        for op_type in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            yield Case(op_type, name, [a, b], 18)
        yield Case("BitwiseNot", name, [a], 18)
        if np.dtype(dtype).kind == "u":
            for direction in ("LEFT", "RIGHT"):
                yield Case("BitShift", f"{name} {direction}", [a, integers(4, high=5, dtype=dtype)], 11,
                           direction=direction)
        if dtype in (np.int32, np.int64):
            for other in (np.int32, np.float32):
                yield Case("Pow", f"{name} {np.dtype(other).name}", [integers(4, low=-3, high=4, dtype=dtype),
                                                                     array([0, 1, 2, 3], other)], 15)
    for low in (-5, 5):
        b = array(low)
        yield Case("Mod", f"float {low}", [floats(7, low=-30, high=30), b], 13, fmod=1)
        yield Case("Mod", f"signs {low}", [array([-7, -5, -3, 0, 3, 5, 7], np.int32), array(low, np.int32)], 13)
    yield Case("Pow", "float", [floats(5, low=0), floats(5)], 15)
    yield Case("Pow", "negative base", [array([-2, -2, -8, 0, 0]), array([2, 3, 0.5, 0, -1])], 15)
    yield Case("Div", "signs", [array([-7, 7, -7, 7], np.int32), array([2, -2, -2, 2], np.int32)], 14)
    for op_type in ("Sum", "Mean", "Max", "Min"):
        yield Case(op_type, "of three", [floats(2, 1, 3), floats(4, 1), floats(1)], 13)
        yield Case(op_type, "of one", [floats(2, 3)], 13)
    yield Case("Max", "not a number", [array([1, np.nan, 3]), array([2, 2, np.nan])], 13)
    yield Case("Min", "not a number", [array([1, np.nan, 3]), array([2, 2, np.nan])], 13)


def comparisons():
    a, b = array([1, 2, np.nan, np.inf, -np.inf]), array([1, 3, np.nan, np.inf, 0])
    for op_type, opset in (("Equal", 19), ("Less", 13), ("Greater", 13), ("LessOrEqual", 16), ("GreaterOrEqual", 16)):
        yield Case(op_type, "edges", [a, b], opset)
        yield Case(op_type, "broadcast", [integers(3, 1, 4), integers(2, 1)], opset)
    yield Case("Equal", "texts", [np.array(["a", "b", ""], object), np.array(["a", "B", ""], object)], 19)
    yield Case("Equal", "flags", [flags(5), flags(5)], 19)
    for dtype in (np.float32, HALF, DOUBLE):
        x = array([-np.inf, -1, np.nan, 0, np.inf], dtype)
        name = np.dtype(dtype).name
        yield Case("IsNaN", name, [x], 20)
        for positive, negative in itertools.product((0, 1), (0, 1)):
            yield Case("IsInf", f"{name} {positive} {negative}", [x], 20, detect_positive=positive,
                       detect_negative=negative)
    for name, element_type in FLOAT8.items():
        yield Case("IsNaN", name, [Coded(element_type, np.arange(256))], 20)
        yield Case("IsInf", name, [Coded(element_type, np.arange(256))], 20)
    for op_type in ("And", "Or", "Xor"):
        yield Case(op_type, "broadcast", [flags(3, 1), flags(4)], 7)
    yield Case("Where", "broadcast", [flags(3, 1), floats(4), floats(2, 1, 1)], 16)
    yield Case("Where", "texts", [flags(3), np.array(["a", "b", "c"], object), np.array(["d"], object)], 16)
