"""LoRA adapters: tensors in a file that a run takes in the place of a model's initializers of the same names.

What makes a model adaptable is in the model: initializers that are also inputs. An adapter is then a set of such inputs,
and active in the runs whose RunOptions have it. The file (".onnx_adapter") is a FlatBuffer with the identifier "TORT".
"""
from __future__ import annotations

import os
import struct
from typing import Any, Mapping

import numpy as np

from . import _dtypes, _ephost
from ._errors import invalid_argument
from ._ortvalue import OrtValue

_IDENTIFIER = b"TORT"
_FORMAT_VERSION = 1


class _Buffer:
    """Reads numbers of a FlatBuffer: all are little-endian, and offsets are relative to where they stand."""

    def __init__(self, data: bytes):
        self.data = data

    def number(self, kind: str, at: int) -> int:
        if not 0 <= at <= len(self.data) - struct.calcsize(kind):
            raise invalid_argument("the adapter is damaged: an offset leads outside of it")
        return struct.unpack_from("<" + kind, self.data, at)[0]

    def follow(self, at: int) -> int:
        return at + self.number("I", at)

    def vector(self, at: int, item_bytes: int) -> bytes:
        count = self.number("I", at)
        if count * item_bytes > len(self.data) - at - 4:
            raise invalid_argument("the adapter is damaged: a list is longer than the file")
        return self.data[at + 4:at + 4 + count * item_bytes]


class _Table:
    """A table's fields by their index in the schema."""

    def __init__(self, buffer: _Buffer, at: int):
        self._buffer, self._at = buffer, at
        self._fields = at - buffer.number("i", at)
        self._size = buffer.number("H", self._fields)

    def place(self, index: int) -> int | None:
        entry = 4 + 2 * index
        offset = self._buffer.number("H", self._fields + entry) if entry < self._size else 0
        return self._at + offset if offset else None

    def number(self, index: int) -> int:
        place = self.place(index)
        return 0 if place is None else self._buffer.number("i", place)

    def vector(self, index: int, item_bytes: int) -> tuple[int, bytes]:
        """Where the first item lies, and all of them."""
        place = self.place(index)
        if place is None:
            return 0, b""
        start = self._buffer.follow(place)
        return start + 4, self._buffer.vector(start, item_bytes)


def _read(data: bytes) -> tuple[int, int, dict[str, OrtValue]]:
    """Adapter version, model version, parameters."""
    if data[4:8] != _IDENTIFIER:
        raise invalid_argument("this is not an adapter: it lacks the identifier \"TORT\" of an .onnx_adapter file")
    buffer = _Buffer(data)
    adapter = _Table(buffer, buffer.follow(0))
    if adapter.number(0) != _FORMAT_VERSION:
        raise invalid_argument(f"the adapter has the format version {adapter.number(0)}, and only {_FORMAT_VERSION} is "
                               "known; export it again")
    first, offsets = adapter.vector(3, 4)
    tables = [_Table(buffer, buffer.follow(first + at)) for at in range(0, len(offsets), 4)]
    return adapter.number(1), adapter.number(2), dict(map(_parameter, tables))


def _parameter(table: _Table) -> tuple[str, OrtValue]:
    name = table.vector(0, 1)[1].decode("utf-8", "surrogateescape")
    shape = np.frombuffer(table.vector(1, 8)[1], "<i8").tolist()
    data = np.frombuffer(bytearray(table.vector(3, 1)[1]), np.uint8)  # a copy that may be written
    if table.number(2) == _dtypes.STRING:
        raise invalid_argument(f"the parameter \"{name}\" of the adapter has texts; only numbers can be parameters")
    return name, OrtValue(_ephost.Value.of_bytes(table.number(2), shape, data))


