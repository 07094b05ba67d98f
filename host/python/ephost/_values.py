"""Python's objects as values of the host, and the reverse. The extension does numpy's own dtypes itself."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from . import _dtypes, _ephost
from ._enums import ValueKind
from ._errors import invalid_argument


def copy(array: np.ndarray) -> np.ndarray:
    """An aligned, row-major copy."""
    return np.array(array, order="C", copy=True)


def value_of(given: Any, type_text: str | None = None) -> _ephost.Value:
    """A value of what a run may be given; `type_text` is the host's text for the type of the input."""
    if isinstance(given, _ephost.Value):
        return given
    held = getattr(given, "_ephost_value", None)  # OrtValue, SparseTensor
    if held is not None:
        return held
    if given is None:
        return _ephost.Value()
    if isinstance(given, (np.ndarray, np.generic)):
        return of_array(np.asarray(given))
    text = _without_optional(type_text)
    if isinstance(given, (list, tuple)) and (text is None or text.startswith("seq(")):
        return _of_sequence(given, None if text is None else text[len("seq("):-1])
    if isinstance(given, (list, tuple)) and "(" not in text:
        return _of_list(given, text)
    if isinstance(given, dict) and (text is None or text.startswith("map(")):
        return _of_map(given, text)
    if hasattr(given, "__dlpack__"):
        return of_dlpack(given)
    wanted = "an array of numpy" if text is None else f"what the model has there, {text}"
    raise invalid_argument(f"an input is given a {type(given).__name__}; give {wanted}"
                           + (", as an array of numpy" if text is not None and "(" not in text else ""))


def _of_list(given: list | tuple, text: str) -> _ephost.Value:
    """A tensor of the type of the input, "float[2,3]"; no number is rounded for it."""
    number = _element_type_named(text.split("[")[0])
    if number in _dtypes.EXTENSIONS or number == 0:
        raise invalid_argument(f"an input of the type {text} is given a {type(given).__name__}; give an array of numpy")
    wanted = _dtypes.dtype_of(number)
    try:
        if number != _dtypes.STRING:
            _require_kind(np.asarray(given), wanted)
        return of_array(np.asarray(given, wanted))
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid_argument(f"an input of the type {text} is given a {type(given).__name__} that does not become an "
                               f"array of {wanted}: {error}") from error


def _require_kind(found: np.ndarray, wanted: np.dtype) -> None:
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    if found.size and ranks.get(found.dtype.kind, 4) > ranks[wanted.kind]:
        raise TypeError(f"it has elements of {found.dtype}")


def _element_type_named(name: str) -> int:
    return next((one for one in range(1, 27) if _ephost.element_type_name(one) == name), 0)


def _without_optional(text: str | None) -> str | None:
    return text[len("optional("):-1] if text is not None and text.startswith("optional(") else text


def of_array(array: np.ndarray) -> _ephost.Value:
    dtype = array.dtype
    if dtype.kind in "OUS" or _dtypes.is_void(dtype):
        return _ephost.Value.of_strings(list(array.shape), [_encoded(text) for text in _items(array.reshape(-1))])
    extension = _dtypes.extension_of(dtype)
    if extension:
        return of_codes(array, extension)
    if not dtype.isnative:
        return of_array(array.astype(dtype.newbyteorder("=")))
    _dtypes.element_type(dtype)
    return _ephost.Value.of_array(array)


def _items(array: np.ndarray) -> list[Any]:
    """Bytes of the dtype void keep the zeros at their end."""
    return list(array) if array.dtype.kind == "V" else array.tolist()


def of_codes(array: np.ndarray, number: int) -> _ephost.Value:
    """A tensor of this element type, of an array with one element in each item."""
    if number == _dtypes.STRING or _dtypes.element_type(array.dtype) == number and not _dtypes.extension_of(array.dtype):
        return of_array(array)
    if array.dtype.names is not None:
        array = np.ascontiguousarray(array).view(array.dtype.fields[array.dtype.names[0]][0])
    return _ephost.Value.of_bytes(number, list(array.shape), _dtypes.pack(array, number))


