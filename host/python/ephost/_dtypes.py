"""Element types of ONNX as dtypes of numpy, also those that numpy itself does not have.

The package ml_dtypes has dtypes for these. Without it, their elements are integers with the same bits: bfloat16 is
uint16, the types of 8 bits and float4 are uint8, and integers of 4 and 2 bits are int8 or uint8 with the same value.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _ephost
from ._errors import invalid_argument

STRING = 8
# Element type: its name in ml_dtypes.
EXTENSIONS = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz",
              21: "uint4", 22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2"}
_NUMBERS = {name: number for number, name in EXTENSIONS.items()}
# Fields of the structured dtypes that the package onnx had before it used ml_dtypes.
_NUMBERS.update(e4m3fn=17, e4m3fnuz=18, e5m2=19, e5m2fnuz=20, float4e2m1=23)
_SIGNED = {22, 26}


def _ml_dtype(number: int) -> np.dtype | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    found = getattr(ml_dtypes, EXTENSIONS[number], None)
    return None if found is None else np.dtype(found)


def element_type(given: Any) -> int:
    """The element type of a dtype, of whatever numpy takes for one, or of a number as in onnx.TensorProto."""
    if isinstance(given, int) and not isinstance(given, bool):
        if given == STRING or _ephost.element_bits(given) != 0:
            return given
        raise invalid_argument(f"{given} is not an element type of onnx.TensorProto")
    dtype = np.dtype(given)
    if dtype.kind in "OUS" or is_void(dtype):
        return STRING
    found = extension_of(dtype) or _ephost.element_type_of(dtype.newbyteorder("="))
    if found == 0:
        raise invalid_argument(f"numpy's {dtype} is not an element type of ONNX; convert the array, e.g. with astype")
    return found


def is_void(dtype: np.dtype) -> bool:
    """Whether items are bytes without a meaning, which onnxruntime takes for texts."""
    return dtype.kind == "V" and dtype.names is None and dtype.subdtype is None and not extension_of(dtype)


def extension_of(dtype: np.dtype) -> int:
    """The element type of a dtype that numpy does not have itself; 0 for others."""
    if dtype.names is not None:
        return _NUMBERS.get(dtype.names[0], 0) if len(dtype.names) == 1 else 0
    return _NUMBERS.get(dtype.name, 0)


def dtype_of(number: int) -> np.dtype:
    """The dtype of arrays that hold elements of this type."""
    if number == STRING:
        return np.dtype(object)
    known = _ephost.dtype_of(number)
    if known is not None:
        return known
    return _ml_dtype(number) or _stand_in(number)


def _stand_in(number: int) -> np.dtype:
    if number in _SIGNED:
        return np.dtype(np.int8)
    return np.dtype(np.uint16 if _ephost.element_bits(number) == 16 else np.uint8)


def pack(array: np.ndarray, number: int) -> np.ndarray:
    """The bytes of a tensor whose elements are in `array`, one in each item."""
    bits = _ephost.element_bits(number)
    items = np.ascontiguousarray(array).reshape(-1)
    if items.dtype.itemsize * 8 != max(bits, 8):
        raise invalid_argument(f"elements of {array.dtype} have another size than those of "
                               f"{_ephost.element_type_name(number)}")
    flat = items.view(np.uint8)
    if bits >= 8:
        return flat
    if items.dtype.kind in "iu":
        lowest, count = (-(1 << bits - 1) if number in _SIGNED else 0), 1 << bits
        if items.size and not lowest <= int(items.min()) <= int(items.max()) < lowest + count:
            raise invalid_argument(f"the array has numbers outside of {lowest} to {lowest + count - 1}, "
                                   f"which {_ephost.element_type_name(number)} does not hold")
    each = 8 // bits
    padded = np.zeros(-(-flat.size // each) * each, np.uint8)
    padded[:flat.size] = flat & ((1 << bits) - 1)
    shifts = np.arange(each, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(padded.reshape(-1, each) << shifts, axis=1)


def unpack(data: np.ndarray, number: int, shape: list[int]) -> np.ndarray:
    """The reverse: an array over the same bytes where elements are whole bytes."""
    bits = _ephost.element_bits(number)
    dtype = _ml_dtype(number)
    if bits >= 8:
        return data.view(dtype or _stand_in(number)).reshape(shape)
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    codes = ((data[:, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(-1)
    codes = codes[:int(np.prod(shape, dtype=np.int64))].reshape(shape)
    if EXTENSIONS[number].startswith("float"):
        return codes if dtype is None else codes.view(dtype)
    numbers = codes.view(np.int8)
    if number in _SIGNED:
        numbers = np.where(numbers >= 1 << bits - 1, numbers - np.int8(1 << bits - 1) - np.int8(1 << bits - 1), numbers)
    return numbers.astype(dtype or _stand_in(number))
