"""Products, losses and signals."""

import itertools

import numpy as np

from operator_cases.case import Case, array, floats, integers

HALF, DOUBLE = np.float16, np.float64


def cases():
    yield from products()
    yield from losses()
    yield from signals()


def products():
    for equation, shapes in (
            ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
            ("ii->i", [(3, 3)]),
            ("ii", [(3, 3)]), ("ij->", [(2, 3)]), ("ij->ji", [(2, 3)]), ("i,j->ij", [(2,), (3,)]),
            ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
            ("b...,b...->b", [(2, 3, 4), (2, 3, 4)]), ("i...->...", [(3, 2, 2)]), ("...i->...", [(2, 3)]),
            ("ij,ij->ij", [(2, 3), (2, 3)]),
            ("ij,kj,lk->il", [(2, 3), (4, 3), (2, 4)]), ("iij->ij", [(3, 3, 2)]),
            ("abc,cd,def->abef", [(2, 2, 3), (3, 2), (2, 2, 3)]),
            (" i j , j k -> k i ", [(2, 3), (3, 4)]), ("ab,ab,ab->a", [(2, 3)] * 3),
            ("iIj,jI->iI", [(2, 3, 4), (4, 3)])):
        yield Case("Einsum", equation.replace(" ", "_").replace(".", "o").replace(">", "").replace(",", "."),
                   [floats(*shape) for shape in shapes], 12, equation=equation)
    yield Case("Einsum", "int32", [integers(2, 3, dtype=np.int32), integers(3, dtype=np.int32)], 12, equation="ij,j->i")
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
                 ((3, 0), (0, 2))):
        yield Case("MatMul", f"{len(a)} {len(b)} {a[-1]}", [floats(*a), floats(*b)], 13)
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        yield Case("MatMul", np.dtype(dtype).name, [integers(2, 3, dtype=dtype), integers(3, 2, dtype=dtype)], 13)
    for a, b, c in itertools.product((0, 1), (0, 1), (None, (2, 4), (4,), (2, 1), ())):
        name = "none" if c is None else " ".join(map(str, c)) or "scalar"
        yield Case("Gemm", f"{a} {b} {name}", [floats(*((3, 2) if a else (2, 3))), floats(*((4, 3) if b else (3, 4))),
                                               None if c is None else floats(*c)][:2 if c is None else 3], 13,
                   transA=a, transB=b, alpha=0.5, beta=1.5)
    yield Case("Det", "batch", [floats(2, 3, 3)], 22)
    yield Case("Det", "singular", [np.ones((2, 2), np.float32)], 22)


def losses():
    for reduction, ignored, weighted in itertools.product(("none", "mean", "sum"), (None, 1, -1), (False, True)):
        weights = [floats(4, low=0.1)] if weighted else []
        name = f"{reduction} {ignored} {int(weighted)}"
        for form, shape in (("rows", (3,)), ("image", (3, 2, 2))):
            target = integers(*shape, high=4).make(name + form)
            if ignored == -1:
                target.flat[0] = -1
            x = floats(3, 4, *shape[1:])
            yield Case("NegativeLogLikelihoodLoss", f"{form} {name}", [x, target, *weights], 22, reduction=reduction,
                       ignore_index=ignored)
            yield Case("SoftmaxCrossEntropyLoss", f"{form} {name}", [x, target, *weights], 13, 2, reduction=reduction,
                       ignore_index=ignored)


def signals():
    for window, periodic, size in itertools.product(("Hann", "Hamming", "Blackman"), (0, 1), (1, 2, 7, 10)):
        yield Case(window + "Window", f"{periodic} {size}", [array(size, np.int64)], 17, periodic=periodic)
    yield Case("HannWindow", "double", [array(8, np.int32)], 17, output_datatype=11)
    for inverse, onesided, length in itertools.product((0, 1), (0, 1), (None, 4, 8)):
        for axis in (1, -2, 2):
            given = [array(length, np.int64) if length else None]
            if inverse and onesided:
                continue
            parts = 2 if inverse else 1
            x = floats(2, 6, 5, parts)
            yield Case("DFT", f"{inverse} {onesided} {length} axis {axis}", [x, *given, array(axis, np.int64)], 20,
                       inverse=inverse, onesided=onesided)
            if axis == 1:
                yield Case("DFT", f"{inverse} {onesided} {length}", [floats(2, 6, parts), *given], 17, inverse=inverse,
                           onesided=onesided, axis=1)
    yield Case("DFT", "complex", [floats(2, 7, 2)], 20)
    yield Case("DFT", "complex onesided", [floats(2, 6, 2)], 20, onesided=1, is_valid=False)
    yield Case("DFT", "prime", [floats(1, 13, 1)], 20)
    yield Case("DFT", "double", [floats(1, 9, 1, dtype=DOUBLE)], 20)
    yield Case("DFT", "inverse of onesided", [floats(1, 5, 2)], 20, inverse=1, onesided=1)
    for onesided in (0, 1):
        yield Case("STFT", f"window {onesided}", [floats(1, 24, 1), array(4, np.int64), floats(8)], 17,
                   onesided=onesided)
        yield Case("STFT", f"length {onesided}", [floats(2, 24, 1), array(3, np.int64), None, array(8, np.int64)], 17,
                   onesided=onesided)
    yield Case("STFT", "complex", [floats(1, 24, 2), array(4, np.int64), floats(8)], 17, onesided=0)
    for bins, length, rate, low, high in ((4, 16, 8000, 0.0, 4000.0), (8, 64, 16000, 100.0, 7000.0)):
        yield Case("MelWeightMatrix", f"{bins}", [array(bins, np.int64), array(length, np.int64), array(rate, np.int64),
                                                  array(low), array(high)], 17)
