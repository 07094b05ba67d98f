"""Operators of com.microsoft on quantised numbers that are not in microsoft.py: 16 and 4 bits, blocks, recurrence."""

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs
from operator_cases.messages import INT4, UINT4, Coded
from operator_cases.microsoft import TYPES, bytes_of, quantized

UINT8, INT8, UINT16, INT16, INT32 = np.uint8, np.int8, np.uint16, np.int16, np.int32


def case(op_type, name, inputs, outputs=1, **given):
    return Case(op_type, name, inputs, 21, outputs, domain="com.microsoft", version=1, **given)


def codes(element_type, *shape):
    """All numbers of 4 bits, again and again."""
    return Coded(element_type, (np.arange(np.prod(shape)) * 7 % 16).astype(UINT8).reshape(shape))


def cases():
    yield from linear()
    yield from gathers()
    yield from recurrent()
    yield from attentions()
    yield from choices()


def linear():
    for dtype, zero_point in ((UINT16, 30011), (INT16, -77), (UINT8, 100), (INT8, -7)):
        kind = np.dtype(dtype).name
        scale = 0.0017 if np.dtype(dtype).itemsize == 2 else 0.31
        x, q = floats(3, 41, low=-90, high=90), bytes_of(dtype, 3, 41)
        yield case("QuantizeLinear", kind, [x, array(scale), array(zero_point, dtype)])
        yield case("DequantizeLinear", kind, [q, array(scale), array(zero_point, dtype)])
        zero_points = np.array([zero_point, 0, 5], dtype)
        yield case("QuantizeLinear", f"{kind} axis", [x, floats(3, low=0.1, high=0.3), zero_points], axis=0)
        yield case("DequantizeLinear", f"{kind} axis", [q, floats(3, low=0.1, high=0.3), zero_points], axis=0)
    yield case("DequantizeLinear", "int32", [integers(3, 5, low=-9999, high=9999, dtype=INT32), array(0.01)])
    for element_type, kind, cast in ((UINT4, "uint4", 2), (INT4, "int4", 3)):
        x = floats(3, 41, low=-3, high=3)
        yield case("QuantizeLinear", kind, [x, array(0.3), Coded(element_type, np.array(5, UINT8))], [cast])
        yield case("QuantizeLinear", f"{kind} axis", [x, floats(3, low=0.1, high=0.3), codes(element_type, 3)],
                   [cast], axis=0)
        q = codes(element_type, 3, 41)
        yield case("DequantizeLinear", kind, [q, array(0.3), Coded(element_type, np.array(5, UINT8))])
        yield case("DequantizeLinear", f"{kind} axis", [q, floats(3, low=0.1, high=0.3), codes(element_type, 3)],
                   axis=0)


