"""A case: an operator with attributes and inputs, as a model of one node."""

import zlib

import numpy as np
from models import tensors

from operator_cases import messages

# ONNX Runtime's binding for JavaScript has no tensors of other types.
PLAIN_TYPES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}


class Random:
    """Stands for a tensor whose contents follow from the case's name and the input's place."""

    def __init__(self, shape, low, high, dtype):
        self.shape, self.low, self.high, self.dtype = shape, low, high, np.dtype(dtype)

    def make(self, name):
        if self.dtype.kind == "f":
            return tensors.uniform(name, self.shape, self.low, self.high).astype(self.dtype)
        made = tensors.integers(name, self.shape, self.high - self.low) + self.low
        return np.asarray(made).astype(self.dtype)


def floats(*shape, low=-2.0, high=2.0, dtype=np.float32):
    """Evenly spread over [low, high)."""
    return Random(shape, low, high, dtype)


def integers(*shape, low=0, high=10, dtype=np.int64):
    """Of [low, high)."""
    return Random(shape, low, high, dtype)


def flags(*shape):
    return Random(shape, 0, 2, np.bool_)


def array(values, dtype=np.float32):
    return np.array(values, dtype)


def longs(*values):
    return np.array(values, np.int64)


def texts(values):
    return np.array(values, object)


class Case:
    """`inputs` are arrays, Coded, Random, or None if omitted. `constant` has the positions of
    those that become initializers, as all do whose type is not plain. `outputs` is a count, or an element type
    for each output that is to be cast to it after the node, None for the others; False for one that is left out.
    Without `is_valid` the case must be refused; without `is_recorded` its results are too large to be recorded."""

    def __init__(self, op_type, name, inputs, opset, outputs=1, domain="", constant=(), version=None,
                 is_valid=True, is_recorded=True, **attributes):
        self.op_type = op_type
        self.is_valid = is_valid
        self.is_recorded = is_recorded
        self.name = f"{op_type}_{version or opset}_{name}".replace(" ", "_")
        self.opsets = {"": opset, domain: version or opset}
        self.domain = domain
        self.inputs = [each.make(f"{self.name}.{i}") if isinstance(each, Random) else each
                       for i, each in enumerate(inputs)]
        self.casts = [None] * outputs if isinstance(outputs, int) else outputs
        self.constant = {i for i, value in enumerate(self.inputs)
                         if value is not None and (i in constant or not self.is_plain(value))}
        self.attributes = attributes

    @staticmethod
    def is_plain(value):
        return messages.element_type(value) in PLAIN_TYPES

    def is_half(self):
        halves = {messages.FLOAT16, messages.BFLOAT16}
        return any(value is not None and messages.element_type(value) in halves for value in self.inputs)

    def named_inputs(self):
        return {f"x{i}": value for i, value in enumerate(self.inputs)
                if value is not None and i not in self.constant}

    def output_names(self):
        return [f"y{i}" for i, cast in enumerate(self.casts) if cast is not False]

    def nodes(self):
        results = ["" if cast is False else f"y{i}" if cast is None else f"result{i}"
                   for i, cast in enumerate(self.casts)]
        names = ["" if value is None else f"x{i}" for i, value in enumerate(self.inputs)]
        yield messages.node(self.op_type, names, results, self.domain, **self.attributes)
        for i, cast in enumerate(self.casts):
            if cast:
                yield messages.node("Cast", [results[i]], [f"y{i}"], to=cast)

    def model(self):
        initializers = [messages.message_of(self.inputs[i], f"x{i}") for i in sorted(self.constant)]
        return messages.model(list(self.nodes()), self.named_inputs(), self.output_names(), self.opsets,
                              initializers)

    def checksum(self):
        """The checksum of everything that the results depend on."""
        values = [(messages.element_type(value), value.shape, self.contents(value))
                  for value in self.inputs if value is not None]
        attributes = {key: messages.message_of(value).SerializeToString()
                      if isinstance(value, (np.ndarray, messages.Coded)) else value
                      for key, value in self.attributes.items()}
        described = (self.op_type, sorted(self.opsets.items()), self.casts, values,
                     sorted(attributes.items()), [value is None for value in self.inputs])
        return zlib.crc32(repr(described).encode())

    @staticmethod
    def contents(value):
        if isinstance(value, messages.Coded):
            return value.raw()
        return value.tolist() if value.dtype.kind in "OU" else value.tobytes()


class Chain(Case):
    """Several nodes in a row, for operators on values that cannot be graph inputs or outputs here.
    `steps` are (op_type, inputs, outputs, attributes) over the names x0, x1, ... and y0, y1, ..."""

    def __init__(self, op_type, name, inputs, opset, steps, outputs=1, **given):
        super().__init__(op_type, name, inputs, opset, outputs, **given)
        self.steps = steps

    def nodes(self):
        for op_type, inputs, outputs, attributes in self.steps:
            yield messages.node(op_type, inputs, outputs, **attributes)

    def checksum(self):
        return zlib.crc32(repr(self.steps).encode(), super().checksum())
