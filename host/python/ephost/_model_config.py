"""onnxruntime's configuration in a model: the metadata "ort_config", a JSON text with session options.

As with onnxruntime it counts only where the environment variable ORT_LOAD_CONFIG_FROM_MODEL is 1, and then stands before
the options that the program gives.
"""
from __future__ import annotations

import io
import json
import os
from typing import BinaryIO, Iterator

from ._enums import ExecutionMode, GraphOptimizationLevel
from ._errors import invalid_argument
from ._options import SessionOptions

_METADATA = 14  # the field of ModelProto
_OPTIONS = {"intra_op_num_threads": int, "inter_op_num_threads": int, "execution_mode": ExecutionMode,
            "graph_optimization_level": GraphOptimizationLevel, "enable_profiling": bool}


def with_config_of_model(options: SessionOptions, model: str | bytes) -> SessionOptions:
    """The options themselves, or a copy with what the model declares."""
    if os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") != "1":
        return options
    try:
        text = metadata_of(model).get(b"ort_config")
    except (OSError, EOFError):
        return options  # creating the session says what is wrong with the model
    return options if text is None else _overlaid(options, text)


def _overlaid(options: SessionOptions, text: bytes) -> SessionOptions:
    overlaid = options._copy()
    try:
        stated = json.loads(text).get("session_options", {})
        for name, value in stated.items():
            if name not in _OPTIONS:
                raise ValueError(f"there is no option \"{name}\"; there are {', '.join(_OPTIONS)}")
            setattr(overlaid, name, _OPTIONS[name](value))
    except (ValueError, TypeError, AttributeError) as error:
        raise invalid_argument(f"the model's metadata \"ort_config\" is wrong: {error}") from error
    return overlaid


def metadata_of(model: str | bytes) -> dict[bytes, bytes]:
    """Reads nothing else of the model; EOFError where that is not a message."""
    found: dict[bytes, bytes] = {}
    with io.BytesIO(model) if isinstance(model, bytes) else open(model, "rb") as file:
        for _, value in _fields(file, {_METADATA}):
            entry = dict(_fields(io.BytesIO(value), {1, 2}))
            found[entry.get(1, b"")] = entry.get(2, b"")
    return found


def _fields(file: BinaryIO, wanted: set[int]) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that have a length, and are wanted: number and bytes."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    while (key := _varint(file)) is not None:
        kind = key & 7
        if key >> 3 == 0:
            raise EOFError
        if kind == 0:
            _varint(file)
        elif kind == 2:
            length = _varint(file) or 0
            if length > size - file.tell():
                raise EOFError
            if key >> 3 in wanted:
                yield key >> 3, file.read(length)
            else:
                file.seek(length, io.SEEK_CUR)
        elif kind in (1, 5):
            file.seek(8 if kind == 1 else 4, io.SEEK_CUR)
        else:
            raise EOFError


def _varint(file: BinaryIO) -> int | None:
    """None at the end."""
    number = shift = 0
    while byte := file.read(1):
        number |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return number
        shift += 7
        if shift > 63:
            raise EOFError
    return None
