"""A plain numpy evaluator for the operators that the generated models use (operator set 13 to 21).

It is where the expected outputs of the tests come from, and shares no code with ephost. All
floating-point work is done in float64 and rounded once, at the graph's outputs; convolution and
pooling loop over the kernel's positions instead of building a matrix of patches. An operator,
attribute or input that it does not know is an error, never ignored. The quantised operators are
in quantized_reference.py.
"""

import math

import numpy as np
from onnx import AttributeProto, GraphProto, TensorProto, ValueInfoProto, helper, numpy_helper

from models import quantized_reference
from models.four_bits import to_array

KERNELS = {
    **quantized_reference.KERNELS,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.true_divide,  # floating point only
    "Pow": np.power,
    "Neg": np.negative,
    "Sqrt": np.sqrt,
    "Tanh": np.tanh,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Where": np.where,
    "MatMul": np.matmul,
    "Erf": np.vectorize(math.erf, otypes=[np.float64]),
    "Identity": lambda x: x,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Shape": lambda x: np.array(x.shape, np.int64),
    "Transpose": lambda x, perm: x.transpose(perm),
    "Gather": lambda x, indices, axis=0: np.take(x, indices, axis),
    "Range": lambda start, limit, delta: np.arange(start, limit, delta),
    "Split": lambda x, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    "Concat": lambda *inputs, axis: np.concatenate(inputs, axis),
    "Expand": lambda x, shape: x * np.ones(shape, x.dtype),
    "Flatten": lambda x, axis=1: x.reshape(math.prod(x.shape[:axis]), -1),
    "Cast": lambda x, to: x.astype(working_type(to)),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "GlobalAveragePool": lambda x: x.mean(tuple(range(2, x.ndim)), keepdims=True),
    "If": lambda condition, then_branch, else_branch: then_branch() if condition else else_branch(),
}


def run(model, inputs, observe=None):
    """Evaluates a ModelProto on a dict of arrays; returns the outputs in the graph's order, each
    of its declared type and checked against its declared shape. `observe` is called with the name
    and the value of each input of the main graph and of each result of its nodes."""
    loaded = {name: working_array(array) for name, array in inputs.items()}
    functions = {(function.domain, function.name): function for function in model.functions}
    frame = Frame(loaded, model.graph.initializer, functions=functions)
    for name, value in loaded.items() if observe else ():
        observe(name, value)
    results = evaluate(model.graph, frame, observe)
    return [finish(value, declared) for value, declared in zip(results, model.graph.output)]


def operator(op_type):
    def register(kernel):
        KERNELS[op_type] = kernel
        return kernel

    return register


class Frame:
    """The values that the nodes of one graph see: its own, then those of the graph around it."""

    def __init__(self, values, initializers, outer=None, functions=None):
        self.values, self.outer = values, outer
        self.functions = outer.functions if outer else functions or {}
        self.initializers = {tensor.name: tensor for tensor in initializers}

    def get(self, name):
        if name in self.values:
            return self.values[name]
        if name in self.initializers:  # converted at each use, so that no float64 copy stays
            return working_array(to_array(self.initializers[name]))
        if self.outer is None:
            raise KeyError(f"value '{name}' is read before it is written")
        return self.outer.get(name)


class Subgraph:
    """A nested graph as something that can be called with the values of its inputs."""

    def __init__(self, graph, frame):
        self.graph, self.frame = graph, frame

    def __call__(self, *inputs):
        values = {declared.name: value for declared, value in zip(self.graph.input, inputs)}
        return evaluate(self.graph, Frame(values, self.graph.initializer, self.frame))

    def empty_scan(self, index):
        """The value of scan output `index` after zero iterations."""
        declared = self.graph.output[index].type.tensor_type
        dims = [dim.dim_value for dim in declared.shape.dim]
        return np.empty([0, *dims], working_type(declared.elem_type))


def evaluate(graph, frame, observe=None):
    for node in graph.node:
        try:
            inputs = [frame.get(name) if name else None for name in node.input]
            attributes = {a.name: attribute_value(a, frame) for a in node.attribute}
            function = frame.functions.get((node.domain, node.op_type))
            results = (call(function, inputs, frame.functions) if function
                       else KERNELS[node.op_type](*inputs, **attributes))
        except Exception as error:
            error.add_note(f"while evaluating {node.op_type} '{node.name}'")
            raise
        if not isinstance(results, (list, tuple)):
            results = [results]
        frame.values.update(zip(node.output, results))
        for name, value in zip(node.output, results) if observe else ():
            observe(name, value)
    return [frame.get(output.name) for output in graph.output]


def call(function, inputs, functions):
    """A function without attributes, on the values of its inputs."""
    body = GraphProto(node=function.node,
                      output=[ValueInfoProto(name=name) for name in function.output])
    return evaluate(body, Frame(dict(zip(function.input, inputs)), [], functions=functions))


def attribute_value(attribute, frame):
    value = helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.GRAPH:
        return Subgraph(value, frame)
    if attribute.type == AttributeProto.TENSOR:
        return working_array(to_array(value))
    return value


