"""DenseNet-121: each layer reads everything that its block has made so far."""

from models.builder import GraphBuilder
from models.images import CLASSES, OPEN_SHAPE, classified, image_input

SIZE = 224
GROWTH = 32
LAYERS = (6, 12, 24, 16)  # of each block


def bn_relu_conv(g, x, channels, kernel, name):
    with g.scope(name):
        return g.conv(g.relu(g.batch_norm(x)), channels, kernel)


def dense_layer(g, x):
    y = bn_relu_conv(g, x, 4 * GROWTH, 1, "narrow")
    return g.concat([x, bn_relu_conv(g, y, GROWTH, 3, "grow")])


def build(name, open_extents=()):
    g = GraphBuilder(name)
    x = image_input(g, SIZE, open_extents)
    x = g.conv(x, 2 * GROWTH, 7, stride=2, name="stem")
    x = g.max_pool(g.relu(g.batch_norm(x)), 3, stride=2, pad=1)
    for block, layers in enumerate(LAYERS):
        for layer in range(layers):
            with g.scope(f"block{block + 1}.{layer}"):
                x = dense_layer(g, x)
        if block + 1 < len(LAYERS):
            x = bn_relu_conv(g, x, g.width[x] // 2, 1, f"transition{block + 1}")
            x = g.average_pool(x, 2, stride=2)
    x = g.global_average_pool(g.relu(g.batch_norm(x, name="last_bn"), name="last_relu"))
    return classified(g, g.gemm(x, CLASSES, name="logits"), SIZE, open_extents)


def densenet121():
    return build("densenet121")


def densenet121_open():
    return build("densenet121_open", OPEN_SHAPE)
