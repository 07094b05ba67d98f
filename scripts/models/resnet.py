"""Residual networks: ResNet-50 v1.5 and the blocks that smaller models share."""

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_SHAPE, classified, image_input

SIZE = 224
BRANCH_SCALE = 0.3  # keeps the sum of many residual branches in range


def conv_bn(g, x, channels, kernel, suffix, scale=1.0, **conv):
    y = g.conv(x, channels, kernel, name=f"conv{suffix}", **conv)
    return g.batch_norm(y, name=f"bn{suffix}", scale=scale)


def basic_block(g, x, channels, stride=1):
    """Two 3x3 convolutions beside a shortcut."""
    y = g.relu(conv_bn(g, x, channels, 3, "1", stride=stride), name="relu1")
    y = conv_bn(g, y, channels, 3, "2", scale=BRANCH_SCALE)
    return g.relu(g.add(y, shortcut(g, x, channels, stride)), name="relu2")


def bottleneck(g, x, channels, stride):
    """1x1, 3x3, 1x1; version 1.5 strides in the 3x3 convolution."""
    y = g.relu(conv_bn(g, x, channels, 1, "1"), name="relu1")
    y = g.relu(conv_bn(g, y, channels, 3, "2", stride=stride), name="relu2")
    y = conv_bn(g, y, 4 * channels, 1, "3", scale=BRANCH_SCALE)
    return g.relu(g.add(y, shortcut(g, x, 4 * channels, stride)), name="relu3")


def shortcut(g, x, channels, stride):
    """x itself, or its projection where the block changes the shape."""
    if stride == 1 and g.width[x] == channels:
        return x
    with g.scope("shortcut"):
        return conv_bn(g, x, channels, 1, "", stride=stride, gain=1.0)


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = image_input(g, SIZE, open_extents)
    x = g.relu(conv_bn(g, x, 64, 7, "1", stride=2), name="relu1")
    x = g.max_pool(x, 3, stride=2, pad=1)
    for stage, (blocks, channels) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            with g.scope(f"layer{stage + 1}.{block}"):
                x = bottleneck(g, x, channels, stride=2 if block == 0 and stage > 0 else 1)
    logits = g.gemm(g.global_average_pool(x), CLASSES, name="logits")
    return classified(g, logits, SIZE, open_extents)


def resnet50():
    return build("resnet50")


def resnet50_open():
    return build("resnet50_open", OPEN_SHAPE)
