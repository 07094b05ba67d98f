"""Networks small enough for tests: a few kilobytes, a few milliseconds. Each shows one kind of
graph; tiny_quick alone is larger, so that the README's example has something to show."""

import numpy as np
from onnx import TensorProto, numpy_helper

from models import tensors
from models.builder import GraphBuilder, Model
from models.resnet import basic_block

IMAGE = [1, 3, 16, 16]


def with_images(g, shape=tuple(IMAGE), **options):
    """The finished model with one seeded picture as its test input."""
    name = g.graph.name
    return Model(g.model(), [{"input": tensors.image(f"{name}.input", shape)}], **options)


def conv_bn_relu(g, x, channels, kernel=3, name="block", **conv):
    with g.scope(name):
        return g.relu(g.batch_norm(g.conv(x, channels, kernel, **conv)))


def classify(g, x, classes=10):
    """Global pooling and a linear classifier."""
    logits = g.gemm(g.global_average_pool(x), classes, gain=3.0, name="logits")
    g.output(logits, [g.graph.input[0].type.tensor_type.shape.dim[0].dim_param or 1, classes])


def tiny_cnn():
    g = GraphBuilder("tiny_cnn")
    x = conv_bn_relu(g, g.input("input", IMAGE), 8)
    x = g.node("Flatten", g.max_pool(x, 2, stride=2), axis=1)
    g.output(g.gemm(x, 10, in_features=8 * 8 * 8, name="logits"), [1, 10])
    return with_images(g)


def tiny_mlp():
    g = GraphBuilder("tiny_mlp")
    x = g.input("input", [4, 16])
    x = g.relu(g.gemm(x, 32, gain=2.0, name="hidden"))
    g.output(g.node("Softmax", g.gemm(x, 10, gain=2.0), name="probabilities", axis=-1), [4, 10])
    return Model(g.model(), [{"input": tensors.uniform("tiny_mlp.input", (4, 16), -2, 2)}])


def residual_net(name):
    g = GraphBuilder(name)
    x = conv_bn_relu(g, g.input("input", IMAGE), 8, name="stem")
    for block, (channels, stride) in enumerate([(8, 1), (16, 2)]):
        with g.scope(f"block{block}"):
            x = basic_block(g, x, channels, stride)
    classify(g, x)
    return g


def tiny_residual():
    return with_images(residual_net("tiny_residual"))


def tiny_external():
    return with_images(residual_net("tiny_external"), external_data=True)


def tiny_dynamic():
    """The batch has no fixed size; the test data tries one and three."""
    g = GraphBuilder("tiny_dynamic")
    x = g.input("input", ["batch", *IMAGE[1:]])
    x = conv_bn_relu(g, x, 8, stride=2)
    flat = g.node("Reshape", x, g.ints("rows", [0, -1]))
    g.output(g.gemm(flat, 10, in_features=8 * 8 * 8, name="logits"), ["batch", 10])
    batches = [tensors.image(f"tiny_dynamic.input{n}", (n, *IMAGE[1:])) for n in (1, 3)]
    return Model(g.model(), [{"input": batch} for batch in batches])


def tiny_constants():
    """No weight is an initializer: all come from Constant and ConstantOfShape nodes, some through
    arithmetic, and a target shape is computed from a static one."""
    g = GraphBuilder("tiny_constants")

    def constant(name, array):
        tensor = numpy_helper.from_array(np.asarray(array), name)
        return g.node("Constant", name=name, value=tensor)

    def filled(name, size, value):
        tensor = numpy_helper.from_array(np.array([value], np.float32), "value")
        shape = g.node("Constant", value_ints=[size])
        return g.node("ConstantOfShape", shape, name=name, value=tensor)

    x = g.input("input", IMAGE)
    kernel = constant("kernel", tensors.weight("kernel", (8, 3, 3, 3), 27, 1.0))
    kernel = g.node("Mul", kernel, g.node("Constant", value_float=1.5))
    x = g.node("Conv", x, kernel, filled("bias", 8, 0.25), pads=[1, 1, 1, 1])
    mean = g.node("Constant", value_floats=[k / 16 for k in range(8)])
    x = g.node("BatchNormalization", x, filled("scale", 8, 1.25), filled("shift", 8, 0.0), mean,
               filled("variance", 8, 0.9))
    x = g.max_pool(g.relu(x), 4, stride=4)
    rows = g.node("Gather", g.node("Shape", x), constant("first", np.array([0], np.int64)))
    target = g.node("Concat", rows, g.node("Constant", value_ints=[-1]), axis=0)
    dense = constant("dense", tensors.weight("dense", (10, 128), 128, 1.0))
    x = g.node("MatMul", g.node("Reshape", x, target), g.node("Transpose", dense, perm=[1, 0]))
    offset = g.node("Cast", g.node("Constant", value_ints=range(10)), to=TensorProto.FLOAT)
    offset = g.node("Mul", offset, g.node("Constant", value_float=0.125))
    g.output(g.add(x, offset, name="logits"), [1, 10])
    return with_images(g)


def tiny_two_branches():
    """Two independent branches from one input; one of their results is also an output."""
    g = GraphBuilder("tiny_two_branches")
    x = g.input("input", IMAGE)
    left = conv_bn_relu(g, x, 8, stride=2, name="left")
    pooled = g.average_pool(x, 3, stride=2, pad=1, include_pad=True)
    right = g.node("Sigmoid", g.conv(pooled, 8, 1, bias=True, name="right"), name="gate")
    g.output(right, [1, 8, 8, 8])
    classify(g, g.concat([left, right]))
    return with_images(g)


def tiny_diamond():
    """A fork whose one side holds an operator that only the CPU has (Gather of channels). Fusing
    everything else would put a cycle between the fused partition and that node."""
    g = GraphBuilder("tiny_diamond")
    top = conv_bn_relu(g, g.input("input", IMAGE), 8, name="top")
    left = g.relu(g.conv(top, 8, 3, name="left"), name="left_relu")
    right = g.node("Gather", top, g.ints("order", [7, 2, 5, 0, 3, 6, 1, 4]), name="right", axis=1)
    bottom = g.conv(g.add(left, right, name="join"), 8, 3, stride=2, name="bottom")
    classify(g, g.relu(bottom))
    return with_images(g)


def channel_shuffle(g, x, groups, channels):
    order = [c * (channels // groups) + k for k in range(channels // groups) for c in range(groups)]
    return g.node("Gather", x, g.ints("order", order), name="shuffled", width=channels, axis=1)


def tiny_quick():
    """The README's sample: a residual network of 1.2 million weights whose channel shuffle in the
    middle (a Gather) is left to the CPU provider, with a partition of dnnl on either side."""
    g = GraphBuilder("tiny_quick")
    x = conv_bn_relu(g, g.input("input", [1, 3, 64, 64]), 32, kernel=7, stride=2, name="stem")
    x = g.max_pool(x, 3, stride=2, pad=1)
    with g.scope("stage1"):
        x = channel_shuffle(g, basic_block(g, x, 64), 4, 64)
    for stage, channels in ((2, 128), (3, 256)):
        with g.scope(f"stage{stage}"):
            x = basic_block(g, x, channels, stride=2)
    classify(g, x, classes=100)
    g.output(g.node("Softmax", "logits", name="probabilities", axis=1), [1, 100])
    return with_images(g, (1, 3, 64, 64))
