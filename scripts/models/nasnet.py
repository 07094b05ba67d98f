"""A NASNet-A mobile network: cells whose five sums read the outputs of the last two cells."""

import dataclasses

from models import tensors
from models.builder import GraphBuilder, Model
from models.resnet import BRANCH_SCALE

FILTERS = 44
CELLS = 4  # between two reductions


@dataclasses.dataclass
class Map:
    """A value and its height and width."""

    value: str
    size: int


def conv_bn(g, x, channels, name):
    """Relu, 1x1 convolution, normalisation."""
    with g.scope(name):
        return g.batch_norm(g.conv(g.relu(x), channels, 1))


def separable(g, x, channels, kernel, name, stride=1):
    with g.scope(name):
        for i, step in enumerate((stride, 1)):
            with g.scope(str(i)):
                x = g.conv(g.relu(x), g.width[x], kernel, stride=step, pad=kernel // 2,
                           groups=g.width[x], name="depthwise")
                x = g.batch_norm(g.conv(x, channels, 1, gain=1.0), scale=BRANCH_SCALE**0.5)
    return x


def fit(g, previous, size, channels):
    """The output of the cell before the last in the shape that this cell works on."""
    if previous.size == size:
        return conv_bn(g, previous.value, channels, "fit")
    with g.scope("fit"):
        x = g.relu(previous.value)
        halves = [g.conv(g.average_pool(x, 1, stride=2), channels // 2, 1) for _ in range(2)]
        return g.batch_norm(g.concat(halves))


def normal_cell(g, last, previous, channels):
    p = fit(g, previous, last.size, channels)
    h = conv_bn(g, last.value, channels, "enter")

    def pool(x):
        return g.average_pool(x, 3, stride=1, pad=1)

    sums = [g.add(separable(g, h, channels, 5, "a5"), separable(g, p, channels, 3, "a3")),
            g.add(separable(g, p, channels, 5, "b5"), separable(g, p, channels, 3, "b3")),
            g.add(pool(h), p),
            g.add(pool(p), pool(p)),
            g.add(separable(g, h, channels, 3, "e3"), h)]
    return Map(g.concat([p, *sums]), last.size)


def reduction_cell(g, last, previous, channels):
    p = fit(g, previous, last.size, channels)
    h = conv_bn(g, last.value, channels, "enter")
    shrink = dict(stride=2, pad=1)
    a = g.add(separable(g, h, channels, 5, "a5", 2), separable(g, p, channels, 7, "a7", 2))
    b = g.add(g.max_pool(h, 3, **shrink), separable(g, p, channels, 7, "b7", 2))
    c = g.add(g.average_pool(h, 3, **shrink), separable(g, p, channels, 5, "c5", 2))
    d = g.add(g.average_pool(a, 3, stride=1, pad=1), b)
    e = g.add(separable(g, a, channels, 3, "e3"), g.max_pool(h, 3, **shrink))
    return Map(g.concat([b, c, d, e]), (last.size + 1) // 2)


def nasnet_mobile():
    g = GraphBuilder("nasnet_mobile")
    x = g.conv(g.input("input", [1, 3, 224, 224]), 32, 3, stride=2, pad=1, name="stem")
    previous = last = Map(g.batch_norm(x), 112)
    cells = [(reduction_cell, FILTERS // 4), (reduction_cell, FILTERS // 2)]
    for stage in range(3):
        cells += [(reduction_cell, FILTERS << stage)] if stage else []
        cells += [(normal_cell, FILTERS << stage)] * CELLS
    for i, (cell, channels) in enumerate(cells):
        with g.scope(f"cell{i}"):
            previous, last = last, cell(g, last, previous, channels)
    x = g.global_average_pool(g.relu(last.value))
    g.output(g.gemm(x, 1000, name="logits"), [1, 1000])
    return Model(g.model(), [{"input": tensors.image("nasnet_mobile.input", (1, 3, 224, 224))}])
