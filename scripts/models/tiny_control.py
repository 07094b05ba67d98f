"""Small models with nested graphs: If and Loop."""

import numpy as np
from onnx import TensorProto

from models import tensors
from models.builder import GraphBuilder, Model


def tiny_if():
    """An If inside an If. The branches read values and initializers of the enclosing graphs; the
    test data takes each of the three paths."""
    g = GraphBuilder("tiny_if")
    x = g.input("input", [2, 8])
    outer_condition = g.input("outer", [], TensorProto.BOOL)
    inner_condition = g.input("inner", [], TensorProto.BOOL)
    hidden = g.relu(g.gemm(x, 8, name="hidden"))
    factor = g.seeded("factor", (8,), 0.5, 2)

    then_outer, else_outer = g.subgraph("then"), g.subgraph("else")
    then_inner, else_inner = then_outer.subgraph("then"), then_outer.subgraph("else")
    scaled = then_outer.node("Mul", hidden, factor)
    then_inner.output(then_inner.node("Mul", scaled, hidden), [2, 8])
    offset = else_inner.seeded("offset", (8,), -1, 1)
    else_inner.output(else_inner.add(scaled, offset), [2, 8])
    chosen = then_outer.node("If", inner_condition, name="if",
                             then_branch=then_inner.graph, else_branch=else_inner.graph)
    then_outer.output(chosen, [2, 8])
    else_outer.output(else_outer.linear(hidden, 8), [2, 8])

    result = g.node("If", outer_condition, name="if",
                    then_branch=then_outer.graph, else_branch=else_outer.graph)
    g.output(g.add(result, x, name="output"), [2, 8])
    ways = [(True, True), (True, False), (False, True)]
    return Model(g.model(), [{"input": tensors.uniform(f"tiny_if.input{k}", (2, 8)),
                              "outer": np.array(outer), "inner": np.array(inner)}
                             for k, (outer, inner) in enumerate(ways)])


def tiny_loop():
    """Adds input * step to a total until the count is reached or the mean passes the limit; the
    test data covers both ends, and an end before the first iteration."""
    g = GraphBuilder("tiny_loop")
    x = g.input("input", [1, 4])
    count = g.input("count", [], TensorProto.INT64)
    limit = g.input("limit", [])
    start = g.node("Mul", x, g.scalar("start_factor", 0.5), name="start")
    go = g.initializer("go", np.array(True))

    body = g.subgraph("body")
    turn = body.input("turn", [], TensorProto.INT64)
    body.input("condition", [], TensorProto.BOOL)
    total = body.input("total", [1, 4])
    step = body.seeded("step", (4,), 0.5, 1.5)
    updated = body.add(total, body.node("Mul", x, step))
    mean = body.node("ReduceMean", updated, keepdims=0)
    trace = body.node("Mul", updated, body.node("Cast", turn, to=TensorProto.FLOAT), name="trace")
    body.output(body.node("Less", mean, limit), [], TensorProto.BOOL)
    body.output(updated, [1, 4])
    body.output(trace, [1, 4])

    total, trace = g.node("Loop", count, go, start, name="loop", outputs=2, body=body.graph)
    g.output(total, [1, 4])
    g.output(trace, ["turns", 1, 4])
    ends = [(5, 1e6), (50, 3.0), (0, 1e6)]
    return Model(g.model(), [{"input": tensors.uniform(f"tiny_loop.input{k}", (1, 4), 0.5, 1.5),
                              "count": np.array(turns, np.int64),
                              "limit": np.array(limit, np.float32)}
                             for k, (turns, limit) in enumerate(ends)])
