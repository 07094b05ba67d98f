"""OrtValue and SparseTensor: values that a program keeps from run to run."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _dtypes, _ephost, _values
from ._devices import OrtDevice, is_host, memory_of
from ._enums import OrtSparseFormat, ValueKind
from ._errors import invalid_argument


class OrtValue:
    """A tensor, a sequence, a map, or nothing, in memory that numpy and DLPack share with it; or a tensor in the memory
    of a device, of which numpy gets a copy."""

    __slots__ = ("_ephost_value", "_sparse", "_writable", "__weakref__")

    def __init__(self, value: _ephost.Value, sparse: SparseTensor | None = None, writable: bool = True):
        self._ephost_value = value
        self._sparse = sparse
        self._writable = writable

    @staticmethod
    def _over(array: np.ndarray, value: _ephost.Value) -> OrtValue:
        """The value as an OrtValue; it was made of the array, and may share its memory."""
        return OrtValue(value, writable=array.flags.writeable or value.address != array.ctypes.data)

    def _require_writable(self) -> None:
        if not self._writable:
            raise invalid_argument("the value lies in the memory of an array that is read-only; make it of a copy")

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: np.ndarray, device_type: str | OrtDevice = "cpu", device_id: int = 0,
                            vendor_id: int = -1) -> OrtValue:
        """Shares the memory of an array that is row-major, and copies others. Over a read-only one it is so too. Or a
        copy in the memory of a device that a session has."""
        array = np.asarray(numpy_obj)
        value = _values.of_array(array)
        memory = memory_of(device_type, device_id)
        return OrtValue._over(array, value) if is_host(memory) else OrtValue(value.copy_to(*memory))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: np.ndarray, onnx_element_type: int) -> OrtValue:
        """A value from an array that has the bits of the elements, such as uint16 for bfloat16, or for types of less
        than a byte one element in each item."""
        array = np.asarray(data)
        return OrtValue._over(array, _values.of_codes(array, _dtypes.element_type(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any = np.float32, device_type: str = "cpu",
                                     device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """A tensor of zeros; on a device that a session has, of whatever lies there."""
        number, extents = _dtypes.element_type(element_type), [int(extent) for extent in shape]
        memory = memory_of(device_type, device_id)
        return OrtValue(_ephost.Value.allocate(number, extents) if is_host(memory) else
                        _ephost.Value.allocate_in(*memory, number, extents))

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor: SparseTensor) -> OrtValue:
        return OrtValue(sparse_tensor._ephost_value, sparse_tensor)

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """A tensor over the memory of another library's, or of a DLPack capsule; `is_bool_tensor` for one of bytes that
        are truth values."""
        return OrtValue(_values.of_dlpack(data, is_bool_tensor))

    def to_dlpack(self) -> Any:
        if not self._writable:
            raise BufferError("DLPack cannot say that the tensor is read-only; share a copy")
        return self._ephost_value.dlpack()

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:
        """The elements are complete, so that a `stream` has nothing to wait for."""
        wanted = self.__dlpack_device__() if dl_device is None else tuple(dl_device)
        if wanted == self.__dlpack_device__():
            memory = self._ephost_value.memory
        elif wanted == (1, 0) and copy is not False:
            memory, copy = _ephost.Value().memory, True
        else:
            raise BufferError(f"the tensor lies in the memory of DLPack's device {self.__dlpack_device__()}")
        if copy:
            return self._ephost_value.copy_to(memory.name, memory.device_type, memory.device_id).dlpack()
        return self.to_dlpack()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = self.numpy()
        if not isinstance(found, np.ndarray):
            raise TypeError(f"a value of the type {self.data_type()} is not an array; numpy() returns what it holds")
        return np.array(found, dtype) if copy else np.asarray(found, dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        memory = self._ephost_value.memory
        return (memory.dlpack_type, memory.dlpack_id) if memory.dlpack_type else (1, 0)

    def numpy(self) -> Any:
        """An array over the same memory; of other values what a run returns for them."""
        found = _values.object_of(self._ephost_value)
        if not self._writable and isinstance(found, np.ndarray):
            found.flags.writeable = False
        return found

    def update_inplace(self, np_arr: np.ndarray) -> None:
        """Copies the elements of an array of the same dtype and shape."""
        self._require_writable()
        self._ephost_value.update(np_arr)

    def as_sparse_tensor(self) -> SparseTensor:
        """The sparse tensor that the value is made of; of a dense one, as runs return it, a sparse tensor of the elements
        that are not zero."""
        if self._sparse is not None:
            return self._sparse
        if not self.is_tensor():
            raise invalid_argument(f"a value of the type {self.data_type()} has no sparse form")
        elements = np.ravel(self.numpy())
        places = np.flatnonzero(elements != ("" if elements.dtype == object else elements.dtype.type(0)))
        return SparseTensor.sparse_coo_from_numpy(self.shape(), elements[places], places)

    def data_ptr(self) -> int:
        return self._ephost_value.address

    def device_name(self) -> str:
        """The type of the device in whose memory it lies, "cpu" for the host's."""
        return self._ephost_value.memory.device_type

    def shape(self) -> list[int]:
        return self._ephost_value.shape

    def data_type(self) -> str:
        return _values.type_name(self._ephost_value)

    def element_type(self) -> int:
        return self._ephost_value.element_type

    def tensor_size_in_bytes(self) -> int:
        return self._ephost_value.nbytes

    def has_value(self) -> bool:
        return self._ephost_value.kind != ValueKind.NONE

    def is_tensor(self) -> bool:
        return self._ephost_value.kind == ValueKind.TENSOR

    def is_sparse_tensor(self) -> bool:
        return self._ephost_value.kind == ValueKind.SPARSE_TENSOR

    def is_tensor_sequence(self) -> bool:
        return self._ephost_value.kind == ValueKind.SEQUENCE


    # Names of onnxruntime's extension, whose objects lie inside of those of its package.

    @property
    def _ortvalue(self) -> OrtValue:
        return self

    def _get_c_value(self) -> OrtValue:
        return self


