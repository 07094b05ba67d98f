"""Values and models as ONNX messages, also of element types and opsets that the installed onnx does
not know: a message holds numbers and bytes, which are not checked here."""

import numpy as np
from onnx import (AttributeProto, MapProto, SequenceProto, TensorProto, TypeProto, ValueInfoProto, helper,
                  mapping, numpy_helper)

STRING, INT64 = TensorProto.STRING, TensorProto.INT64
FLOAT16, BFLOAT16 = TensorProto.FLOAT16, TensorProto.BFLOAT16
# Newer than the installed onnx.
FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ = 17, 18, 19, 20
UINT4, INT4, FLOAT4E2M1 = 21, 22, 23
FLOAT8E8M0, UINT2, INT2 = 24, 25, 26
BITS = {BFLOAT16: 16, UINT4: 4, INT4: 4, FLOAT4E2M1: 4, UINT2: 2, INT2: 2}  # all others: 8


class Coded:
    """A tensor of a type that numpy lacks: the code of each element as an unsigned integer."""

    def __init__(self, element_type, codes):
        self.element_type = element_type
        self.codes = np.asarray(codes, np.uint16)

    @property
    def shape(self):
        return self.codes.shape

    def raw(self):
        bits = BITS.get(self.element_type, 8)
        flat = self.codes.flatten()
        if bits == 16:
            return flat.tobytes()
        per_byte = 8 // bits
        flat = np.append(flat, np.zeros(-flat.size % per_byte, np.uint16)).reshape(-1, per_byte)
        shifts = np.arange(per_byte, dtype=np.uint16) * bits
        return (flat << shifts).sum(axis=1).astype(np.uint8).tobytes()


# ---- Types ---------------------------------------------------------------------------------------

def key_type(keys):
    return STRING if isinstance(keys[0], str) else INT64


def element_type(tensor):
    if isinstance(tensor, Coded):
        return tensor.element_type
    tensor = np.asarray(tensor)
    return STRING if tensor.dtype.kind in "OU" else mapping.NP_TYPE_TO_TENSOR_TYPE[tensor.dtype]


def type_of(value):
    """The type of a tensor, a list (a sequence) or a dict (a map), without shapes."""
    if isinstance(value, dict):
        element = next(iter(value.values()))
        made = TypeProto()
        made.map_type.key_type = key_type(list(value))
        made.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(
            type_of(np.array(element)).tensor_type.elem_type, []))
        return made
    if isinstance(value, list):
        return helper.make_sequence_type_proto(type_of(value[0]))
    return helper.make_tensor_type_proto(element_type(value), None)


# ---- Values --------------------------------------------------------------------------------------

def message_of(value, name=""):
    if isinstance(value, dict):
        message = MapProto(name=name, key_type=key_type(list(value)))
        (message.string_keys if message.key_type == STRING else message.keys).extend(
            [key.encode() if isinstance(key, str) else key for key in value])
        message.values.CopyFrom(message_of([np.array(element) for element in value.values()]))
        return message
    if isinstance(value, list):
        message = SequenceProto(name=name)
        of_maps = isinstance(value[0], dict)
        message.elem_type = SequenceProto.MAP if of_maps else SequenceProto.TENSOR
        (message.map_values if of_maps else message.tensor_values).extend(
            [message_of(element) for element in value])
        return message
    if isinstance(value, Coded):
        return TensorProto(name=name, data_type=value.element_type, dims=value.shape,
                           raw_data=value.raw())
    value = np.asarray(value)
    if value.dtype.kind in "OU":
        return helper.make_tensor(name, STRING, value.shape,
                                  [str(text).encode() for text in value.flatten()])
    return numpy_helper.from_array(value, name)


def attribute(name, value):
    if isinstance(value, (np.ndarray, Coded)):
        return helper.make_attribute(name, message_of(value))
    if isinstance(value, (list, tuple)) and not value:
        return AttributeProto(name=name, type=AttributeProto.INTS)
    return helper.make_attribute(name, value)


# ---- Models --------------------------------------------------------------------------------------

def node(op_type, inputs, outputs, domain="", **attributes):
    """Attributes that are None are omitted."""
    made = helper.make_node(op_type, inputs, outputs, domain=domain)
    made.attribute.extend(attribute(key, value) for key, value in attributes.items()
                          if value is not None)
    return made


def model(nodes, inputs, outputs, opsets, initializers=(), name="case"):
    """`inputs` are values by name, `outputs` value infos or mere names (of any type), `opsets` versions
    by domain."""
    graph = helper.make_graph(
        nodes, name,
        [helper.make_value_info(key, type_of(value)) for key, value in inputs.items()],
        [ValueInfoProto(name=output) if isinstance(output, str) else output for output in outputs],
        list(initializers))
    made = helper.make_model(graph, opset_imports=[
        helper.make_opsetid(domain, version) for domain, version in opsets.items()])
    made.ir_version = 10 if opsets.get("", 0) > 17 else 8
    return made


def write_test(folder, made, inputs, outputs):
    """Writes an ONNX backend test; inputs and outputs are values by name."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, (name, value) in enumerate(values.items()):
            (data / f"{kind}_{i}.pb").write_bytes(message_of(value, name).SerializeToString())
