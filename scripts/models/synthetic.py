"""Graphs of N cheap nodes, to measure the overhead of a host per node."""

import numpy as np
from onnx import helper

from models import tensors
from models.builder import GraphBuilder, Model

SHAPE = (1, 16)
POOL = 8  # constants that the nodes use in turn


def empty():
    """No node at all: the output is the input. What a run costs before anything is computed."""
    g = GraphBuilder("empty")
    g.output(g.input("input", SHAPE), SHAPE)
    return Model(g.model(), [{"input": tensors.uniform("empty.input", SHAPE, -2, 2)}])


def chain(n):
    """n nodes in a row. Each six of them undo each other, so that values stay in range over any
    length, and yet leaving out or swapping a node shows in the output. The constants are small
    multiples of powers of two: all of it is exact in float32."""
    g = GraphBuilder("chain")
    x = g.input("input", SHAPE)
    cycles = [chain_cycle(g, k) for k in range(POOL)]
    for i in range(n):
        op_type, *constant = cycles[i // 6 % POOL][i % 6]
        x = g.node(op_type, x, *constant, name=f"node{i}")
    g.output(x, SHAPE)
    return Model(g.model(), [{"input": sixteenths("chain.input", -8, 32)}])


def chain_cycle(g, k):
    offset = sixteenths(f"offset{k}", 1, 9)
    factor = np.exp2(tensors.integers(f"factor{k}", SHAPE, 4) - 1).astype(np.float32)
    return [
        ("Add", g.initializer(f"offset{k}", offset)),
        ("Mul", g.initializer(f"factor{k}", factor)),
        ("Relu",),
        ("Mul", g.initializer(f"inverse{k}", 1 / factor)),
        ("Add", g.initializer(f"negative{k}", -offset)),
        ("Relu",),
    ]


def sixteenths(name, low, high):
    """Multiples of 1/16 from low/16 up to, not including, high/16."""
    return ((tensors.integers(name, SHAPE, high - low) + low) / 16).astype(np.float32)


def gather(n):
    """n - 1 readers of one value, all of which one Sum adds at once."""
    g = GraphBuilder("gather")
    x = g.input("input", SHAPE)
    offsets = [g.seeded(f"offset{k}", SHAPE, -1, 1) for k in range(POOL)]
    readers = [g.node("Add", x, offsets[i % POOL], name=f"reader{i}") for i in range(n - 1)]
    g.output(g.node("Sum", *readers, name="sum"), SHAPE)
    return Model(g.model(), [{"input": tensors.uniform("gather.input", SHAPE, -2, 2)}])


def functions(n):
    """n calls in a row, each of a function of its own that negates its input: for the cost of
    inlining. Leaving out a call shows in the sign of the output."""
    g = GraphBuilder("functions", opset=17)
    x = g.input("input", SHAPE)
    for i in range(n):
        x = g.node(f"negate{i}", x, name=f"call{i}", domain="local")
    g.output(x, SHAPE)
    model = g.model()
    opsets = list(model.opset_import)
    model.opset_import.add(domain="local", version=1)
    for i in range(n):
        body = helper.make_node("Neg", ["x"], ["y"])
        model.functions.append(
            helper.make_function("local", f"negate{i}", ["x"], ["y"], [body], opsets))
    return Model(model, [{"input": tensors.uniform("functions.input", SHAPE, -2, 2)}])


def fanout(n):
    """About n/2 readers of one value, summed pairwise by a tree of Add, then scaled to the mean."""
    g = GraphBuilder("fanout")
    x = g.input("input", SHAPE)
    if n % 2:  # readers, sums and the scaling are an even number
        x = g.relu(x, name="shared")
    readers = n // 2
    offsets = [g.seeded(f"offset{k}", SHAPE, -1, 1) for k in range(POOL)]
    factors = [g.seeded(f"factor{k}", SHAPE, 0.5, 1.5) for k in range(POOL)]
    kinds = [pair for k in range(POOL) for pair in (("Add", offsets[k]), ("Mul", factors[k]))]
    level = []
    for i in range(readers):
        op_type, constant = kinds[i % len(kinds)]
        level.append(g.node(op_type, x, constant, name=f"reader{i}"))
    while len(level) > 1:
        odd = level[len(level) & ~1:]
        level = [g.add(a, b, name="sum") for a, b in zip(level[::2], level[1::2])] + odd
    g.output(g.node("Mul", level[0], g.scalar("scale", 1 / readers), name="mean"), SHAPE)
    return Model(g.model(), [{"input": tensors.uniform("fanout.input", SHAPE, -2, 2)}])