class OrtValueVector(list):
    """A list of OrtValue, with onnxruntime's name for one method."""

    def push_back(self, value: OrtValue) -> None:
        self.append(value)


class SparseView:
    """The indices of a sparse tensor, by the names that they have in its form."""

    def __init__(self, tensor: SparseTensor):
        self._tensor = tensor


class SparseCooView(SparseView):
    def indices(self) -> np.ndarray:
        return self._tensor.indices()


class SparseCsrView(SparseView):
    def inner(self) -> np.ndarray:
        return self._tensor.indices()

    def outer(self) -> np.ndarray:
        return self._tensor.outer_indices()


def _read_only(array: np.ndarray) -> np.ndarray:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


class SparseTensor:
    """A tensor of which only some elements are stated. Runs take it; what they return is dense."""

    def __init__(self, format: OrtSparseFormat, dense_shape: Sequence[int], values: np.ndarray, indices: np.ndarray,
                 outer_indices: np.ndarray | None = None):
        self._format, self._shape, self._elements = format, [int(extent) for extent in dense_shape], values
        self._indices = np.asarray(indices, np.int64)
        self._outer = np.asarray(() if outer_indices is None else outer_indices, np.int64)
        self._ephost_value = _ephost.Value.sparse(int(format), self._shape, _values.of_array(np.asarray(values)),
                                                  self._indices.reshape(-1).tolist(), self._outer.reshape(-1).tolist())

    @staticmethod
    def sparse_coo_from_numpy(dense_shape: Sequence[int], values: np.ndarray, coo_indices: np.ndarray,
                              ort_device: OrtDevice | None = None) -> SparseTensor:
        return SparseTensor(OrtSparseFormat.ORT_SPARSE_COO, dense_shape, values, coo_indices)

    @staticmethod
    def sparse_csr_from_numpy(dense_shape: Sequence[int], values: np.ndarray, inner_indices: np.ndarray,
                              outer_indices: np.ndarray, ort_device: OrtDevice | None = None) -> SparseTensor:
        return SparseTensor(OrtSparseFormat.ORT_SPARSE_CSRC, dense_shape, values, inner_indices, outer_indices)

    def values(self) -> np.ndarray:
        """An array that cannot be written, like those of the indices."""
        return _read_only(self._elements)

    def indices(self) -> np.ndarray:
        """The places in the form COO, the columns in the form CSR."""
        return _read_only(self._indices)

    def outer_indices(self) -> np.ndarray:
        """For each row in the form CSR, the number of values before it."""
        return _read_only(self._outer)

    def to_cuda(self, ort_device: OrtDevice) -> SparseTensor:
        raise invalid_argument(f"sparse tensors lie in host memory, and cannot be copied to {ort_device}")

    def as_coo_view(self) -> SparseCooView:
        self._require(OrtSparseFormat.ORT_SPARSE_COO)
        return SparseCooView(self)

    def as_csrc_view(self) -> SparseCsrView:
        self._require(OrtSparseFormat.ORT_SPARSE_CSRC)
        return SparseCsrView(self)

    def _require(self, wanted: OrtSparseFormat) -> None:
        if self._format != wanted:
            raise invalid_argument(f"the sparse tensor has the format {OrtSparseFormat(self._format).name}, and not "
                                   f"{wanted.name}")

    def dense_shape(self) -> list[int]:
        return self._shape

    def format(self) -> OrtSparseFormat:
        return self._format

    def data_type(self) -> str:
        return _values.type_name(self._ephost_value)

    def device_name(self) -> str:
        return "cpu"
