"""IOBinding: what stays bound from run to run."""
from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

from . import _dtypes, _ephost, _values
from ._errors import invalid_argument
from ._devices import OrtDevice, memory_of, require_cpu
from ._ortvalue import OrtValue, OrtValueVector


class IOBinding:
    """Inputs and outputs that stay bound from run to run; one run at a time may use it. What the host has allocated is
    written again by the next run: `get_outputs` shares its memory, `copy_outputs_to_cpu` copies. During a run,
    everything but that run is an error, in whatever thread."""

    def __init__(self, session: Any):
        self._binding = session._session.create_binding()
        self._types = {one.name: one.type for one in session._session.inputs()}
        self._bound: dict[str, None] = {}  # names of outputs, in the order in which they were bound first
        self._session = session

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._binding.bind_input(name, _values.value_of(arr_on_cpu, self._types.get(name)))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._binding.bind_input(name, ortvalue._ephost_value)

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Binds memory at an address, which has to stay."""
        require_cpu(device_type, device_id)
        self._binding.bind_input(name, _at(element_type, shape, buffer_ptr))

    def bind_output(self, name: str, device_type: str | OrtDevice = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Sequence[int] | None = None, buffer_ptr: int | None = None) -> None:
        """Binds memory at an address, or lets the host allocate the output in the memory of a device."""
        if buffer_ptr is None:
            self._binding.bind_output_to_memory(name, *memory_of(device_type, device_id))
            self._bound[name] = None
            return
        if element_type is None or shape is None:
            raise invalid_argument(f"the output \"{name}\" is bound to an address without element_type and shape; "
                                   "give all three")
        require_cpu(device_type, device_id)
        self._bind_output(name, _at(element_type, shape, buffer_ptr))

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        ortvalue._require_writable()
        self._bind_output(name, ortvalue._ephost_value)

    def _bind_output(self, name: str, value: _ephost.Value) -> None:
        self._binding.bind_output(name, value)
        self._bound[name] = None

    def synchronize_inputs(self) -> None:
        """Has nothing to wait for: copies to a device are over when they return."""

    def synchronize_outputs(self) -> None:
        """Has nothing to wait for: outputs are there when a run returns."""

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, in the order in which they were bound; if none was bound, in the model's."""
        return [OrtValue(value) for value in self._outputs()]

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return OrtValueVector(self.get_outputs())

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The same as arrays with memory of their own."""
        found = [_values.object_of(value) for value in self._outputs()]
        return [one.copy() if isinstance(one, np.ndarray) else one for one in found]

    def _outputs(self) -> list[_ephost.Value]:
        values = self._binding.outputs()
        if not self._bound:
            return values
        by_name = dict(zip(self._binding.output_names(), values))
        return [by_name[name] for name in list(self._bound) if name in by_name]

    def clear_binding_inputs(self) -> None:
        self._binding.clear_inputs()

    def clear_binding_outputs(self) -> None:
        self._binding.clear_outputs()
        self._bound.clear()


def _at(element_type: Any, shape: Iterable[int], address: int) -> _ephost.Value:
    return _ephost.Value.of_address(_dtypes.element_type(element_type), [int(extent) for extent in shape], address)
