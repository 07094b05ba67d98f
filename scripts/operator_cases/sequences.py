"""Operators on sequences and optional values, in chains that begin and end with tensors."""

import numpy as np

from operator_cases.case import Chain, array, floats, integers, longs, texts

THREE = ("SequenceConstruct", ["x0", "x1", "x2"], ["s"], {})


def three(same=True):
    return [floats(2, 3), floats(2 if same else 1, 3), floats(2 if same else 4, 3)]


def at(position):
    return array(position, np.int64)


def cases():
    for name, position in (("first", 0), ("last", -1), ("middle", 1)):
        yield Chain("SequenceAt", name, [*three(), at(position)], 17, [THREE, ("SequenceAt", ["s", "x3"], ["y0"], {})])
    yield Chain("SequenceAt", "int32", [*three(), array(2, np.int32)], 17, [THREE, ("SequenceAt", ["s", "x3"], ["y0"],
                                                                                    {})])
    yield Chain("SequenceAt", "out of range", [*three(), at(3)], 17, [THREE, ("SequenceAt", ["s", "x3"], ["y0"], {})],
                is_valid=False)
    yield Chain("SequenceLength", "three", three(False), 17, [THREE, ("SequenceLength", ["s"], ["y0"], {})])
    yield Chain("SequenceEmpty", "length", [floats(1)], 17,
                [("SequenceEmpty", [], ["s"], {"dtype": 7}), ("SequenceLength", ["s"], ["length"], {}),
                 ("Cast", ["length"], ["casted"], {"to": 1}), ("Add", ["casted", "x0"], ["y0"], {})])
    yield Chain("SequenceEmpty", "insert", [floats(2)], 17,
                [("SequenceEmpty", [], ["s"], {}), ("SequenceInsert", ["s", "x0"], ["t"], {}),
                 ("ConcatFromSequence", ["t"], ["y0"], {"axis": 0})])
    joined = ("ConcatFromSequence", ["t"], ["y0"], {"axis": 0})
    for position in (0, 1, 3, -1, -3):
        yield Chain("SequenceInsert", f"{position}", [*three(False), floats(5, 3), at(position)], 17,
                    [THREE, ("SequenceInsert", ["s", "x3", "x4"], ["t"], {}), joined])
    yield Chain("SequenceInsert", "at the end", [*three(False), floats(5, 3)], 17,
                [THREE, ("SequenceInsert", ["s", "x3"], ["t"], {}), joined])
    yield Chain("SequenceInsert", "out of range", [*three(False), floats(5, 3), at(4)], 17,
                [THREE, ("SequenceInsert", ["s", "x3", "x4"], ["t"], {}), joined], is_valid=False)
    for position in (0, 1, -1, -3):
        yield Chain("SequenceErase", f"{position}", [*three(False), at(position)], 17,
                    [THREE, ("SequenceErase", ["s", "x3"], ["t"], {}), joined])
    yield Chain("SequenceErase", "at the end", three(False), 17, [THREE, ("SequenceErase", ["s"], ["t"], {}), joined])
    for axis in (0, 1, -1):
        yield Chain("ConcatFromSequence", f"{axis}", three(), 17,
                    [THREE, ("ConcatFromSequence", ["s"], ["y0"], {"axis": axis})])
    for axis in (0, 1, 2, -1, -3):
        yield Chain("ConcatFromSequence", f"new {axis}", three(), 17,
                    [THREE, ("ConcatFromSequence", ["s"], ["y0"], {"axis": axis, "new_axis": 1})])
    yield Chain("ConcatFromSequence", "texts", [texts(["a"]), texts(["b", "c"])], 17,
                [("SequenceConstruct", ["x0", "x1"], ["s"], {}), ("ConcatFromSequence", ["s"], ["y0"], {"axis": 0})])
    for opset in (17, 24):
        for name, given, axis in (("by two", at(2), 0), ("by three", at(3), 1), ("by lengths", longs(1, 3, 1), 0),
                                  ("with nothing", longs(0, 5), 0)):
            for position in (0, -1):
                yield Chain("SplitToSequence", f"{name} {position}", [floats(5, 4), given, at(position)], opset,
                            [("SplitToSequence", ["x0", "x1"], ["s"], {"axis": axis}),
                             ("SequenceAt", ["s", "x2"], ["y0"], {}), ("SequenceLength", ["s"], ["y1"], {})], 2)
        for keep in (0, 1):
            yield Chain("SplitToSequence", f"one by one {keep}", [integers(3, 4), at(1)], opset,
                        [("SplitToSequence", ["x0"], ["s"], {"axis": 1, "keepdims": keep}),
                         ("SequenceAt", ["s", "x1"], ["y0"], {})])
    yield Chain("Optional", "has", [floats(2)], 18, [("Optional", ["x0"], ["o"], {}),
                                                     ("OptionalHasElement", ["o"], ["y0"], {})])
    yield Chain("Optional", "get", [floats(2)], 18, [("Optional", ["x0"], ["o"], {}),
                                                     ("OptionalGetElement", ["o"], ["y0"], {})])
    yield Chain("Optional", "of a sequence", three(), 18,
                [THREE, ("Optional", ["s"], ["o"], {}), ("OptionalGetElement", ["o"], ["t"], {}), joined])
    yield Chain("OptionalHasElement", "of a tensor", [floats(2)], 18, [("OptionalHasElement", ["x0"], ["y0"], {})])
    yield Chain("OptionalGetElement", "of a tensor", [floats(2)], 18, [("OptionalGetElement", ["x0"], ["y0"], {})])
