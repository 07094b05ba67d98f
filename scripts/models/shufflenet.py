"""ShuffleNet v1 as the ONNX model zoo has it: four groups, and units that do not narrow inside.

The channel shuffle between the grouped convolutions is a Reshape to five dimensions, a Transpose
and a Reshape back.
"""

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_BATCH, classified, image_input
from models.resnet import BRANCH_SCALE

SIZE = 224
GROUPS = 4
STAGES = [(4, 136), (8, 272), (4, 544)]  # units, channels


def conv_bn(g, x, channels, kernel, name, scale=1.0, **conv):
    with g.scope(name):
        return g.batch_norm(g.conv(x, channels, kernel, **conv), scale=scale)


def shuffle(g, x, pixels):
    """Deals the channels of each group out over all groups."""
    channels = g.width[x]
    with g.scope("shuffle"):
        apart = g.ints("apart", [0, GROUPS, channels // GROUPS, pixels, pixels])
        together = g.ints("together", [0, channels, pixels, pixels])
        x = g.node("Transpose", g.node("Reshape", x, apart), perm=[0, 2, 1, 3, 4])
        return g.node("Reshape", x, together, width=channels)


def unit(g, x, channels, stride, pixels):
    """Grouped 1x1, shuffle, 3x3 of each channel, grouped 1x1, beside x or its average.

    `pixels` is the height and width of x. The 24 channels of the stem are not grouped.
    """
    inner = channels if stride == 1 else channels - g.width[x]
    groups = 1 if g.width[x] == 24 else GROUPS
    y = g.relu(conv_bn(g, x, inner, 1, "first", groups=groups), name="relu1")
    y = shuffle(g, y, pixels)
    y = conv_bn(g, y, inner, 3, "depthwise", stride=stride, pad=1, groups=inner, gain=1.0)
    y = conv_bn(g, y, inner, 1, "last", groups=GROUPS, scale=BRANCH_SCALE if stride == 1 else 1.0)
    if stride == 1:
        return g.relu(g.add(x, y), name="relu2")
    shortcut = g.average_pool(x, 3, stride=2, pad=1, include_pad=True)
    return g.relu(g.concat([shortcut, y]), name="relu2")


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = image_input(g, SIZE, open_extents)
    x = g.relu(conv_bn(g, x, 24, 3, "stem", stride=2), name="stem.relu")
    x = g.max_pool(x, 3, stride=2, pad=1)
    pixels = SIZE // 4
    for stage, (units, channels) in enumerate(STAGES):
        for i in range(units):
            stride = 2 if i == 0 else 1
            with g.scope(f"stage{stage + 2}.{i}"):
                x = unit(g, x, channels, stride, pixels)
            pixels //= stride
    logits = g.gemm(g.global_average_pool(x), CLASSES, name="logits")
    return classified(g, g.node("Softmax", logits, name="probabilities", axis=1), SIZE,
                      open_extents)


def shufflenet():
    return build("shufflenet")


def shufflenet_open():
    return build("shufflenet_open", OPEN_BATCH)
