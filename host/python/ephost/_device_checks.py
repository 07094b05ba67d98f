"""What fits what: devices to providers, and context models to devices, as onnxruntime asks for it."""
from __future__ import annotations

import enum
import os
from typing import Any, Sequence

from . import _environment
from ._environment import CPU_PROVIDER, OrtEpDevice, OrtHardwareDevice
from ._errors import InvalidProtobuf, NoSuchFile, NotFound, NotImplemented, invalid_argument
from ._model_config import metadata_of


class OrtCompiledModelCompatibility(enum.IntEnum):
    EP_NOT_APPLICABLE = 0
    EP_SUPPORTED_OPTIMAL = 1
    EP_SUPPORTED_PREFER_RECOMPILATION = 2
    EP_UNSUPPORTED = 3


class OrtDeviceEpIncompatibilityReason(enum.IntFlag):
    NONE = 0
    DRIVER_INCOMPATIBLE = 1
    DEVICE_INCOMPATIBLE = 2
    MISSING_DEPENDENCY = 4
    UNKNOWN = -2147483648


def get_hardware_devices() -> list[OrtHardwareDevice]:
    """The devices that installed providers can use, each once. Loads the plugins."""
    found: dict[tuple[Any, ...], OrtHardwareDevice] = {}
    for one in _environment.get_ep_devices():
        device = one.device
        found.setdefault((device.type, device.vendor_id, device.device_id, device.vendor), device)
    return list(found.values())


def get_hardware_device_ep_incompatibility_details(ep_name: str, hw: OrtHardwareDevice) -> dict[str, Any]:
    """Whether a provider lists the device among those that it can use."""
    if not ep_name:
        raise invalid_argument("the name of the provider is empty")
    if ep_name not in _environment.get_all_providers():
        raise NotFound(f"NOT_FOUND: no plugin offers the provider \"{ep_name}\"")
    reason, notes = OrtDeviceEpIncompatibilityReason.NONE, ""
    if not any(_is_same(one.device, hw) for one in _environment.get_ep_devices() if one.ep_name == ep_name):
        reason, notes = OrtDeviceEpIncompatibilityReason.DEVICE_INCOMPATIBLE, f"{ep_name} does not list the device"
    return {"reasons_bitmask": int(reason), "notes": notes, "error_code": 0}


def _is_same(left: OrtHardwareDevice, right: OrtHardwareDevice) -> bool:
    return (left.type, left.vendor_id, left.device_id) == (right.type, right.vendor_id, right.device_id)


def get_model_compatibility_for_ep_devices(ep_devices: Sequence[OrtEpDevice], compatibility_info: str
                                           ) -> OrtCompiledModelCompatibility:
    """The CPU provider has no compiled models. Others are asked with the model itself: `ephost verify --load`."""
    if not isinstance(compatibility_info, str):
        raise TypeError(f"the compatibility text has the type {type(compatibility_info).__name__}; give a str")
    names = sorted({one.ep_name for one in ep_devices})
    if len(names) != 1:
        raise invalid_argument(f"the devices are of {names or 'no provider'}; give devices of one provider")
    if names[0] != CPU_PROVIDER:
        raise NotImplemented(f"NOT_IMPLEMENTED: {names[0]} is asked about a model as a whole; use `ephost verify --load`")
    return OrtCompiledModelCompatibility.EP_NOT_APPLICABLE


def get_compatibility_info_from_model(model_path: str | os.PathLike, ep_type: str) -> str | None:
    """What the metadata of a compiled model says for the provider, under "ep_compatibility_info.PROVIDER"."""
    path = os.fspath(model_path)
    if not path:
        raise invalid_argument("the path of the model is empty")
    if not os.path.isfile(path):
        raise NoSuchFile(f"NO_SUCHFILE: the file \"{path}\" does not exist")
    return _info(path, ep_type)


def get_compatibility_info_from_model_bytes(model_data: bytes, ep_type: str) -> str | None:
    if not isinstance(model_data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a model is given as a {type(model_data).__name__}; give its bytes")
    if not model_data:
        raise invalid_argument("the model is empty")
    return _info(bytes(model_data), ep_type)


def _info(model: str | bytes, ep_type: str) -> str | None:
    if not ep_type:
        raise invalid_argument("the name of the provider is empty")
    try:
        found = metadata_of(model).get(f"ep_compatibility_info.{ep_type}".encode())
    except EOFError as error:
        raise InvalidProtobuf("INVALID_PROTOBUF: the model is not a message of ONNX, or ends too early") from error
    return None if found is None else found.decode("utf-8", "surrogateescape")
