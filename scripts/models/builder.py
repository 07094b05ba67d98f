"""GraphBuilder writes an ONNX graph layer by layer.

It names nodes, creates seeded weights and remembers how many channels a value has, so that the
model families read like their papers. A node with one output gives its name to that output. It
knows nothing of particular models (one module per family) nor of files (files.py).
"""

import contextlib
import dataclasses
import math

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from models import tensors

IR_VERSIONS = {13: 7, 17: 8, 21: 10}  # operator set -> the IR version that was current with it
RELU_GAIN = 2.0**0.5


@dataclasses.dataclass
class Model:
    """A finished model with the inputs of each of its test data sets as a dict of arrays."""

    proto: ModelProto
    data_sets: list
    external_data: bool = False  # write the weights to a file beside the model


def pair(value):
    """Expands a size along height and width that is given once or twice."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


class GraphBuilder:
    """One graph under construction. Methods that append a node return the name of its output."""

    def __init__(self, name, opset=13):
        self._proto = ModelProto()
        self.graph = self._proto.graph  # filled in place: weights can be hundreds of megabytes
        self.graph.name = name
        self.opset = opset
        self.width = {}  # value -> channels (NCHW) or features (last axis), where known
        self._taken = {}
        self._prefix = ""

    # Structure

    @contextlib.contextmanager
    def scope(self, name):
        """Prefixes the names created inside the with block: scope("layer1") gives layer1.conv."""
        outer = self._prefix
        self._prefix = f"{outer}{name}."
        yield
        self._prefix = outer

    def subgraph(self, name):
        """A builder for the body of an If or Loop. It sees this builder's values; pass its `graph`
        as the attribute once its outputs are set."""
        inner = GraphBuilder(name, self.opset)
        inner.width, inner._taken = self.width, self._taken
        inner._prefix = f"{self._prefix}{name}."
        return inner

    def input(self, name, shape, dtype=TensorProto.FLOAT, width=None):
        name = self._claim(name)
        self.graph.input.append(helper.make_tensor_value_info(name, dtype, shape))
        self.width[name] = width or (shape[1] if len(shape) > 1 else None)
        return name

    def output(self, value, shape, dtype=TensorProto.FLOAT):
        self.graph.output.append(helper.make_tensor_value_info(value, dtype, shape))

    def model(self):
        self._proto.ir_version = IR_VERSIONS[self.opset]
        self._proto.producer_name = "ephost"
        self._proto.opset_import.add(domain="", version=self.opset)
        return self._proto

    def node(self, op_type, *inputs, name=None, outputs=1, width=None, **attributes):
        """Appends any node; with several outputs, returns the list of their names."""
        return self._append(op_type, inputs, self._claim(name or op_type.lower()), outputs, width,
                            attributes)

    def initializer(self, name, array):
        return self._store(self._claim(name), np.asarray(array))

    def seeded(self, name, shape, low, high):
        """An initializer of seeded values, evenly spread over [low, high)."""
        return self._seeded(self._claim(name), shape, low, high)

    def ints(self, name, values):
        """An int64 initializer, e.g. a shape."""
        return self.initializer(name, np.array(values, np.int64))

    def scalar(self, name, value):
        return self.initializer(name, np.array(value, np.float32))

    # Layers

    def conv(self, x, channels, kernel, *, stride=1, pad=None, dilation=1, groups=1, bias=False,
             gain=RELU_GAIN, name="conv"):
        """Convolution; without `pad`, an odd kernel at stride 1 keeps height and width."""
        name, kernel, dilation = self._claim(name), pair(kernel), pair(dilation)
        if pad is None:
            pad = [d * (k - 1) // 2 for d, k in zip(dilation, kernel)]
        shape = (channels, self.width[x] // groups, *kernel)
        inputs = [x, self._weight(name, shape, math.prod(shape[1:]), gain)]
        if bias:
            inputs.append(self._bias(name, channels))
        geometry = dict(kernel_shape=kernel, strides=pair(stride), pads=pair(pad) * 2,
                        dilations=dilation, group=groups)
        return self._append("Conv", inputs, name, 1, channels, geometry)

    def batch_norm(self, x, name="bn", scale=1.0):
        """BatchNormalization with statistics near mean 0 and variance 1; `scale` damps a branch."""
        name, width = self._claim(name), self.width[x]
        ranges = dict(weight=(0.8 * scale, 1.2 * scale), bias=(-0.1, 0.1), mean=(-0.1, 0.1),
                      var=(0.7, 1.3))
        inputs = [x, *(self._seeded(f"{name}.{part}", (width,), low, high)
                       for part, (low, high) in ranges.items())]
        return self._append("BatchNormalization", inputs, name, 1, width, dict(epsilon=1e-5))

    def relu(self, x, name="relu"):
        return self.node("Relu", x, name=name)

    def relu6(self, x, name="relu6"):
        name = self._claim(name)
        bounds = [self._store(f"{name}.{end}", np.array(value, np.float32))
                  for end, value in (("min", 0), ("max", 6))]
        return self._append("Clip", [x, *bounds], name, 1, None, {})

    def max_pool(self, x, kernel, stride, pad=0, name="maxpool"):
        """`pad` is a size, a pair, or all four: top, left, bottom, right."""
        pads = pad if isinstance(pad, (tuple, list)) and len(pad) == 4 else pair(pad) * 2
        return self.node("MaxPool", x, name=name, kernel_shape=pair(kernel), strides=pair(stride),
                         pads=pads)

    def average_pool(self, x, kernel, stride, pad=0, include_pad=False, name="avgpool"):
        return self.node("AveragePool", x, name=name, kernel_shape=pair(kernel),
                         strides=pair(stride), pads=pair(pad) * 2,
                         count_include_pad=int(include_pad))

    def global_average_pool(self, x, name="pool"):
        """Mean over height and width, flattened to [batch, channels]."""
        pooled = self.node("GlobalAveragePool", x, name=name)
        return self.node("Flatten", pooled, name="flatten", axis=1)

    def add(self, x, y, name="add"):
        return self.node("Add", x, y, name=name)

    def concat(self, values, name="concat"):
        """Joins along the channels."""
        width = sum(self.width[value] for value in values)
        return self.node("Concat", *values, name=name, width=width, axis=1)

    def gemm(self, x, features, *, in_features=None, gain=1.0, name="fc"):
        """A fully connected layer on [batch, features], weights stored [out, in]."""
        name, fan_in = self._claim(name), in_features or self.width[x]
        weight = self._weight(name, (features, fan_in), fan_in, gain)
        inputs = [x, weight, self._bias(name, features)]
        return self._append("Gemm", inputs, name, 1, features, dict(transB=1))

    def linear(self, x, features, *, gain=1.0, name="linear"):
        """MatMul and Add on the last axis, weights stored [in, out]."""
        name, fan_in = self._claim(name), self.width[x]
        weight = self._weight(name, (fan_in, features), fan_in, gain)
        product = self._append("MatMul", [x, weight], f"{name}.matmul", 1, features, {})
        return self._append("Add", [product, self._bias(name, features)], name, 1, features, {})

    # Names and storage

    def _claim(self, name):
        """The full name, numbered from the second use on."""
        full = self._prefix + name
        count = self._taken[full] = self._taken.get(full, -1) + 1
        return full if count == 0 else f"{full}_{count}"

    def _append(self, op_type, inputs, name, outputs, width, attributes):
        results = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.graph.node.append(helper.make_node(op_type, inputs, results, name=name, **attributes))
        inherited = self.width.get(inputs[0]) if inputs else None
        self.width.update(dict.fromkeys(results, width or inherited))
        return results[0] if outputs == 1 else results

    def _store(self, name, array):
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        self.width[name] = array.shape[-1] if array.ndim else None
        return name

    def _seeded(self, name, shape, low, high):
        return self._store(name, tensors.uniform(name, shape, low, high))

    def _weight(self, layer, shape, fan_in, gain):
        name = f"{layer}.weight"
        return self._store(name, tensors.weight(name, shape, fan_in, gain))

    def _bias(self, layer, size):
        return self._seeded(f"{layer}.bias", (size,), -0.1, 0.1)