def numpy_type(elem_type):
    return numpy_helper.to_array(TensorProto(data_type=elem_type, dims=[0])).dtype


def working_type(elem_type):
    """The numpy type that an ONNX element type is computed in."""
    dtype = numpy_type(elem_type)
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def working_array(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def finish(value, declared):
    tensor = declared.type.tensor_type
    dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    fits = len(dims) == value.ndim and all(d in (None, s) for d, s in zip(dims, value.shape))
    if not fits or value.dtype != working_type(tensor.elem_type):
        raise ValueError(f"output '{declared.name}' is {value.dtype}{list(value.shape)}, "
                         f"declared {dims}")
    return value.astype(numpy_type(tensor.elem_type))


def padded(x, pads, fill):
    """x with `pads` (all begins, then all ends) of `fill` around its spatial axes."""
    rank = x.ndim - 2
    pads = pads or [0] * 2 * rank
    return np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])], constant_values=fill)


def windows(x, kernel, strides, dilations=None):
    """For each position of the kernel, in row-major order, the elements of x that it meets."""
    strides, dilations = strides or [1] * len(kernel), dilations or [1] * len(kernel)
    # From the first to the last position of the kernel's origin along each axis.
    reach = [(size - d * (k - 1) - 1) // s * s + 1
             for size, k, s, d in zip(x.shape[2:], kernel, strides, dilations)]
    for position in np.ndindex(*kernel):
        starts = [p * d for p, d in zip(position, dilations)]
        yield x[(..., *(slice(b, b + r, s) for b, r, s in zip(starts, reach, strides)))]


@operator("Conv")
def conv(x, weight, bias=None, *, kernel_shape=None, strides=None, pads=None, dilations=None,
         group=1):
    outputs, inputs, *kernel = weight.shape
    assert kernel_shape is None or list(kernel_shape) == kernel
    taps = weight.reshape(group, outputs // group, inputs, -1).transpose(3, 0, 1, 2).copy()
    result = 0
    for tap, view in zip(taps, windows(padded(x, pads, 0), kernel, strides, dilations)):
        result = result + tap @ view.reshape(len(x), group, inputs, -1)
    result = result.reshape(len(x), outputs, *view.shape[2:])
    return result if bias is None else result + channelwise(bias, x)


@operator("MaxPool")
def max_pool(x, *, kernel_shape, strides=None, pads=None):
    return np.maximum.reduce(list(windows(padded(x, pads, -np.inf), kernel_shape, strides)))


@operator("AveragePool")
def average_pool(x, *, kernel_shape, strides=None, pads=None, count_include_pad=0):
    counted = padded(np.ones_like(x), pads, count_include_pad)
    total = sum(windows(padded(x, pads, 0), kernel_shape, strides))
    return total / sum(windows(counted, kernel_shape, strides))


def channelwise(values, x):
    """Per-channel values in a shape that broadcasts against x."""
    return values.reshape(-1, *[1] * (x.ndim - 2))


@operator("BatchNormalization")
def batch_normalization(x, scale, bias, mean, variance, *, epsilon=1e-5):
    factor = scale / np.sqrt(variance + epsilon)
    return x * channelwise(factor, x) + channelwise(bias - mean * factor, x)


@operator("Clip")
def clip(x, low=None, high=None):
    return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)


@operator("Gemm")
def gemm(a, b, c=0, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    return alpha * ((a.T if transA else a) @ (b.T if transB else b)) + beta * c


@operator("Softmax")
def softmax(x, *, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@operator("LayerNormalization")
def layer_normalization(x, scale, bias, *, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon) * scale + bias


@operator("Slice")
def slice_(x, starts, ends, axes, steps=None):
    steps = [1] * len(starts) if steps is None else steps
    ranges = [slice(None)] * x.ndim
    for axis, *bounds in zip(axes, starts, ends, steps):
        ranges[axis] = slice(*bounds)
    return x[tuple(ranges)]


@operator("ReduceMean")
def reduce_mean(x, *, axes=None, keepdims=1):
    return np.asarray(x.mean(tuple(axes) if axes else None, keepdims=bool(keepdims)))


@operator("Reshape")
def reshape(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


@operator("Constant")
def constant(*, value=None, value_float=None, value_floats=None, value_int=None, value_ints=None):
    if value is not None:
        return value
    reals = value_float if value_floats is None else value_floats
    if reals is not None:  # protobuf hands out float32 attributes as Python floats
        return np.array(reals, np.float32).astype(np.float64)
    return np.array(value_int if value_ints is None else value_ints, np.int64)


@operator("ConstantOfShape")
def constant_of_shape(shape, *, value=np.zeros(1)):
    return np.full(shape, value[0])


@operator("Loop")
def loop(limit, condition, *carried, body):
    carried, turns = list(carried), []
    while (limit is None or len(turns) < limit) and (condition is None or condition):
        condition, *results = body(np.array(len(turns), np.int64), np.array(True), *carried)
        carried = results[:len(carried)]
        turns.append(results[len(carried):])
    scans = range(len(carried) + 1, len(body.graph.output))
    if not turns:
        return carried + [body.empty_scan(index) for index in scans]
    return carried + [np.stack(values) for values in zip(*turns)]
