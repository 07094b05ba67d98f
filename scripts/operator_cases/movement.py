"""Operators that move elements: gather, scatter, slices, shapes."""

import itertools

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs

HALF, DOUBLE = np.float16, np.float64


def cases():
    yield from scattered()
    yield from gathered()
    yield from split()
    yield from sliced()
    yield from shaped()


def scattered():
    for reduction in ("none", "add", "mul", "max", "min"):
        for opset in (16, 18):
            if opset == 16 and reduction in ("max", "min"):
                continue
            for axis in (0, 1, -1):
                yield Case("ScatterElements", f"{reduction} {axis}",
                           [floats(4, 5), array([[0, 2, 1, -1, 3], [1, 3, 0, 2, -3]], np.int64), floats(2, 5)], opset,
                           reduction=reduction, axis=axis)
            yield Case("ScatterND", f"{reduction} rows", [floats(4, 5), array([[1], [3], [0]], np.int64), floats(3, 5)],
                       opset,
                       reduction=reduction)
            yield Case("ScatterND", f"{reduction} elements", [floats(3, 4), array([[0, 1], [2, -1], [-3, 2]], np.int64),
                                                              floats(3)], opset, reduction=reduction)
        if reduction != "none":
            yield Case("ScatterElements", f"{reduction} same place", [floats(1, 4), longs(1, 1, 1, -1).reshape(1, 4),
                                                                      floats(1, 4)], 18, reduction=reduction, axis=1)
            yield Case("ScatterND", f"{reduction} same place", [floats(4), array([[1], [1], [3]], np.int64),
                                                                floats(3)], 18,
                       reduction=reduction)
        for dtype in (np.int32, np.int64, np.uint8, HALF, DOUBLE):
            x = (floats(4, dtype=dtype) if np.dtype(dtype).kind == "f" else integers(4, dtype=dtype))
            updates = (floats(2, dtype=dtype) if np.dtype(dtype).kind == "f" else integers(2, dtype=dtype))
            yield Case("ScatterElements", f"{reduction} {np.dtype(dtype).name}", [x, longs(2, 0), updates], 18,
                       reduction=reduction)
            yield Case("ScatterND", f"{reduction} {np.dtype(dtype).name}", [x, longs(2, 0).reshape(2, 1), updates], 18,
                       reduction=reduction)
    yield Case("ScatterElements", "max of no number", [array([1, np.nan, 3]), longs(0, 1, 2), array([np.nan, 5, 5])],
               18,
               reduction="max")
    yield Case("ScatterElements", "flags", [flags(4), longs(1, 2), flags(2)], 18)
    yield Case("ScatterElements", "texts", [np.array(["a", "b", "c"], object), longs(1), np.array(["x"], object)], 18)
    yield Case("ScatterElements", "out of range", [floats(4), longs(4), floats(1)], 18, is_valid=False)
    yield Case("ScatterND", "nothing", [floats(4, 5), np.zeros((0, 1), np.int64), floats(0, 5)], 18)
    yield Case("ScatterND", "out of range", [floats(4), array([[4]], np.int64), floats(1)], 18, is_valid=False)


def gathered():
    x = floats(3, 4, 5)
    for axis in (0, 1, -1):
        yield Case("Gather", f"matrix {axis}", [x, array([[0, 2], [-1, 1]], np.int64)], 13, axis=axis)
        yield Case("Gather", f"scalar {axis}", [x, array(-2, np.int32)], 13, axis=axis)
        yield Case("Gather", f"nothing {axis}", [x, longs()], 13, axis=axis)
        yield Case("GatherElements", f"{axis}", [x, integers(2, 3, 2, low=-3, high=3)], 13, axis=axis)
    yield Case("GatherElements", "texts", [np.array([["a", "b"], ["c", "d"]], object),
                                           array([[1, 0], [0, -1]], np.int64)], 13,
               axis=1)
    for batch, indices in ((0, [[0, 1], [2, -1]]), (0, [[[1]], [[2]]]), (1, [[1, 2], [0, 3], [-1, -1]]), (2, None)):
        given = integers(3, 4, 1, low=-5, high=5) if indices is None else array(indices, np.int64)
        yield Case("GatherND", f"{batch} {np.ndim(indices)}", [x, given], 13, batch_dims=batch)
    yield Case("Gather", "out of range", [x, longs(3)], 13, is_valid=False)


