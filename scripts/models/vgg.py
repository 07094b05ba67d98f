"""VGG-19: sixteen 3x3 convolutions and three fully connected layers, 574 MB of weights."""

from models.builder import RELU_GAIN, GraphBuilder
from models.images import CLASSES, OPEN_BATCH, classified, image_input

SIZE = 224
STAGES = [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]  # convolutions, channels
HIDDEN = 4096


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = image_input(g, SIZE, open_extents)
    for stage, (convolutions, channels) in enumerate(STAGES):
        with g.scope(f"stage{stage + 1}"):
            for i in range(convolutions):
                x = g.relu(g.conv(x, channels, 3, bias=True, name=f"conv{i}"), name=f"relu{i}")
            x = g.max_pool(x, 2, stride=2)
    pixels = (SIZE >> len(STAGES))**2
    x, features = g.node("Flatten", x, name="flatten", axis=1), g.width[x] * pixels
    for i in range(2):
        x = g.gemm(x, HIDDEN, in_features=features, gain=RELU_GAIN, name=f"hidden{i}")
        x, features = g.relu(x, name=f"hidden{i}.relu"), HIDDEN
    return classified(g, g.gemm(x, CLASSES, name="logits"), SIZE, open_extents)


def vgg19():
    return build("vgg19")


def vgg19_open():
    return build("vgg19_open", OPEN_BATCH)
