"""MobileNetV2: inverted residuals with depthwise convolutions and linear bottlenecks."""

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_SHAPE, classified, image_input
from models.resnet import BRANCH_SCALE

SIZE = 224
# expansion, channels, blocks, stride of the first block
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]


def conv_bn_relu6(g, x, channels, kernel, name, **conv):
    with g.scope(name):
        return g.relu6(g.batch_norm(g.conv(x, channels, kernel, **conv)))


def inverted_residual(g, x, expansion, channels, stride):
    """Widen by 1x1, filter each channel by 3x3, narrow by 1x1 without activation."""
    hidden, residual = expansion * g.width[x], stride == 1 and g.width[x] == channels
    y = x
    if expansion != 1:
        y = conv_bn_relu6(g, y, hidden, 1, "expand", gain=1.0)
    y = conv_bn_relu6(g, y, hidden, 3, "depthwise", stride=stride, groups=hidden)
    with g.scope("project"):
        y = g.batch_norm(g.conv(y, channels, 1), scale=BRANCH_SCALE if residual else 1.0)
    return g.add(x, y) if residual else y


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = image_input(g, SIZE, open_extents)
    x = conv_bn_relu6(g, x, 32, 3, "stem", stride=2)
    for stage, (expansion, channels, blocks, stride) in enumerate(STAGES):
        for block in range(blocks):
            with g.scope(f"stage{stage + 1}.{block}"):
                x = inverted_residual(g, x, expansion, channels, stride if block == 0 else 1)
    x = conv_bn_relu6(g, x, 1280, 1, "head", gain=1.0)
    logits = g.gemm(g.global_average_pool(x), CLASSES, name="logits")
    return classified(g, logits, SIZE, open_extents)


def mobilenetv2():
    return build("mobilenetv2")


def mobilenetv2_open():
    return build("mobilenetv2_open", OPEN_SHAPE)
