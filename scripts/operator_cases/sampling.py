"""Resize, GridSample, AffineGrid, Pad and CenterCropPad."""

import itertools

import numpy as np

from operator_cases import messages
from operator_cases.case import Case, array, flags, floats, integers, longs

HALF, DOUBLE = np.float16, np.float64


def cases():
    yield from resized()
    yield from sampled()
    yield from grids()
    yield from padded()


def resize(name, x, opset, roi=None, scales=None, sizes=None, **attributes):
    return Case("Resize", name, [x, roi, None if scales is None else array(scales),
                                 None if sizes is None else longs(*sizes)][:4 if sizes else 3], opset, **attributes)


def resized():
    image = floats(1, 2, 5, 6)
    transformations = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
    for mode, transformation in itertools.product(("nearest", "linear", "cubic"), transformations):
        given = {"mode": mode, "coordinate_transformation_mode": transformation}
        name = f"{mode} {transformation}"
        yield resize(name + " up", image, 19, scales=[1, 1, 1.7, 2.3], **given)
        yield resize(name + " down", image, 19, scales=[1, 1, 0.6, 0.55], **given)
        yield resize(name + " to", image, 19, sizes=[1, 2, 3, 9], **given)
        yield resize(name + " to one", image, 19, sizes=[1, 2, 1, 1], **given)
        if mode != "nearest":
            yield resize(name + " antialias down", image, 18, scales=[1, 1, 0.6, 0.45], antialias=1, **given)
            yield resize(name + " antialias to", image, 19, sizes=[1, 2, 2, 11], antialias=1, **given)
    for rounding, transformation in itertools.product(
            ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), ("half_pixel", "align_corners",
                                                                           "asymmetric")):
        for scale in (2.0, 1.5, 0.5, 0.7):
            yield resize(f"nearest {rounding} {transformation} {scale}", image, 13, scales=[1, 1, scale, scale],
                         mode="nearest", nearest_mode=rounding, coordinate_transformation_mode=transformation)
    for policy, mode in itertools.product(("stretch", "not_larger", "not_smaller"), ("nearest", "linear", "cubic")):
        yield resize(f"{policy} {mode}", image, 18, sizes=[7, 9], axes=[2, 3], mode=mode,
                     keep_aspect_ratio_policy=policy)
        yield resize(f"{policy} {mode} less", image, 19, sizes=[3, 4], axes=[3, 2], mode=mode,
                     keep_aspect_ratio_policy=policy)
    for mode in ("nearest", "linear", "cubic"):
        for extrapolation in (0.0, 10.0):
            yield resize(f"crop {mode} {extrapolation}", image, 19, array([0, 0, 0.4, -0.2, 1, 1, 0.9, 1.3]),
                         sizes=[1, 2, 4, 7], mode=mode, coordinate_transformation_mode="tf_crop_and_resize",
                         extrapolation_value=extrapolation)
        yield resize(f"crop axes {mode}", image, 18, array([0.4, 0.2, 0.6, 0.8]), sizes=[3, 3], axes=[2, 3], mode=mode,
                     coordinate_transformation_mode="tf_crop_and_resize")
        yield resize(f"axes {mode}", image, 18, scales=[1.6, 0.7], axes=[3, 2], mode=mode)
        yield resize(f"negative axes {mode}", image, 18, scales=[1.6, 0.7], axes=[-1, -2], mode=mode)
        for dtype in (np.uint8, np.int8, np.int32):
            yield resize(f"{np.dtype(dtype).name} {mode}", integers(1, 1, 4, 4, high=100, dtype=dtype), 19,
                         scales=[1, 1, 1.5, 2], mode=mode)
        yield resize(f"half {mode}", floats(1, 1, 4, 4, dtype=HALF), 19, scales=[1, 1, 1.5, 2], mode=mode)
    for a, outside in itertools.product((-0.75, -0.5), (0, 1)):
        for scale in (1.7, 0.6):
            yield resize(f"cubic {a} {outside} {scale}", image, 13, scales=[1, 1, scale, scale], mode="cubic",
                         cubic_coeff_a=a, exclude_outside=outside)
            yield resize(f"cubic {a} {outside} {scale} antialias", image, 18, scales=[1, 1, scale, scale],
                         mode="cubic", cubic_coeff_a=a, exclude_outside=outside, antialias=1)
    yield resize("line linear", floats(2, 3, 5), 19, scales=[1, 1, 1.5], mode="linear")
    yield resize("line alone", floats(5), 19, scales=[2.5], mode="linear")
    yield resize("volume linear", floats(1, 1, 3, 4, 3), 19, scales=[1, 1, 1.5, 2, 0.7], mode="linear")
    yield resize("volume nearest", floats(1, 1, 3, 4, 3), 19, scales=[1, 1, 1.5, 2, 0.7], mode="nearest")
    yield resize("volume cubic", floats(1, 1, 3, 4, 3), 19, scales=[1, 1, 1.5, 2, 0.7], mode="cubic")
    yield resize("channels last linear", floats(1, 4, 5, 3), 19, scales=[1, 1.5, 2, 1], mode="linear")
    yield resize("all axes linear", floats(2, 3, 4, 5), 19, scales=[1.5, 2, 1.5, 0.6], mode="linear")