class _Writer:
    """Appends to a FlatBuffer from the front: offsets to what follows later are set when that is there."""

    def __init__(self) -> None:
        self.data = bytearray(8)
        self.data[4:8] = _IDENTIFIER

    def point(self, at: int) -> None:
        """Lets the offset at this place lead to the end."""
        struct.pack_into("<I", self.data, at, len(self.data) - at)

    def align(self, size: int, before: int = 0) -> None:
        self.data += bytes(-(len(self.data) + before) % size)

    def vector(self, at: int, count: int, items: bytes, item_bytes: int) -> int:
        """Where the first item lies. `at` is the offset that leads to the vector."""
        self.align(max(item_bytes, 4), 4)
        self.point(at)
        self.data += struct.pack("<I", count)
        start = len(self.data)
        self.data += items
        return start

    def table(self, at: int, numbers: Mapping[int, int], offsets: tuple[int, ...], fields: int) -> dict[int, int]:
        """A table of fields of four bytes; where its offsets stand."""
        self.align(4)
        places = {index: 4 + 4 * number for number, index in enumerate([*numbers, *offsets])}
        layout = [places.get(index, 0) for index in range(fields)]
        start = len(self.data)
        self.data += struct.pack(f"<HH{fields}H", 4 + 2 * fields, 4 + 4 * len(places), *layout)
        self.align(4)
        self.point(at)
        begin = len(self.data)
        self.data += struct.pack("<i", begin - start) + bytes(4 * len(places))
        for index, number in numbers.items():
            struct.pack_into("<i", self.data, begin + places[index], number)
        return {index: begin + places[index] for index in offsets}


def _written(adapter_version: int, model_version: int, parameters: Mapping[str, OrtValue]) -> bytes:
    writer = _Writer()
    root = writer.table(0, {0: _FORMAT_VERSION, 1: adapter_version, 2: model_version}, (3,), 4)
    first = writer.vector(root[3], len(parameters), bytes(4 * len(parameters)), 4)
    for index, (name, value) in enumerate(parameters.items()):
        held = value._ephost_value
        if not value.is_tensor() or held.element_type == _dtypes.STRING:
            raise invalid_argument(f"the parameter \"{name}\" is a {value.data_type()}; give tensors of numbers")
        places = writer.table(first + 4 * index, {2: held.element_type}, (0, 1, 3), 4)
        text = name.encode("utf-8", "surrogateescape")
        writer.vector(places[0], len(text), text + b"\0", 1)
        shape = np.array(held.shape, "<i8")
        writer.vector(places[1], shape.size, shape.tobytes(), 8)
        writer.vector(places[3], held.nbytes, held.bytes().tobytes(), 8)
    writer.align(8)
    return bytes(writer.data)


class AdapterFormat:
    """The content of an adapter file."""

    def __init__(self) -> None:
        self._adapter_version, self._model_version = 0, 0
        self._parameters: dict[str, OrtValue] = {}

    @staticmethod
    def read_adapter(file_path: str | os.PathLike) -> AdapterFormat:
        made = AdapterFormat()
        with open(os.fspath(file_path), "rb") as file:
            made._adapter_version, made._model_version, made._parameters = _read(file.read())
        return made

    def export_adapter(self, file_path: str | os.PathLike) -> None:
        path = os.fspath(file_path)
        data = _written(self._adapter_version, self._model_version, self._parameters)
        with open(path, "wb") as file:
            file.write(data)

    def get_format_version(self) -> int:
        return _FORMAT_VERSION

    def set_adapter_version(self, adapter_version: int) -> None:
        self._adapter_version = int(adapter_version)

    def get_adapter_version(self) -> int:
        return self._adapter_version

    def set_model_version(self, model_version: int) -> None:
        self._model_version = int(model_version)

    def get_model_version(self) -> int:
        return self._model_version

    def set_parameters(self, params: Mapping[str, OrtValue]) -> None:
        self._parameters = dict(params)

    def get_parameters(self) -> dict[str, OrtValue]:
        return dict(self._parameters)


class LoraAdapter:
    """An adapter for RunOptions.add_active_adapter."""

    def __init__(self) -> None:
        self._parameters: dict[str, OrtValue] = {}

    def Load(self, file_path: str | os.PathLike) -> None:  # noqa: N802 (onnxruntime's name)
        self._parameters = AdapterFormat.read_adapter(file_path).get_parameters()


class RunOptions(_ephost.RunOptions):
    """What one run, or several, are told."""

    def __init__(self) -> None:
        super().__init__()
        self._parameters: dict[str, OrtValue] = {}

    def add_active_adapter(self, adapter: LoraAdapter) -> None:
        """Gives the adapter's parameters to the runs, as inputs. What a run is given itself goes first."""
        if not isinstance(adapter, LoraAdapter):
            raise TypeError(f"an adapter has the type {type(adapter).__name__}; give a LoraAdapter")
        self._parameters.update(adapter._parameters)


def with_parameters(feed: Any, options: Any) -> Any:
    """What a run is given, and what active adapters add."""
    parameters = getattr(options, "_parameters", None)
    return {**parameters, **feed} if parameters else feed
