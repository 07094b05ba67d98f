"""BERT encoders written with primitive operators (operator set 17), as exporters write them."""

import dataclasses

import numpy as np
from onnx import TensorProto

from models import tensors
from models.builder import RELU_GAIN, GraphBuilder, Model


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    batch: int
    tokens: int
    positions: int = 0  # of an encoder whose batch and sequence have no fixed size


BASE = Config(layers=12, hidden=768, heads=12, intermediate=3072, vocabulary=30522, batch=1,
              tokens=128)
OPEN = dataclasses.replace(BASE, positions=512)
TINY = Config(layers=2, hidden=32, heads=4, intermediate=64, vocabulary=100, batch=2, tokens=16)


def layer_norm(g, x, name):
    with g.scope(name):
        centred = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1]))
        variance = g.node("ReduceMean", g.node("Pow", centred, g.scalar("two", 2)), axes=[-1])
        deviation = g.node("Sqrt", g.node("Add", variance, g.scalar("epsilon", 1e-12)))
        weight = g.seeded("weight", (g.width[x],), 0.8, 1.2)
        bias = g.seeded("bias", (g.width[x],), -0.1, 0.1)
        return g.add(g.node("Mul", g.node("Div", centred, deviation), weight), bias, name="output")


def gelu(g, x):
    """x / 2 * (1 + erf(x / sqrt 2))."""
    with g.scope("gelu"):
        error = g.node("Erf", g.node("Div", x, g.scalar("root_two", 2**0.5)))
        product = g.node("Mul", x, g.add(error, g.scalar("one", 1)))
        return g.node("Mul", product, g.scalar("half", 0.5))


def embeddings(g, config, ids, types):
    def look_up(name, rows, indices):
        return g.node("Gather", g.seeded(name, (rows, config.hidden), -1, 1), indices)

    with g.scope("embeddings"):
        positions = g.ints("position_ids", [range(config.positions or config.tokens)])
        if config.positions:
            positions = first_positions(g, positions, ids)
        x = look_up("word", config.vocabulary, ids)
        x = g.add(x, look_up("token_type", 2, types))
        x = g.add(x, look_up("position", config.positions or config.tokens, positions))
        return layer_norm(g, x, "norm")


def first_positions(g, positions, ids):
    """As many of the positions as there are tokens."""
    tokens = g.node("Gather", g.node("Shape", ids), g.initializer("tokens", np.array(1, np.int64)))
    end = g.node("Unsqueeze", tokens, g.ints("end_axis", [0]))
    return g.node("Slice", positions, g.ints("start", [0]), end, g.ints("axis", [1]))


def attention_bias(g, mask):
    """[batch, tokens] of 1 (see) and 0 (ignore) -> [batch, 1, 1, tokens] of 0 and -10000."""
    with g.scope("mask"):
        mask = g.node("Unsqueeze", mask, g.ints("head_axis", [1]))
        mask = g.node("Unsqueeze", mask, g.ints("query_axis", [2]))
        mask = g.node("Cast", mask, to=TensorProto.FLOAT)
        return g.node("Mul", g.node("Sub", g.scalar("one", 1), mask), g.scalar("hidden", -10000))


def attention(g, config, x, bias):
    def heads(name, order):
        split = g.node("Reshape", g.linear(x, config.hidden, name=name), split_shape)
        return g.node("Transpose", split, perm=order)

    size = config.hidden // config.heads
    split_shape = g.ints("split", [0, 0, config.heads, size])
    query, key = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1])
    value = heads("value", [0, 2, 1, 3])
    scores = g.node("Div", g.node("MatMul", query, key), g.scalar("root", size**0.5))
    weights = g.node("Softmax", g.add(scores, bias), axis=-1)
    context = g.node("Transpose", g.node("MatMul", weights, value), perm=[0, 2, 1, 3])
    merged = g.node("Reshape", context, g.ints("merge", [0, 0, config.hidden]), width=config.hidden)
    return g.linear(merged, config.hidden, name="dense")


def encoder_layer(g, config, x, bias):
    with g.scope("attention"):
        x = layer_norm(g, g.add(attention(g, config, x, bias), x), "norm")
    with g.scope("feed_forward"):
        inner = gelu(g, g.linear(x, config.intermediate, name="widen"))
        outer = g.linear(inner, config.hidden, gain=RELU_GAIN, name="narrow")
        return layer_norm(g, g.add(outer, x), "norm")


def bert(name, config):
    g = GraphBuilder(name, opset=17)
    shape = ["batch", "sequence"] if config.positions else [config.batch, config.tokens]
    ids, types, mask = (g.input(part, shape, TensorProto.INT64)
                        for part in ("input_ids", "token_type_ids", "attention_mask"))
    bias = attention_bias(g, mask)
    x = embeddings(g, config, ids, types)
    for layer in range(config.layers):
        with g.scope(f"layer{layer}"):
            x = encoder_layer(g, config, x, bias)
    hidden = g.node("Identity", x, name="last_hidden_state")
    first = g.node("Gather", x, g.initializer("first_token", np.array(0, np.int64)), axis=1)
    pooled = g.node("Tanh", g.gemm(first, config.hidden, name="pooler"), name="pooler_output")
    g.output(hidden, [*shape, config.hidden])
    g.output(pooled, [shape[0], config.hidden])
    data_sets = [inputs(name, config)]
    if config.positions:
        data_sets.append(inputs(f"{name}1", dataclasses.replace(config, batch=2, tokens=37)))
    return Model(g.model(), data_sets)


def inputs(name, config):
    """Two sentences in each row, and at its end padding that the mask hides."""
    shape = (config.batch, config.tokens)
    lengths = config.tokens - config.tokens // 5 * np.arange(1, config.batch + 1)[:, None]
    column = np.arange(config.tokens)[None]
    return {
        "input_ids": tensors.integers(f"{name}.ids", shape, config.vocabulary),
        "token_type_ids": ((column > config.tokens // 3) & (column < lengths)).astype(np.int64),
        "attention_mask": (column < lengths).astype(np.int64),
    }


def bert_base():
    return bert("bert_base", BASE)


def bert_base_open():
    return bert("bert_base_open", OPEN)


def tiny_bert():
    return bert("tiny_bert", TINY)
