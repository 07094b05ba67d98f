"""U-Net: a contracting and an expanding path with connections across."""

from models import tensors
from models.builder import GraphBuilder, Model

DEPTH = 4
SIZE = 256
CHANNELS = 32


def double_conv(g, x, channels, name):
    with g.scope(name):
        for i in range(2):
            x = g.relu(g.conv(x, channels, 3, bias=True, name=f"conv{i}"), name=f"relu{i}")
    return x


def upsample(g, x, size):
    """Every pixel twice along height and width."""
    channels = g.width[x]
    spread = g.node("Reshape", x, g.ints("apart", [1, channels, size, 1, size, 1]))
    spread = g.node("Expand", spread, g.ints("twice", [1, channels, size, 2, size, 2]))
    return g.node("Reshape", spread, g.ints("together", [1, channels, 2 * size, 2 * size]),
                  width=channels)


def unet():
    g = GraphBuilder("unet")
    x = g.input("input", [1, 3, SIZE, SIZE])
    skips = []
    for level in range(DEPTH):
        skips.append(double_conv(g, x, CHANNELS << level, f"down{level}"))
        x = g.max_pool(skips[-1], 2, stride=2)
    x = double_conv(g, x, CHANNELS << DEPTH, "bottom")
    for level in reversed(range(DEPTH)):
        with g.scope(f"up{level}"):
            x = g.conv(upsample(g, x, SIZE >> (level + 1)), CHANNELS << level, 3, name="narrow")
            x = double_conv(g, g.concat([skips[level], x]), CHANNELS << level, "both")
    g.output(g.conv(x, 2, 1, bias=True, gain=1.0, name="mask"), [1, 2, SIZE, SIZE])
    return Model(g.model(), [{"input": tensors.image("unet.input", (1, 3, SIZE, SIZE))}])
