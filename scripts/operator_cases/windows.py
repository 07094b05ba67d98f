"""Operators that slide a window: pooling, convolution and their relatives."""

import itertools

import numpy as np

from operator_cases.case import Case, array, floats, integers, longs

HALF, DOUBLE = np.float16, np.float64


def cases():
    yield from pools()
    yield from convolutions()
    yield from transposed()
    yield from deformed()
    yield from columns()
    yield from regions()


def pools():
    line, image, volume = floats(2, 3, 13), floats(1, 2, 9, 11), floats(1, 2, 6, 7, 5)
    forms = (
        ("line", line, {"kernel_shape": [3]}),
        ("line strided", line, {"kernel_shape": [4], "strides": [3]}),
        ("image", image, {"kernel_shape": [3, 2]}),
        ("image strided", image, {"kernel_shape": [3, 3], "strides": [2, 3]}),
        ("image padded", image, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 2, 1]}),
        ("image ceil", image, {"kernel_shape": [3, 3], "strides": [2, 4], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
        ("image ceil beyond", image, {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1}),
        ("image same upper", image, {"kernel_shape": [3, 4], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        ("image same lower", image, {"kernel_shape": [3, 4], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        ("image valid", image, {"kernel_shape": [3, 4], "strides": [2, 2], "auto_pad": "VALID"}),
        ("image dilated", image, {"kernel_shape": [3, 2], "dilations": [2, 3]}),
        ("image dilated padded ceil", image, {"kernel_shape": [3, 3], "dilations": [2, 2], "strides": [2, 2],
                                              "pads": [2, 1, 1, 2], "ceil_mode": 1}),
        ("volume", volume, {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [1, 1, 0, 0, 1, 1]}),
        ("volume dilated", volume, {"kernel_shape": [2, 2, 2], "dilations": [2, 3, 1]}),
    )
    for name, x, attributes in forms:
        if name.startswith("image dilated") or "ceil" not in name:
            yield Case("LpPool", name, [x], 18, p=2, **attributes)
            yield Case("LpPool", name, [x], 22, p=1, **attributes)
        else:
            yield Case("LpPool", name, [x], 22, p=3, **attributes)
        yield Case("MaxPool", name, [x], 22, 2, **attributes)
        yield Case("MaxPool", name + " columns first", [x], 12, 2, storage_order=1, **attributes)
        for include in (0, 1):
            for opset in (19, 22):
                yield Case("AveragePool", f"{name} {include}", [x], opset, count_include_pad=include, **attributes)
    for dtype in (np.int8, np.uint8):
        yield Case("MaxPool", f"of {np.dtype(dtype).name}", [integers(1, 2, 5, 5, low=0, high=100, dtype=dtype)], 12,
                   kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    for dtype in (HALF, DOUBLE):
        x = floats(1, 2, 7, 7, dtype=dtype)
        for op_type in ("MaxPool", "AveragePool", "LpPool"):
            yield Case(op_type, f"of {np.dtype(dtype).name}", [x], 22, kernel_shape=[3, 3], strides=[2, 2])
    yield Case("MaxPool", "of no numbers", [array([[[np.nan, 1, 2, -np.inf, -np.inf, 3, np.nan]]])], 22,
               kernel_shape=[2])
    for shape in ((2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 4, 2)):
        for op_type in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"):
            yield Case(op_type, f"rank {len(shape)}", [floats(*shape)], 13)
    yield Case("GlobalLpPool", "p 3", [floats(2, 3, 4, 5)], 13, p=3)
    indices = array([[[[0, 3], [9, 14]]]], np.int64)
    yield Case("MaxUnpool", "image", [floats(1, 1, 2, 2), indices], 22, kernel_shape=[2, 2], strides=[2, 2])
    yield Case("MaxUnpool", "output shape", [floats(1, 1, 2, 2), indices, longs(1, 1, 5, 5)], 22, kernel_shape=[2, 2],
               strides=[2, 2])
    yield Case("MaxUnpool", "padded", [floats(1, 1, 2, 2), array([[[[0, 1], [4, 8]]]], np.int64)], 22,
               kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def convolutions():
    forms = (
        ("line", (2, 4, 11), (6, 4, 3), {}),
        ("line grouped", (2, 4, 11), (6, 2, 3), {"group": 2, "strides": [2], "pads": [1, 2]}),
        ("image", (1, 3, 8, 9), (4, 3, 3, 2), {}),
        ("image padded strided dilated", (1, 3, 10, 9), (4, 3, 3, 2),
         {"pads": [2, 1, 0, 3], "strides": [2, 3], "dilations": [2, 1]}),
        ("image depthwise", (2, 4, 8, 8), (8, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
        ("image same upper", (1, 2, 8, 9), (3, 2, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [3, 2]}),
        ("image same lower", (1, 2, 8, 9), (3, 2, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [3, 2]}),
        ("image valid", (1, 2, 8, 9), (3, 2, 4, 3), {"auto_pad": "VALID", "strides": [3, 2]}),
        ("volume", (1, 2, 5, 6, 4), (3, 2, 2, 3, 2), {"pads": [1, 0, 1, 0, 1, 1], "strides": [2, 1, 2]}),
        ("volume grouped dilated", (1, 4, 6, 6, 5), (4, 2, 2, 2, 2), {"group": 2, "dilations": [2, 3, 1]}),
    )
    for name, x, w, attributes in forms:
        yield Case("Conv", name, [floats(*x), floats(*w)], 22, **attributes)
        yield Case("Conv", name + " biased", [floats(*x), floats(*w), floats(w[0])], 22, **attributes)
        bytes_x = integers(*x, high=255, dtype=np.uint8)
        bytes_w = integers(*w, high=255, dtype=np.uint8)
        if len(x) == 4:
            yield Case("ConvInteger", name, [bytes_x, bytes_w, array(120, np.uint8), array(130, np.uint8)], 10,
                       **attributes)
            yield Case("QLinearConv", name,
                       [bytes_x, array(0.02), array(120, np.uint8), bytes_w, array(0.01), array(130, np.uint8),
                        array(0.3), array(100, np.uint8), integers(w[0], low=-500, high=500, dtype=np.int32)], 10,
                       **attributes)
    yield Case("QLinearConv", "a scale for each channel",
               [integers(1, 2, 5, 5, high=255, dtype=np.uint8), array(0.02), array(120, np.uint8),
                integers(3, 2, 3, 3, low=-128, high=128, dtype=np.int8), array([0.01, 0.02, 0.03]),
                array([0] * 3, np.int8),
                array(0.3), array(100, np.uint8)], 10)
    yield Case("Conv", "half", [floats(1, 3, 6, 6, dtype=HALF), floats(2, 3, 3, 3, dtype=HALF)], 22)
    yield Case("Conv", "double", [floats(1, 3, 6, 6, dtype=DOUBLE), floats(2, 3, 3, 3, dtype=DOUBLE)], 22)
    yield Case("Conv", "no images", [floats(0, 3, 6, 6), floats(2, 3, 3, 3)], 22)


def transposed():
    for strides, pads, extra, dilations in itertools.product(([1, 1], [2, 3]), ([0] * 4, [1, 0, 1, 2]),
                                                             ([0, 0], [1, 0]), ([1, 1], [2, 2])):
        if max(extra) >= max(*strides, *dilations):
            continue
        name = "-".join(str(number) for number in [*strides, *pads, *extra, *dilations])
        yield Case("ConvTranspose", name, [floats(1, 2, 4, 5), floats(2, 2, 3, 3), floats(2)], 22, strides=strides,
                   pads=pads, output_padding=extra, dilations=dilations)
    x, w = floats(1, 2, 4, 5), floats(2, 2, 3, 3)
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield Case("ConvTranspose", auto_pad, [x, w], 22, auto_pad=auto_pad, strides=[2, 3])
        yield Case("ConvTranspose", auto_pad + " even", [x, floats(2, 2, 4, 2)], 22, auto_pad=auto_pad, strides=[3, 1])
    for auto_pad in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
        for shape in ([8, 13], [9, 15], [7, 12]):
            yield Case("ConvTranspose", f"{auto_pad} to {shape[0]} {shape[1]}", [x, w], 22, auto_pad=auto_pad,
                       strides=[2, 3], output_shape=shape)
    yield Case("ConvTranspose", "to more by padding", [x, w], 22, strides=[2, 3], output_shape=[10, 16],
               output_padding=[1, 1])
    yield Case("ConvTranspose", "line", [floats(2, 2, 5), floats(2, 3, 3)], 22, strides=[2])
    yield Case("ConvTranspose", "grouped", [floats(1, 4, 4, 4), floats(4, 3, 2, 2), floats(6)], 22, group=2)
    yield Case("ConvTranspose", "depthwise", [floats(1, 4, 4, 4), floats(4, 1, 3, 3)], 22, group=4, strides=[2, 2])
    yield Case("ConvTranspose", "volume", [floats(1, 2, 3, 2, 4), floats(2, 2, 2, 3, 2)], 22, strides=[2, 1, 2])


def deformed():
    def case(name, x, w, offset, bias=None, mask=None, opset=19, **attributes):
        return Case("DeformConv", name, [floats(*x), floats(*w), floats(*offset), bias and floats(*bias),
                                         mask and floats(*mask, low=0, high=1)], opset, **attributes)

    for opset in (19, 22):
        yield case("plain", (1, 1, 3, 3), (1, 1, 2, 2), (1, 8, 2, 2), opset=opset)
        yield case("masked biased", (2, 3, 5, 6), (4, 3, 2, 3), (2, 12, 4, 4), (4,), (2, 6, 4, 4), opset=opset)
        yield case("padded strided", (1, 2, 6, 6), (3, 2, 3, 3), (1, 18, 3, 3), mask=(1, 9, 3, 3), pads=[1, 1, 1, 1],
                   strides=[2, 2], opset=opset)
        yield case("dilated", (1, 2, 7, 7), (3, 2, 2, 2), (1, 8, 5, 4), dilations=[2, 3], opset=opset)
        yield case("grouped", (1, 4, 5, 5), (4, 2, 2, 2), (1, 8, 4, 4), group=2, opset=opset)
        yield case("offset groups", (1, 4, 5, 5), (2, 4, 2, 2), (1, 16, 4, 4), mask=(1, 8, 4, 4), offset_group=2,
                   opset=opset)
        yield case("uneven pads", (1, 2, 5, 5), (2, 2, 2, 2), (1, 8, 6, 5), pads=[2, 0, 0, 1], opset=opset)
    yield Case("DeformConv", "far offsets", [floats(1, 1, 4, 4), floats(1, 1, 2, 2),
                                             floats(1, 8, 3, 3, low=-9, high=9)], 19)
    yield Case("DeformConv", "half", [floats(1, 1, 4, 4, dtype=HALF), floats(1, 1, 2, 2, dtype=HALF),
                                      floats(1, 8, 3, 3, dtype=HALF)], 19)


def columns():
    def case(name, x, image, block, **attributes):
        return Case("Col2Im", name, [floats(*x), longs(*image), longs(*block)], 18, **attributes)

    yield case("plain", (1, 5, 5), (5, 5), (1, 5))
    yield case("overlapping", (2, 18, 12), (5, 6), (3, 3))
    yield case("strided", (1, 8, 4), (5, 5), (2, 2), strides=[2, 2])
    yield case("padded", (1, 4, 24), (4, 4), (2, 2), pads=[1, 0, 0, 3])
    yield case("dilated", (1, 8, 6), (4, 5), (2, 2), dilations=[2, 2])
    yield case("all", (1, 12, 12), (7, 8), (2, 3), dilations=[1, 2], pads=[1, 1, 0, 1], strides=[2, 2])
    yield case("volume", (1, 16, 8), (3, 3, 3), (2, 2, 2))
    yield case("line", (2, 6, 5), (7,), (3,))


def regions():
    image = floats(2, 3, 8, 9)
    boxes = array([[0, 1, 1, 6, 5], [1, 0, 0, 8, 7], [0, 2, 3, 3, 4], [1, 3, 3, 3, 3], [0, 4, 4, 2, 2]])
    for scale, size in ((1.0, [2, 2]), (0.5, [3, 2]), (1.0, [1, 1])):
        for opset in (13, 22):
            yield Case("MaxRoiPool", f"{scale} {size[0]}", [image, boxes], opset, pooled_shape=size,
                       spatial_scale=scale)
    for opset, mode, ratio, transformation in itertools.product(
            (10, 16, 22), ("avg", "max"), (0, 2), ("half_pixel", "output_half_pixel")):
        if opset == 10 and transformation == "half_pixel":
            continue
        given = {} if opset == 10 else {"coordinate_transformation_mode": transformation}
        yield Case("RoiAlign", f"{mode} {ratio} {transformation}",
                   [image, boxes[:, 1:] * np.float32(0.9), boxes[:, 0].astype(np.int64)], opset, mode=mode,
                   sampling_ratio=ratio, output_height=3, output_width=2, spatial_scale=0.8, **given)
    yield Case("RoiAlign", "beyond", [image, array([[-5, -5, 20, 20], [7, 8, 12, 13]]), longs(0, 1)], 16,
               output_height=4, output_width=4, sampling_ratio=2)
    yield Case("RoiAlign", "no regions", [image, floats(0, 4), integers(0)], 16, output_height=2, output_width=2)
    for centre, form in itertools.product((0, 1), ("limits", "all", "one")):
        scores = floats(2, 2, 12, low=0, high=1)
        limits = {"limits": [array(3, np.int64), array(0.3), array(0.2)], "all": [array(12, np.int64)],
                  "one": [array(2, np.int64), array(0.5)]}[form]
        yield Case("NonMaxSuppression", f"{form} {centre}", [floats(2, 12, 4, low=0, high=3), scores, *limits], 11,
                   center_point_box=centre)