def gathers():
    indices = longs(2, 0, -1, 2)
    for axis, shape in ((0, (5, 40)), (0, (5, 3, 33))):
        blocks = (*shape[:-1], -(-shape[-1] // 16))
        given = {"gather_axis": axis, "quantize_axis": len(shape) - 1, "block_size": 16}
        name = "x".join(map(str, shape))
        for element_type, kind in ((UINT4, "uint4"), (INT4, "int4")):
            inputs = [codes(element_type, *shape), indices, floats(*blocks, low=0.01, high=0.1)]
            yield case("GatherBlockQuantized", f"{kind} {name}", inputs, constant=(0, 2), **given)
            yield case("GatherBlockQuantized", f"{kind} {name} zero points", [*inputs, codes(element_type, *blocks)],
                       constant=(0, 2), **given)
        yield case("GatherBlockQuantized", f"bytes {name}",
                   [bytes_of(UINT8, *shape), indices, floats(*blocks, low=0.01, high=0.1), bytes_of(UINT8, *blocks)],
                   constant=(0, 2, 3), bits=8, **given)
    packed = {"gather_axis": 0, "quantize_axis": 1, "block_size": 16, "constant": (0, 2, 3)}
    halves = [bytes_of(UINT8, 5, 32), np.array([[1, 4], [0, 3]], INT32), floats(5, 4, low=0.01, high=0.1)]
    yield case("GatherBlockQuantized", "pairs", halves, **packed)
    yield case("GatherBlockQuantized", "pairs zero points", [*halves, bytes_of(UINT8, 5, 2)], **packed)
    yield case("GatherBlockQuantized", "columns",
               [codes(INT4, 4, 32), longs(3, 1), floats(1, 32, low=0.01, high=0.1)], constant=(0, 2), gather_axis=1,
               quantize_axis=0, block_size=16)


def recurrent():
    for dtype, zero_point in ((UINT8, 120), (INT8, 3)):
        for direction in ("forward", "reverse", "bidirectional"):
            directions = 2 if direction == "bidirectional" else 1
            weights = [bytes_of(dtype, directions, 6, 20), bytes_of(dtype, directions, 5, 20)]
            scales = [floats(directions, low=0.003, high=0.01), np.full(directions, zero_point, dtype)] * 2
            kind = f"{np.dtype(dtype).name} {direction}"
            given = {"hidden_size": 5, "direction": direction, "constant": (1, 2, 8, 9, 10, 11)}
            yield case("DynamicQuantizeLSTM", kind, [floats(4, 3, 6), *weights, *[None] * 5, *scales], 3, **given)
            states = [floats(directions, 3, 5), floats(directions, 3, 5)]
            for name, lengths in (("states", None), ("lengths", np.array([4, 2, 3], INT32))):
                yield case("DynamicQuantizeLSTM", f"{kind} {name}",
                           [floats(4, 3, 6), *weights, floats(directions, 40), lengths, *states, None, *scales], 3,
                           **given)
            # ONNX Runtime takes columns of int8 without zero points only.
            columns = [floats(directions, 20, low=0.003, high=0.01),
                       np.full((directions, 20), zero_point if dtype == UINT8 else 0, dtype)] * 2
            yield case("DynamicQuantizeLSTM", f"{kind} columns",
                       [floats(4, 3, 6), *weights, floats(directions, 40), *[None] * 4, *columns], 3, **given)


def attentions():
    hidden, heads = 24, 4
    past = floats(2, 2, heads, 3, hidden // heads)
    for w_type, zero_point in ((INT8, 3), (UINT8, 130)):
        base = [bytes_of(UINT8, 2, 5, 16), bytes_of(w_type, 16, 3 * hidden), floats(3 * hidden), array(0.02)]
        points = [array(115, UINT8), array(zero_point, w_type)]

        def attention(name, scale, mask, points, past=(), outputs=1, **given):
            return case("QAttention", f"{np.dtype(w_type).name} {name}", [*base, scale, mask, *points, *past], outputs,
                        constant=(1, 2, 3, 4, 6, 7), num_heads=heads, **given)

        yield attention("plain", array(0.01), None, points)
        yield attention("causal", array(0.01), None, points, unidirectional=1)
        yield attention("key lengths", array(0.01), np.array([3, 5], INT32), points)
        yield attention("mask", array(0.01), np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], INT32), points)
        yield attention("past", array(0.01), None, points, [past], 2)
        yield attention("columns", floats(3 * hidden, low=0.005, high=0.02), None,
                        [points[0], np.full(3 * hidden, zero_point, w_type)])


def choices():
    for dtype, first, second, third in TYPES:
        kind = np.dtype(dtype).name
        for name, condition, x, y in (("same", (3, 35), (3, 35), (3, 35)), ("row", (3, 1), (35,), (3, 35)),
                                      ("scalar", (2, 3, 7), (), (3, 7))):
            yield case("QLinearWhere", f"{kind} {name}",
                       [flags(*condition), bytes_of(dtype, *x), *quantized(dtype, 0.0317, first), bytes_of(dtype, *y),
                        *quantized(dtype, 0.0203, second), *quantized(dtype, 0.0413, third)])
        yield case("QLinearReduceMean", kind, [bytes_of(dtype, 3, 4, 9), *quantized(dtype, 0.0317, first),
                                               *quantized(dtype, 0.0203, second)], axes=[0, 2], keepdims=0)
