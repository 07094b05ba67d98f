"""Inception v3: parallel branches of different kernels, joined along the channels."""

from models import tensors
from models.builder import GraphBuilder, Model


def conv(g, x, channels, kernel, name, stride=1, pad=None):
    with g.scope(name):
        return g.relu(g.batch_norm(g.conv(x, channels, kernel, stride=stride, pad=pad)))


def tower(g, x, layers, name):
    """Convolutions in a row, each given as (channels, kernel) or (channels, kernel, stride, pad)."""
    with g.scope(name):
        for i, layer in enumerate(layers):
            x = conv(g, x, *layer[:2], str(i), *layer[2:])
    return x


def pooled(g, x, channels):
    return conv(g, g.average_pool(x, 3, stride=1, pad=1, include_pad=True), channels, 1, "pooled")


def block35(g, x, pool_channels):
    return g.concat([conv(g, x, 64, 1, "one"), tower(g, x, [(48, 1), (64, 5)], "five"),
                     tower(g, x, [(64, 1), (96, 3), (96, 3)], "three"),
                     pooled(g, x, pool_channels)])


def block17(g, x, c):
    wide, high = (1, 7), (7, 1)
    return g.concat([
        conv(g, x, 192, 1, "one"), tower(g, x, [(c, 1), (c, wide), (192, high)], "seven"),
        tower(g, x, [(c, 1), (c, high), (c, wide), (c, high), (192, wide)], "twice"),
        pooled(g, x, 192)])


def block8(g, x):
    def forked(y, name):
        return [conv(g, y, 384, (1, 3), f"{name}.wide"), conv(g, y, 384, (3, 1), f"{name}.high")]

    return g.concat([conv(g, x, 320, 1, "one"), *forked(conv(g, x, 384, 1, "fork"), "fork"),
                     *forked(tower(g, x, [(448, 1), (384, 3)], "three"), "three"),
                     pooled(g, x, 192)])


def shrink35(g, x):
    return g.concat([conv(g, x, 384, 3, "three", 2, 0),
                     tower(g, x, [(64, 1), (96, 3), (96, 3, 2, 0)], "twice"),
                     g.max_pool(x, 3, stride=2)])


def shrink17(g, x):
    return g.concat([tower(g, x, [(192, 1), (320, 3, 2, 0)], "three"),
                     tower(g, x, [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)], "seven"),
                     g.max_pool(x, 3, stride=2)])


def inception_v3():
    g = GraphBuilder("inception_v3")
    x = g.input("input", [1, 3, 299, 299])
    x = tower(g, x, [(32, 3, 2, 0), (32, 3, 1, 0), (64, 3)], "stem1")
    x = tower(g, g.max_pool(x, 3, stride=2), [(80, 1), (192, 3, 1, 0)], "stem2")
    x = g.max_pool(x, 3, stride=2)
    blocks = [(block35, 32), (block35, 64), (block35, 64), (shrink35,), (block17, 128),
              (block17, 160), (block17, 160), (block17, 192), (shrink17,), (block8,), (block8,)]
    for i, (block, *arguments) in enumerate(blocks):
        with g.scope(f"mixed{i}"):
            x = block(g, x, *arguments)
    g.output(g.gemm(g.global_average_pool(x), 1000, name="logits"), [1, 1000])
    return Model(g.model(), [{"input": tensors.image("inception_v3.input", (1, 3, 299, 299))}])
