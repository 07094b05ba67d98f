"""A model with more weights than one protobuf message can hold."""

from models import tensors
from models.builder import GraphBuilder, Model

WIDTH = 8192
LAYERS = 9  # of 268 MB of weights each, 2.4 GB together
BOUND = (3.0 / WIDTH) ** 0.5  # of weights, chosen so that values stay in range


def large_mlp():
    """Fully connected layers, each added to its input."""
    g = GraphBuilder("large_mlp")
    shape = (2, WIDTH)
    x = g.input("input", shape)
    for _ in range(LAYERS):
        weight = g.seeded("weight", (WIDTH, WIDTH), -BOUND, BOUND)
        x = g.add(x, g.relu(g.node("MatMul", x, weight, name="linear")), name="sum")
    g.output(x, shape)
    return Model(g.model(), [{"input": tensors.uniform("large_mlp.input", shape)}],
                 external_data=True)
