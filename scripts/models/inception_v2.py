"""Inception v2, also called BN-Inception, in the form of the ONNX model zoo.

Normalisation is a BatchNormalization without scale and offset of its own, followed by Mul and Add
of values per channel that Unsqueeze nodes bring into shape, as converters from Caffe write it.
"""

import numpy as np

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_SHAPE, classified, image_input

SIZE = 224
CEIL = (0, 0, 1, 1)  # pads that make a pooling by two round up

# Channels of the 1x1 branch, the 3x3 branch, the double 3x3 branch, and behind the pooling.
BLOCKS = [
    ("3a", 64, (64, 64), (64, 96), ("average", 32)),
    ("3b", 64, (64, 96), (64, 96), ("average", 64)),
    ("3c", None, (128, 160), (64, 96), None),
    ("4a", 224, (64, 96), (96, 128), ("average", 128)),
    ("4b", 192, (96, 128), (96, 128), ("average", 128)),
    ("4c", 160, (128, 160), (128, 160), ("average", 128)),
    ("4d", 96, (128, 192), (160, 192), ("average", 128)),
    ("4e", None, (128, 192), (192, 256), None),
    ("5a", 352, (192, 320), (160, 224), ("average", 128)),
    ("5b", 352, (192, 320), (192, 224), ("max", 128)),
]


def scaled(g, x):
    """x times a weight and plus an offset for each channel."""
    def per_channel(name, low, high):
        values = g.seeded(name, (g.width[x],), low, high)
        return g.node("Unsqueeze", values, axes, name=f"{name}.spread")

    axes = g.ints("axes", [1, 2])
    product = g.node("Mul", x, per_channel("scale", 0.8, 1.2), name="scaled")
    return g.node("Add", product, per_channel("offset", -0.1, 0.1), name="shifted")


def conv(g, x, channels, kernel, name, stride=1):
    with g.scope(name):
        x = g.conv(x, channels, kernel, stride=stride, pad=kernel // 2, bias=True)
        width = g.width[x]
        identity = [g.initializer("one", np.ones(width, np.float32)),
                    g.initializer("zero", np.zeros(width, np.float32))]
        mean, variance = (g.seeded(name, (width,), low, high)
                          for name, low, high in (("mean", -0.1, 0.1), ("variance", 0.7, 1.3)))
        x = g.node("BatchNormalization", x, *identity, mean, variance, name="bn", epsilon=1e-5)
        return g.relu(scaled(g, x))


def block(g, x, one, three, double, pool):
    """Parallel branches of an inception block; one without a 1x1 branch halves the picture."""
    stride = 1 if one else 2
    branches = [conv(g, x, one, 1, "one")] if one else []
    branches.append(conv(g, conv(g, x, three[0], 1, "three.reduce"), three[1], 3, "three", stride))
    y = conv(g, conv(g, x, double[0], 1, "double.reduce"), double[1], 3, "double.first")
    branches.append(conv(g, y, double[1], 3, "double.second", stride))
    if not pool:
        return g.concat([*branches, g.max_pool(x, 3, stride=2, pad=CEIL)])
    kind, channels = pool
    pooled = (g.max_pool(x, 3, stride=1, pad=1) if kind == "max"
              else g.average_pool(x, 3, stride=1, pad=1, include_pad=True))
    return g.concat([*branches, conv(g, pooled, channels, 1, "pooled")])


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = conv(g, image_input(g, SIZE, open_extents), 64, 7, "conv1", stride=2)
    x = g.max_pool(x, 3, stride=2, pad=CEIL)
    x = conv(g, conv(g, x, 64, 1, "conv2.reduce"), 192, 3, "conv2")
    x = g.max_pool(x, 3, stride=2, pad=CEIL)
    for label, *channels in BLOCKS:
        with g.scope(f"block{label}"):
            x = block(g, x, *channels)
    logits = g.gemm(g.global_average_pool(x), CLASSES, name="logits")
    return classified(g, g.node("Softmax", logits, name="probabilities", axis=1), SIZE,
                      open_extents)


def inception_v2():
    return build("inception_v2")


def inception_v2_open():
    return build("inception_v2_open", OPEN_SHAPE)
