"""SqueezeNet 1.1: "fire" modules that narrow by 1x1 and widen by 1x1 and 3x3; no dense layer."""

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_SHAPE, classified, image_input

SIZE = 224
STAGES = [[(16, 64), (16, 64)], [(32, 128), (32, 128)],
          [(48, 192), (48, 192), (64, 256), (64, 256)]]  # narrow and wide channels of each module


def conv_relu(g, x, channels, kernel, name, **conv):
    with g.scope(name):
        return g.relu(g.conv(x, channels, kernel, bias=True, **conv))


def fire(g, x, narrow, wide):
    x = conv_relu(g, x, narrow, 1, "squeeze")
    return g.concat([conv_relu(g, x, wide, 1, "expand1"), conv_relu(g, x, wide, 3, "expand3")])


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = conv_relu(g, image_input(g, SIZE, open_extents), 64, 3, "stem", stride=2, pad=0)
    for stage, modules in enumerate(STAGES):
        x = g.max_pool(x, 3, stride=2, name=f"pool{stage + 1}")
        for module, (narrow, wide) in enumerate(modules):
            with g.scope(f"fire{stage + 1}.{module}"):
                x = fire(g, x, narrow, wide)
    x = conv_relu(g, x, CLASSES, 1, "classifier")
    return classified(g, g.global_average_pool(x), SIZE, open_extents)


def squeezenet():
    return build("squeezenet")


def squeezenet_open():
    return build("squeezenet_open", OPEN_SHAPE)