def sampled():
    def case(name, x, grid, opset, **attributes):
        return Case("GridSample", name, [x, grid], opset, **attributes)

    image, places = floats(2, 3, 5, 6), floats(2, 4, 3, 2, low=-1.6, high=1.6)
    for mode, padding, aligned in itertools.product(
            ("nearest", "linear", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        given = {"padding_mode": padding, "align_corners": aligned}
        name = f"{mode} {padding} {aligned}"
        yield case(name, image, places, 20, mode=mode, **given)
        old = mode if mode == "nearest" else "bi" + mode
        yield case(name, image, places, 16, mode=old, **given)
        if mode != "cubic":
            yield case("volume " + name, floats(1, 2, 3, 4, 3), floats(1, 2, 3, 2, 3, low=-1.6, high=1.6), 20,
                       mode=mode,
                       **given)
            yield case("volume " + name, floats(1, 2, 3, 4, 3), floats(1, 2, 3, 2, 3, low=-1.6, high=1.6), 22,
                       mode=mode,
                       **given)
    yield case("volume cubic", floats(1, 2, 3, 4, 3), floats(1, 2, 3, 2, 3), 20, mode="cubic")
    yield case("double", floats(1, 2, 4, 4, dtype=DOUBLE), floats(1, 3, 3, 2, dtype=DOUBLE), 22)
    yield case("half", floats(1, 2, 4, 4, dtype=HALF), floats(1, 3, 3, 2, dtype=HALF, low=-1, high=1), 22)
    yield case("integers", integers(1, 2, 4, 4, dtype=np.int32), floats(1, 3, 3, 2), 22, mode="nearest")
    yield case("far away", image, floats(2, 4, 3, 2, low=-40, high=40), 20, padding_mode="reflection")
    yield case("line", floats(1, 2, 5), floats(1, 4, 1), 20)
    yield case("four dimensions", floats(1, 1, 2, 3, 2, 3), floats(1, 2, 1, 2, 2, 4, low=-1, high=1), 20)
    yield case("of flags", flags(1, 2, 4, 4), floats(1, 3, 3, 2, low=-1, high=1), 20, mode="nearest")


def grids():
    for aligned in (0, 1):
        yield Case("AffineGrid", f"image {aligned}", [floats(2, 2, 3), longs(2, 3, 4, 5)], 20, align_corners=aligned)
        yield Case("AffineGrid", f"volume {aligned}", [floats(2, 3, 4), longs(2, 3, 2, 4, 3)], 20,
                   align_corners=aligned)
        yield Case("AffineGrid", f"pixel {aligned}", [floats(1, 2, 3), longs(1, 1, 1, 1)], 20, align_corners=aligned)
        yield Case("AffineGrid", f"double {aligned}", [floats(1, 2, 3, dtype=DOUBLE), longs(1, 1, 3, 2)], 20,
                   align_corners=aligned)
    yield Case("AffineGrid", "half", [floats(1, 2, 3, dtype=HALF), longs(1, 1, 3, 2)], 20)
    for shape, target, axes in (((4, 5), (2, 3), None), ((4, 5), (7, 8), None), ((4, 5), (3, 8), None),
                                ((3, 4, 5), (6, 2), [1, 2]), ((3, 4, 5), (8,), [-2]), ((5, 4), (2, 7), [1, 0]),
                                ((3, 4), (3, 4), None), ((3, 4), (0, 4), None)):
        name = " ".join(str(number) for number in [*shape, "to", *target]) + (f" axes {axes[0]}" if axes else "")
        yield Case("CenterCropPad", name, [floats(*shape), longs(*target)], 18, axes=axes)
    yield Case("CenterCropPad", "integers", [integers(4, 3, dtype=np.int32), longs(5, 2)], 18)
    yield Case("CenterCropPad", "flags", [flags(4, 3), longs(5, 2)], 18)


def padded():
    def case(name, inputs, opset=21, **attributes):
        return Case("Pad", name, inputs, opset, **attributes)

    x = floats(3, 4, 5)
    listed = (("all", longs(0, 1, 2, 1, 2, 3)), ("crop", longs(0, -1, -2, 0, 0, 1)),
              ("crop more", longs(-1, 0, 2, 0, -2, -1)),
              ("none", longs(0, 0, 0, 0, 0, 0)))
    for mode, (name, pads) in itertools.product(("constant", "reflect", "edge", "wrap"), listed):
        for opset in (19, 21, 25):
            yield case(f"{mode} {name}", [x, pads], opset, mode=mode)
        yield case(f"{mode} {name} integers", [integers(3, 4, 5, dtype=np.int32), pads], mode=mode)
        yield case(f"{mode} {name} texts", [np.array([["a", "b", "c"]] * 2, object), longs(0, 1, 1, 1)], mode=mode)
        if mode != "wrap":
            for opset in (11, 13, 18):
                yield case(f"{mode} {name}", [x, pads], opset, mode=mode)
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield case(f"{mode} axes", [x, longs(1, 2, 3, 1), None, longs(2, 0)], mode=mode)
        yield case(f"{mode} negative axes", [x, longs(1, 2, 3, 1), None, array([-1, 1], np.int32)], 18 if mode != "wrap"
                   else 19, mode=mode)
        # 4-bit numbers: two lie in a byte.
        codes = messages.Coded(messages.INT4, np.arange(15).reshape(3, 5))
        yield case(f"{mode} of int4", [codes, longs(1, 2, 1, 3)], outputs=[1], mode=mode)
        codes = messages.Coded(messages.UINT4, np.arange(15).reshape(3, 5))
        yield case(f"{mode} of uint4", [codes, longs(1, 2, 1, 3)], 25, outputs=[1], mode=mode)
    yield case("constant value", [x, longs(1, 0, 1, 0, 1, 0), array(7)])
    yield case("value of axes", [x, longs(1, 1), array(7), longs(1)])
    yield case("reflect far", [floats(3), longs(5, 6)], mode="reflect")
    yield case("wrap far", [floats(3), longs(7, 8)], mode="wrap")
    yield case("edge far", [floats(3), longs(7, 8)], mode="edge")
    yield case("empty constant", [floats(0, 3), longs(1, 0, 1, 1)])
    yield case("wrap of nothing", [floats(0), longs(1, 1)], mode="wrap", is_valid=False)
    yield case("flags", [flags(2, 3), longs(0, 1, 1, 0), array(True, bool)])