def split():
    x = floats(7, 3)
    for opset, parts in ((13, [3, 4]), (18, [2, 0, 5])):
        yield Case("Split", f"into {len(parts)}", [x, longs(*parts)], opset, len(parts), axis=0)
    for parts, axis in ((2, 0), (3, 0), (4, 0), (7, 0), (3, 1), (2, -1)):
        yield Case("Split", f"{parts} {axis}", [x], 18, parts, axis=axis, num_outputs=parts)
    yield Case("Split", "evenly", [floats(6, 2)], 13, 3)
    yield Case("Split", "texts", [np.array(["a", "b", "c"], object)], 18, 2, num_outputs=2)
    yield Case("Split", "wrong sum", [x, longs(3, 3)], 18, 2, is_valid=False)


def sliced():
    x = floats(5, 6, 4)
    largest = 2**63 - 1
    for name, starts, ends, axes, steps in (
            ("plain", [1, 0], [4, 3], None, None), ("negative", [-3], [-1], [1], [1]),
            ("backward", [4], [-7], [0], [-2]),
            ("all backward", [-1, -1], [-largest, -largest], [0, 2], [-1, -3]), ("beyond", [-100, 2], [largest, 100],
                                                                                 [2, 1],
                                                                                 [3, 2]),
            ("nothing", [3], [3], [0], [1]), ("nothing backward", [0], [3], [0], [-1]),
            ("beyond end", [10], [20], [1], [1])):
        given = [x, longs(*starts), longs(*ends), axes and longs(*axes), steps and longs(*steps)]
        yield Case("Slice", name, given, 13)
    yield Case("Slice", "int32", [x, array([1], np.int32), array([3], np.int32), array([-1], np.int32)], 13)
    yield Case("Slice", "texts", [np.array(["a", "b", "c"], object), longs(2), longs(0), longs(0), longs(-1)], 13)
    for batch, time in ((1, 0), (0, 1)):
        yield Case("ReverseSequence", f"{batch}", [floats(4, 4, 2), longs(1, 4, 2, 3)], 10, batch_axis=batch,
                   time_axis=time)


def shaped():
    x = floats(2, 3, 4)
    for name, target, zero in (("0 is kept", [0, -1], 0), ("0 is 0", [0, 3, 4], 1), ("copy", [0, 0, -1], 0),
                               ("flat", [-1], 0)):
        given = floats(0, 3, 4) if zero else x
        yield Case("Reshape", name, [given, longs(*target)], 21, allowzero=zero)
    yield Case("Reshape", "wrong count", [x, longs(5, -1)], 21, is_valid=False)
    for start, end in ((0, None), (1, None), (-1, None), (0, -1), (-2, 2), (2, 1), (-100, 100)):
        yield Case("Shape", f"{start} {end}", [x], 15, start=start, end=end)
    yield Case("Size", "plain", [x], 13)
    for axis in (0, 1, 3, -1):
        yield Case("Flatten", f"{axis}", [x], 21, axis=axis)
    yield Case("Squeeze", "all", [floats(1, 3, 1)], 21)
    yield Case("Squeeze", "axis", [floats(1, 3, 1), longs(-1)], 21)
    yield Case("Unsqueeze", "axes", [x, longs(4, 0)], 21)
    yield Case("Unsqueeze", "negative axes", [x, longs(-1, -5)], 21)
    for perm in itertools.permutations(range(3)):
        yield Case("Transpose", "".join(map(str, perm)), [x], 21, perm=list(perm))
    yield Case("Transpose", "reversed", [floats(2, 3, 4, 5)], 21)
    yield Case("Expand", "more dimensions", [floats(3, 1), longs(2, 1, 6)], 13)
    yield Case("Expand", "smaller shape", [floats(3, 4), longs(1)], 13)
    yield Case("Tile", "plain", [x, longs(1, 2, 3)], 13)
    yield Case("Tile", "nothing", [x, longs(1, 0, 3)], 13)
    for axis in (0, 1, -1):
        yield Case("Concat", f"{axis}", [floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 4)], 13, axis=axis)
    yield Case("Concat", "with nothing", [floats(2, 0), floats(2, 3)], 13, axis=1)
    for mode in ("DCR", "CRD"):
        yield Case("DepthToSpace", mode, [floats(1, 8, 2, 3)], 13, blocksize=2, mode=mode)
    yield Case("SpaceToDepth", "plain", [floats(1, 2, 4, 6)], 13, blocksize=2)
    yield Case("ConstantOfShape", "value", [longs(2, 3)], 21, value=longs(5))
    yield Case("ConstantOfShape", "default", [longs()], 21)
    yield Case("Identity", "texts", [np.array(["a"], object)], 21)
