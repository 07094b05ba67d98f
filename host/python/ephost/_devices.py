"""OrtDevice and OrtMemoryInfo: places where values lie, the host's memory or that of a device which a session has."""
from __future__ import annotations

import enum

from . import _ephost
from ._enums import OrtAllocatorType, OrtMemType
from ._errors import invalid_argument


class OrtDeviceVendorId(enum.IntEnum):
    """Numbers of the PCI registry, as far as onnxruntime names them."""
    NONE = 0
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


class OrtDeviceMemoryType(enum.IntEnum):
    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(enum.IntEnum):
    CPU = 0
    GPU = 1
    NPU = 2
    FPGA = 3


_DEVICE_TYPES = {"cpu": 0, "gpu": 1, "cuda": 1, "dml": 1, "webgpu": 1, "npu": 3, "cann": 3}
_VENDORS = {"cuda": OrtDeviceVendorId.NVIDIA, "dml": OrtDeviceVendorId.MICROSOFT, "cann": OrtDeviceVendorId.HUAWEI}


class OrtDevice:
    """Made by `make("cpu", 0)`, or as onnxruntime's extension does it, of numbers: OrtDevice(type, memory type, id)."""

    def __init__(self, device_type: str | int = "cpu", *numbers: int):
        names = [device_type] if isinstance(device_type, str) else \
            [name for name, number in _DEVICE_TYPES.items() if number == device_type]
        if not names or names[0].lower() not in _DEVICE_TYPES or len(numbers) > 3:
            raise invalid_argument(f"there is no device {device_type!r}{numbers or ''}; types are "
                                   f"{', '.join(_DEVICE_TYPES)}, or their numbers")
        self._type = names[0].lower()
        *before, self._id = numbers or (0,)
        self._memory_type = before[0] if before else OrtDeviceMemoryType.DEFAULT
        self._vendor = before[1] if len(before) > 1 else _VENDORS.get(self._type, OrtDeviceVendorId.NONE)

    @staticmethod
    def make(device_type: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        if vendor_id == -1:
            return OrtDevice(device_type, device_id)
        return OrtDevice(device_type, OrtDeviceMemoryType.DEFAULT, vendor_id, device_id)

    @staticmethod
    def cpu() -> int:
        """The number of a type, like `gpu`, `cuda` and `npu`."""
        return _DEVICE_TYPES["cpu"]

    @staticmethod
    def gpu() -> int:
        return _DEVICE_TYPES["gpu"]

    @staticmethod
    def cuda() -> int:
        return _DEVICE_TYPES["cuda"]

    @staticmethod
    def npu() -> int:
        return _DEVICE_TYPES["npu"]

    @staticmethod
    def default_memory() -> int:
        return OrtDeviceMemoryType.DEFAULT

    def device_type(self) -> int:
        """onnxruntime's number: 0 for a CPU, 1 for a GPU, 3 for an NPU."""
        return _DEVICE_TYPES[self._type]

    def device_id(self) -> int:
        return self._id

    def device_vendor_id(self) -> int:
        return self._vendor

    def device_mem_type(self) -> int:
        return self._memory_type

    def _key(self) -> tuple[int, int, int, int]:
        return self.device_type(), int(self._memory_type), int(self._vendor), self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrtDevice) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"OrtDevice({self._type!r}, {self._id})"


# onnxruntime's types of devices by the name of a vendor's interface.
_HOST_TYPES = {"cuda": "gpu", "dml": "gpu", "webgpu": "gpu", "cann": "npu"}


def memory_of(device_type: str | OrtDevice, device_id: int = 0) -> tuple[str, str, int]:
    """The name of the memory, type and number of a device, as the host knows them. A device's first memory has no
    name."""
    if isinstance(device_type, OrtDevice):
        device_type, device_id = device_type._type, device_type._id
    kind = device_type.lower()
    return ("Cpu" if (kind, device_id) == ("cpu", 0) else "", _HOST_TYPES.get(kind, kind), device_id)


def is_host(memory: tuple[str, str, int]) -> bool:
    return memory == ("Cpu", "cpu", 0)


def require_cpu(device_type: str | OrtDevice, device_id: int = 0) -> None:
    """Addresses are those of the program."""
    name, kind, number = memory_of(device_type, device_id)
    if not is_host((name, kind, number)):
        raise invalid_argument(f"an address in the memory of \"{kind}\" {number} cannot be bound; bind an OrtValue that "
                               "lies there")


class OrtMemoryInfo:
    """A kind of memory; what a session says of its inputs and outputs."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType = OrtAllocatorType.ORT_DEVICE_ALLOCATOR,
                 device_id: int = 0, mem_type: OrtMemType = OrtMemType.DEFAULT):
        """`allocator_type` has no effect."""
        self.name, self.device_id = name, device_id
        self.allocator_type, self.mem_type = OrtAllocatorType(allocator_type), OrtMemType(mem_type)
        self.device_mem_type, self.device_vendor_id = OrtDeviceMemoryType.DEFAULT, 0
        self.device_type = "cpu" if name == "Cpu" else name

    @staticmethod
    def create_v2(name: str, device_type: OrtMemoryInfoDeviceType, vendor_id: int, device_id: int,
                  device_mem_type: OrtDeviceMemoryType, alignment: int, allocator_type: OrtAllocatorType) -> OrtMemoryInfo:
        """`alignment` has no effect either."""
        made = OrtMemoryInfo(name, allocator_type, device_id)
        made.device_type = OrtMemoryInfoDeviceType(device_type).name.lower()
        made.device_vendor_id, made.device_mem_type = vendor_id, OrtDeviceMemoryType(device_mem_type)
        return made

    @staticmethod
    def _of(info: _ephost.MemoryInfo) -> OrtMemoryInfo:
        made = OrtMemoryInfo(info.name, device_id=info.device_id, mem_type=info.memory_type)
        made.device_type = info.device_type
        return made

    @property
    def memory_type(self) -> OrtMemType:
        return self.mem_type
