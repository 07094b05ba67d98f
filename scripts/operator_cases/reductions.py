"""Reductions, ArgMax, TopK, Unique and the like."""

import itertools

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs

HALF, DOUBLE = np.float16, np.float64
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare")


def cases():
    yield from reduced()
    yield from chosen()


def reduced():
    for op_type in REDUCTIONS:
        x = floats(2, 3, 4, low=0.1 if op_type == "ReduceLogSum" else -2, high=2)
        old = 11 if op_type == "ReduceSum" else 13
        now = 20 if op_type in ("ReduceMax", "ReduceMin") else 13 if op_type == "ReduceSum" else 18
        for keep in (0, 1):
            yield Case(op_type, f"all {keep}", [x], old, keepdims=keep)
            yield Case(op_type, f"axes {keep}", [x], old, keepdims=keep, axes=[0, -1])
            for axes in ((1,), (-1,), (0, 2), (-2, 0), (0, 1, 2)):
                yield Case(op_type, f"axes {' '.join(map(str, axes))} {keep}", [x, longs(*axes)], now, keepdims=keep)
            yield Case(op_type, f"no axes {keep}", [x, longs()], now, keepdims=keep)
            yield Case(op_type, f"no axes input {keep}", [x], now, keepdims=keep)
            yield Case(op_type, f"empty {keep}", [floats(2, 0, 3), longs(1)], now, keepdims=keep)
        yield Case(op_type, "noop", [x, longs()], now, noop_with_empty_axes=1)
        yield Case(op_type, "noop without axes", [x], now, noop_with_empty_axes=1)
        yield Case(op_type, "scalar", [array(0.7)], now)
        yield Case(op_type, "int32", [integers(3, 4, low=1, high=5, dtype=np.int32), longs(0)], now)
        yield Case(op_type, "int64", [integers(3, 4, low=1, high=5), longs(1)], now)
        yield Case(op_type, "double", [floats(3, 4, low=0.1, dtype=DOUBLE), longs(1)], now)
        yield Case(op_type, "half", [floats(3, 4, low=0.1, dtype=HALF), longs(1)], now)
        yield Case(op_type, "constant axes", [x, longs(2, 0)], now, constant=(1,))
    for op_type in ("ReduceMax", "ReduceMin"):
        for dtype in (np.uint8, np.int8):
            yield Case(op_type, np.dtype(dtype).name, [integers(3, 4, high=100, dtype=dtype), longs(0)], 20)
        yield Case(op_type, "flags", [flags(3, 4), longs(1)], 20)
        yield Case(op_type, "infinities", [array([[np.inf, 1], [-np.inf, 2]]), longs(1)], 20)
        yield Case(op_type, "empty integers", [integers(0, 3, dtype=np.int32), longs(0)], 20)
    yield Case("ReduceLogSumExp", "large", [array([[1000, 1001], [-1000, -1001]]), longs(1)], 18)
    yield Case("ReduceLogSumExp", "infinities", [array([[np.inf, 1], [-np.inf, -np.inf]]), longs(1)], 18)


def chosen():
    x = array([[3, 1, 3, 2], [0, 0, 0, 0], [np.inf, 5, np.inf, -1]])
    for op_type, last, keep, axis in itertools.product(("ArgMax", "ArgMin"), (0, 1), (0, 1), (0, 1, -1)):
        yield Case(op_type, f"{last} {keep} {axis}", [x], 13, select_last_index=last, keepdims=keep, axis=axis)
    for dtype in (np.uint8, np.int8, np.int32, DOUBLE, HALF):
        name = np.dtype(dtype).name
        y = integers(3, 7, low=0, high=9, dtype=dtype) if np.dtype(dtype).kind != "f" else floats(3, 7, dtype=dtype)
        yield Case("ArgMax", name, [y], 13, axis=1)
        for largest in (0, 1):
            for opset in (11, 24):
                yield Case("TopK", f"{name} {largest}", [y, longs(3)], opset, 2, largest=largest)
    for largest, axis, k in itertools.product((0, 1), (0, 1, -1), (1, 3)):
        yield Case("TopK", f"{largest} {axis} {k}", [floats(3, 4, 5), longs(k)], 24, 2, axis=axis, largest=largest)
        yield Case("TopK", f"ties {largest} {axis} {k}", [integers(4, 5, 5, high=3), longs(k)], 24, 2, axis=axis,
                   largest=largest)
    yield Case("TopK", "none", [floats(3, 4), longs(0)], 24, 2)
    yield Case("TopK", "all", [floats(3, 40), longs(40)], 24, 2)
    yield Case("TopK", "too many", [floats(3, 4), longs(5)], 24, 2, is_valid=False)
    texts = np.array(["b", "a", "b", "c", "a"], object)
    for is_sorted in (0, 1):
        yield Case("Unique", f"line {is_sorted}", [integers(9, high=4)], 11, 4, sorted=is_sorted)
        yield Case("Unique", f"flattened {is_sorted}", [integers(3, 4, high=5).make("flat").astype(np.float32)], 11, 4,
                   sorted=is_sorted)
        yield Case("Unique", f"rows {is_sorted}", [integers(6, 2, high=2)], 11, 4, sorted=is_sorted, axis=0)
        yield Case("Unique", f"columns {is_sorted}", [integers(2, 6, high=2)], 11, 4, sorted=is_sorted, axis=-1)
        yield Case("Unique", f"planes {is_sorted}", [integers(2, 4, 2, high=2)], 11, 4, sorted=is_sorted, axis=1)
        yield Case("Unique", f"texts {is_sorted}", [texts], 11, 4, sorted=is_sorted)
    for name, given in (("flags", flags(3, 4)), ("floats", array([[0, -0.0], [np.nan, 2]])),
                        ("line", longs(0, 3, 0, 4)),
                        ("scalar", array(2)), ("empty", floats(0, 3))):
        yield Case("NonZero", name, [given], 13)
    for name, given in (("floats", [floats(3, 4), flags(4)]), ("short", [floats(3, 4), flags(2)])):
        yield Case("Compress", name, given, 11, axis=1)
    yield Case("Compress", "flattened", [floats(3, 4), flags(12)], 11)
    yield Case("EyeLike", "above", [integers(3, 5, dtype=np.int32)], 22, k=1, dtype=1)
    yield Case("EyeLike", "below", [floats(5, 3)], 22, k=-2)
    for upper, k in itertools.product((0, 1), (None, -1, 0, 1, 7, -7)):
        given = [floats(2, 3, 4)] if k is None else [floats(2, 3, 4), array(k, np.int64)]
        yield Case("Trilu", f"{upper} {k}", given, 14, upper=upper)
    for axis in (-1, 0, 1):
        for dtype in (np.int32, np.float32):
            yield Case("OneHot", f"{axis} {np.dtype(dtype).name}", [integers(2, 3, low=-4,
                                                                             high=6).make("hot").astype(dtype),
                                                                    array(4, dtype), array([-1, 5])], 11, axis=axis)
    for start, limit, delta in ((0, 5, 1), (5, 0, -2), (0, 1, 0.3), (3, 3, 1), (3, 1, 1)):
        for dtype in (np.float32, np.int32):
            if delta != 0.3 or dtype == np.float32:
                yield Case("Range", f"{start} {limit} {delta} {np.dtype(dtype).name}",
                           [array(number, dtype) for number in (start, limit, delta)], 11)