def of_dlpack(given: Any, is_bool: bool = False) -> _ephost.Value:
    capsule = given.__dlpack__() if hasattr(given, "__dlpack__") else given
    return _ephost.Value.of_dlpack(capsule, is_bool)


def _encoded(text: Any) -> bytes:
    if isinstance(text, np.void):
        return text.tobytes()
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, bytes):
        return text
    raise invalid_argument(
        f"an element of an array of objects has the type {type(text).__name__}; only str and bytes become elements of a tensor"
    )


def _of_sequence(elements: list | tuple, element_text: str | None) -> _ephost.Value:
    number = 0
    if element_text is not None:
        number = _element_type_named(element_text.split("[")[0])
    return _ephost.Value.sequence([value_of(element, element_text) for element in elements], number)


# What numpy makes of Python's own numbers, as the host's names of element types.
_MAP_VALUE = re.compile(r"map\(\w+,\s*(\w+)")


def _of_map(items: dict, text: str | None) -> _ephost.Value:
    key_array = _keys_of(items, text)
    match = _MAP_VALUE.match(text) if text is not None else None
    dtype = {"float": np.float32, "double": np.float64, "int64": np.int64, "string": object}.get(match[1]) if match else None
    values = list(items.values())
    if values and isinstance(values[0], (np.ndarray, list, dict)):
        return _ephost.Value.map(of_array(key_array), _of_sequence(values, None))
    return _ephost.Value.map(of_array(key_array), of_array(np.array(values, dtype)))


def _keys_of(items: dict, text: str | None) -> np.ndarray:
    wants_texts = text.startswith("map(string") if text is not None else any(isinstance(key, str) for key in items)
    for key in items:
        if not isinstance(key, str if wants_texts else (int, np.integer)):
            raise invalid_argument(f"Unexpected key type  {type(key)}, it cannot be linked to C type "
                                   f"{'std::string' if wants_texts else 'int64_t'}: the keys of a map are all of one type")
    try:
        return np.array(list(items), object if wants_texts else np.int64)
    except OverflowError as error:
        raise invalid_argument(f"a key of a map does not fit into 64 bits: {error}") from error


def object_of(value: _ephost.Value) -> Any:
    """What a run returns for a value: an array, a list, a dict, or None."""
    kind = value.kind
    if kind == ValueKind.NONE:
        return None
    if kind == ValueKind.SEQUENCE:
        return [_own(part) for part in value.parts()]
    if kind == ValueKind.MAP:
        keys, values = (_own(part) for part in value.parts())
        return dict(zip(keys.tolist(), values.tolist() if isinstance(values, np.ndarray) else values))
    if kind == ValueKind.SPARSE_TENSOR:
        return value.dense().object()
    if value.element_type == _dtypes.STRING:
        texts = np.empty(len(strings := value.strings()), object)
        texts[:] = [text.decode("utf-8", "surrogateescape") for text in strings]
        return texts.reshape(value.shape)
    if value.element_type in _dtypes.EXTENSIONS:
        return _dtypes.unpack(value.bytes(), value.element_type, value.shape)
    return value.object()


def _own(part: _ephost.Value) -> Any:
    """The object of a part, which does not share elements with inputs of the run as the part may."""
    found = object_of(part)
    return found.copy() if isinstance(found, np.ndarray) else found


def type_name(value: _ephost.Value) -> str:
    """ONNX Runtime's text for the type of a value, e.g. "tensor(float)"."""
    kind = value.kind
    if kind == ValueKind.SEQUENCE:
        parts = value.parts()
        inner = type_name(parts[0]) if parts else f"tensor({_ephost.element_type_name(value.element_type)})"
        return f"seq({inner})"
    if kind == ValueKind.MAP:
        _, values = value.parts()
        return f"map({_ephost.element_type_name(value.element_type)},{type_name(values)})"
    name = _ephost.element_type_name(value.element_type)
    return f"sparse_tensor({name})" if kind == ValueKind.SPARSE_TENSOR else f"tensor({name})"
