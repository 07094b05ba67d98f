"""The backend's classes, with onnxruntime's names beside ours."""
from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from ephost import _dtypes, _ephost, _values
from ephost._adapters import RunOptions
from ephost._enums import ValueKind
from ephost._options import SessionOptions
from ephost._session import InferenceSession


class EphostRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session: InferenceSession):
        self.session = session
        self._inputs = session._session.inputs()
        self._outputs = [one.name for one in session._session.outputs()]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """`inputs` are by name, or in the model's order, or a single one. Arrays are those that the package onnx uses
        for each element type, which may differ from those of `InferenceSession.run`; `kwargs` may have run_options, and
        attributes of RunOptions."""
        described = {one.name: one for one in self._inputs}
        if isinstance(inputs, np.ndarray) or self._is_map(inputs):
            inputs = [inputs]
        if not isinstance(inputs, Mapping):
            if len(inputs) > len(self._inputs):
                raise ValueError(f"the model has {len(self._inputs)} inputs, and is given {len(inputs)}")
            inputs = dict(zip(described, inputs))
        feeds = [(name, _value_of(given, described.get(name))) for name, given in inputs.items()]
        values = self.session._session.run_values(None, feeds, _run_options(kwargs))
        return namedtupledict("Outputs", self._outputs)(*map(_object_of, values))

    def _is_map(self, inputs: Any) -> bool:
        """Whether a dict is the model's single input itself, and not its inputs by name."""
        return isinstance(inputs, Mapping) and len(self._inputs) == 1 and self._inputs[0].kind == ValueKind.MAP \
            and set(inputs) != {self._inputs[0].name}


def _run_options(given: Mapping[str, Any]) -> _ephost.RunOptions | None:
    options = given.get("run_options")
    stated = {name: value for name, value in given.items() if _is_attribute(RunOptions, name)}
    if stated:
        options = options or RunOptions()
        for name, value in stated.items():
            setattr(options, name, value)
    return options


def _is_attribute(of: type, name: str) -> bool:
    """Whether options have this name; those of sessions and of runs may be given together."""
    return not name.startswith("_") and hasattr(of, name) and not callable(getattr(of, name))


class EphostBackend(Backend):
    """Runs on the CPU provider, and on those of `providers` before it."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        try:
            return Device(device).type == DeviceType.CPU
        except AttributeError:  # a type of device that onnx does not know
            return False

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> EphostRep:
        """`model` is a ModelProto, the bytes of one, a path, a session, or what this returns. `kwargs` are arguments of
        InferenceSession, and attributes of SessionOptions."""
        if isinstance(model, EphostRep):
            return model
        if isinstance(model, InferenceSession):
            return EphostRep(model)
        if not cls.supports_device(device):
            raise ValueError(f"there is no device {device}; inputs and outputs lie in host memory, \"CPU\"")
        if isinstance(model, onnx.ModelProto):
            model = model.SerializeToString()
        elif not isinstance(model, (bytes, str, os.PathLike)):
            raise TypeError(f"a model is a ModelProto, bytes or a path, not a {type(model).__name__}")
        return EphostRep(InferenceSession(model, **_session_arguments(kwargs)))

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs, **kwargs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
                 outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None, **kwargs: Any) -> tuple[Any, ...]:
        """`kwargs` may have opset_version, and arguments of InferenceSession."""
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        return cls.run_model(_model_of(node, inputs, version), inputs, device, **kwargs)


def _session_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is for runs only."""
    arguments = {name: value for name, value in given.items() if name != "run_options"}
    stated = {name: value for name, value in arguments.items() if _is_attribute(SessionOptions, name)}
    if stated:
        arguments["sess_options"] = options = (arguments.get("sess_options") or SessionOptions())._copy()
        for name, value in stated.items():
            setattr(options, name, value)
    return {name: value for name, value in arguments.items()
            if name not in stated and not _is_attribute(RunOptions, name)}


def _value_of(given: Any, description: _ephost.ValueDescription | None) -> _ephost.Value:
    if isinstance(given, list) and description is not None:
        element = description.element_type
        return _ephost.Value.sequence([_tensor_of(one, element) if isinstance(one, np.ndarray) else _value_of(one, None)
                                       for one in given], element)
    if isinstance(given, np.ndarray) and description is not None:
        return _tensor_of(given, description.element_type)
    return _values.value_of(given, None if description is None else description.type)


def _tensor_of(array: np.ndarray, stated: int) -> _ephost.Value:
    """A value from an array as the package onnx has it for elements of this type, among them float32 for the types
    of at most 16 bits that numpy lacks, or the bits of bfloat16 as uint16."""
    if stated not in _dtypes.EXTENSIONS or _dtypes.extension_of(array.dtype):
        return _values.of_array(array)
    if array.dtype.itemsize * 8 == _ephost.element_bits(stated):
        return _values.of_codes(array, stated)
    proto = helper.make_tensor("", stated, array.shape, array.reshape(-1).tolist())
    items = np.array(proto.int32_data, np.uint16 if _ephost.element_bits(stated) == 16 else np.uint8)
    data = np.frombuffer(proto.raw_data, np.uint8) if proto.raw_data else items.view(np.uint8)
    return _ephost.Value.of_bytes(stated, list(array.shape), data)


def _object_of(value: _ephost.Value) -> Any:
    if value.kind == ValueKind.SEQUENCE:
        return [_object_of(part) for part in value.parts()]
    if value.kind != ValueKind.TENSOR or value.element_type not in _dtypes.EXTENSIONS:
        return _values.object_of(value)
    proto = onnx.TensorProto(data_type=value.element_type, dims=value.shape)
    if _ephost.element_bits(value.element_type) == 16:
        proto.int32_data.extend(value.bytes().view(np.uint16).tolist())  # onnx 1.17 does not read raw_data of bfloat16
    else:
        proto.raw_data = value.bytes().tobytes()
    return numpy_helper.to_array(proto)


def _model_of(node: onnx.NodeProto, inputs: Any, version: int) -> onnx.ModelProto:
    given = inputs.values() if isinstance(inputs, Mapping) else [inputs] if isinstance(inputs, np.ndarray) else inputs
    names = list(inputs) if isinstance(inputs, Mapping) else [name for name in node.input if name]
    infos = [helper.make_tensor_value_info(name, _dtypes.element_type(np.asarray(array).dtype), np.shape(array))
             for name, array in zip(names, given)]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "node", infos, outputs)
    opsets = [helper.make_opsetid("", version)]
    if node.domain not in ("", "ai.onnx"):
        latest = onnx.defs.get_schema(node.op_type, domain=node.domain).since_version
        opsets.append(helper.make_opsetid(node.domain, latest))
    return helper.make_model(graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets))


OnnxRuntimeBackend = EphostBackend
OnnxRuntimeBackendRep = EphostRep
is_compatible = EphostBackend.is_compatible
prepare = EphostBackend.prepare
run = run_model = EphostBackend.run_model
run_node = EphostBackend.run_node
supports_device = EphostBackend.supports_device
