"""A decoder of GPT-2's kind with a cache of keys and values: batch, sequence and past are open.

A run takes the ids of the next tokens and the keys and values of those before them, and gives the
scores of each token's successor and the keys and values that the next run takes. Positions and the
causal mask are computed from the shapes of the inputs, as exporters write it.
"""

import dataclasses

import numpy as np
from onnx import TensorProto

from models import tensors
from models.builder import GraphBuilder, Model

HIDDEN_SCORE = float(np.finfo(np.float32).min)


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int
    hidden: int
    heads: int
    vocabulary: int
    positions: int

    @property
    def head_size(self):
        return self.hidden // self.heads


SMALL = Config(layers=4, hidden=768, heads=12, vocabulary=16384, positions=1024)
TINY = Config(layers=2, hidden=32, heads=4, vocabulary=100, positions=32)


def layer_norm(g, x, name):
    width = g.width[x]
    weight = g.seeded(f"{name}.weight", (width,), 0.8, 1.2)
    bias = g.seeded(f"{name}.bias", (width,), -0.1, 0.1)
    return g.node("LayerNormalization", x, weight, bias, name=name, axis=-1, epsilon=1e-5)


def gelu(g, x):
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    with g.scope("gelu"):
        cube = g.node("Mul", g.node("Pow", x, g.scalar("three", 3)), g.scalar("factor", 0.044715))
        inner = g.node("Mul", g.add(x, cube), g.scalar("root", (2 / np.pi)**0.5))
        outer = g.add(g.node("Tanh", inner), g.scalar("one", 1))
        return g.node("Mul", g.node("Mul", x, g.scalar("half", 0.5)), outer)


def positions_and_mask(g, ids, past_key):
    """The positions of the new tokens, and which of all tokens each of them sees."""
    def extent(value, axis):
        index = g.initializer(f"axis{axis}", np.array(axis))
        return g.node("Gather", g.node("Shape", value), index)

    with g.scope("positions"):
        past = extent(past_key, 2)
        total = g.add(past, extent(ids, 1), name="total")
        zero, one = (g.initializer(name, np.array(value))
                     for name, value in (("zero", 0), ("one", 1)))
        positions = g.node("Range", past, total, one)
        columns = g.node("Unsqueeze", g.node("Range", zero, total, one), g.ints("row_axis", [0]))
        rows = g.node("Unsqueeze", positions, g.ints("column_axis", [1]))
        return positions, g.node("LessOrEqual", columns, rows, name="visible")


def attention(g, config, x, visible, past):
    """Returns the result and the keys and values of all tokens."""
    def heads(value):
        split = g.node("Reshape", value, g.ints("split", [0, 0, config.heads, config.head_size]))
        return g.node("Transpose", split, perm=[0, 2, 1, 3])

    parts = g.node("Split", g.linear(x, 3 * config.hidden, name="qkv"),
                   g.ints("thirds", [config.hidden] * 3), outputs=3, axis=-1)
    query, *new = [heads(part) for part in parts]
    key, value = (g.node("Concat", old, part, name=name, axis=2)
                  for old, part, name in zip(past, new, ("key", "value")))
    transposed = g.node("Transpose", key, perm=[0, 1, 3, 2])
    scores = g.node("Div", g.node("MatMul", query, transposed),
                    g.scalar("root", config.head_size**0.5))
    scores = g.node("Where", visible, scores, g.scalar("hidden_score", HIDDEN_SCORE))
    weights = g.node("Softmax", scores, axis=-1)
    context = g.node("Transpose", g.node("MatMul", weights, value), perm=[0, 2, 1, 3])
    merged = g.node("Reshape", context, g.ints("merge", [0, 0, config.hidden]),
                    width=config.hidden)
    return g.linear(merged, config.hidden, name="project"), key, value


def layer(g, config, x, visible, past):
    with g.scope("attention"):
        y, key, value = attention(g, config, layer_norm(g, x, "norm"), visible, past)
    x = g.add(x, y, name="residual1")
    with g.scope("feed_forward"):
        y = gelu(g, g.linear(layer_norm(g, x, "norm"), 4 * config.hidden, name="widen"))
        y = g.linear(y, config.hidden, name="narrow")
    return g.add(x, y, name="residual2"), key, value


def build(name, config, steps):
    """`steps` are the (batch, sequence, past) of the test data."""
    g = GraphBuilder(name, opset=17)
    ids = g.input("input_ids", ["batch", "sequence"], TensorProto.INT64)
    cache = ["batch", config.heads, "past", config.head_size]
    past = [[g.input(f"past.{i}.{part}", cache) for part in ("key", "value")]
            for i in range(config.layers)]
    positions, visible = positions_and_mask(g, ids, past[0][0])
    words = g.node("Gather", g.seeded("words", (config.vocabulary, config.hidden), -1, 1), ids,
                   name="embedding", width=config.hidden)
    places = g.node("Gather", g.seeded("places", (config.positions, config.hidden), -0.5, 0.5),
                    positions, name="place")
    x = g.add(words, places, name="embedded")
    present = []
    for i in range(config.layers):
        with g.scope(f"layer{i}"):
            x, *new = layer(g, config, x, visible, past[i])
        present.append([g.node("Identity", value, name=f"present.{i}.{part}")
                        for value, part in zip(new, ("key", "value"))])
    head = g.initializer("head.weight", tensors.weight(
        "head.weight", (config.hidden, config.vocabulary), config.hidden, 2.0))
    logits = g.node("MatMul", layer_norm(g, x, "last_norm"), head, name="logits")
    g.output(logits, ["batch", "sequence", config.vocabulary])
    for value in sum(present, []):
        g.output(value, ["batch", config.heads, "total", config.head_size])
    return Model(g.model(), [inputs(name, config, i, *step) for i, step in enumerate(steps)])


def inputs(name, config, index, batch, sequence, past):
    label = f"{name}{index}"
    values = {"input_ids": tensors.integers(f"{label}.ids", (batch, sequence), config.vocabulary)}
    shape = (batch, config.heads, past, config.head_size)
    for i in range(config.layers):
        for part in ("key", "value"):
            values[f"past.{i}.{part}"] = tensors.uniform(f"{label}.{i}.{part}", shape)
    return values


def decoder():
    """The test data has a step behind 128 tokens, the start of a text, and a step of two texts."""
    return build("decoder", SMALL, [(1, 1, 128), (1, 64, 0), (2, 3, 5)])


def tiny_decoder():
    return build("tiny_decoder", TINY, [(1, 1, 6), (1, 5, 0), (2, 3, 4)])
