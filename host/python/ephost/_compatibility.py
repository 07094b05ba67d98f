"""Names of onnxruntime for which the host has nothing to do: scripts may call them."""
from __future__ import annotations

import sys
import warnings
from typing import Any, Mapping, Sequence

from . import _environment, _ephost
from ._devices import OrtMemoryInfo
from ._errors import invalid_argument
from ._options import SessionOptions


_ARENA_SETTINGS = ("max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk",
                   "initial_growth_chunk_size_bytes", "max_power_of_two_extend_bytes")


class OrtArenaCfg:
    """Limits of an arena. The host has no arenas: it plans memory."""

    def __init__(self, *arguments: Any, **named: Any):
        """A dict, or max_mem, arena_extend_strategy, initial_chunk_size_bytes and max_dead_bytes_per_chunk."""
        given = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], Mapping) else \
            {**dict(zip(_ARENA_SETTINGS, arguments)), **named}
        unknown = sorted(set(given) - set(_ARENA_SETTINGS))
        if unknown:
            raise invalid_argument(f"an arena has no setting {', '.join(unknown)}; there are "
                                   f"{', '.join(_ARENA_SETTINGS)}")
        for name in _ARENA_SETTINGS:
            setattr(self, name, given.get(name, 0 if name == "max_mem" else -1))


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg | None) -> None:
    """Has no effect: all sessions share the allocator of the process."""


def create_and_register_allocator_v2(provider_type: str, mem_info: OrtMemoryInfo,
                                     options: Mapping[str, str], arena_cfg: OrtArenaCfg | None) -> None:
    """Has no effect, like create_and_register_allocator."""


def disable_telemetry_events() -> None:
    """Has no effect: the host sends nothing anywhere."""


def enable_telemetry_events() -> None:
    """Has no effect, like disable_telemetry_events."""


def set_seed(seed: int) -> None:
    """Has no effect: operators of random numbers obey their attribute `seed`."""


def has_collective_ops() -> bool:
    return False


def check_and_normalize_provider_args(providers: Sequence[Any] | None,
                                      provider_options: Sequence[Mapping[str, Any]] | None,
                                      available_provider_names: Sequence[str]
                                      ) -> tuple[list[str], list[dict[str, str]]]:
    """The names and options apart; those that are not available, or named before, are left out with a warning."""
    try:
        given = list(_environment.paired(providers, provider_options))
    except TypeError as error:
        raise invalid_argument(str(error)) from error
    kept: dict[str, dict[str, str]] = {}
    for name, options in given:
        if name in kept or name not in available_provider_names:
            reason = "named before" if name in kept else f"not among {', '.join(available_provider_names)}"
            warnings.warn(f"the provider '{name}' is left out: it is {reason}", UserWarning, stacklevel=2)
        else:
            kept[name] = options
    return list(kept), list(kept.values())


def is_dlpack_uint8_tensor(dlpack_tensor: Any) -> bool:
    """Whether the elements of a capsule are bytes, which another library may mean as truth values."""
    return _ephost.is_uint8_dlpack(dlpack_tensor)


def get_default_session_options() -> SessionOptions:
    return SessionOptions()


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Has no effect: a plugin's library is linked with what it needs."""


def print_debug_info() -> None:
    """Versions, and the plugins that were found."""
    print(f"ephost: {_ephost.version}\nPython: {sys.version}\nplugins:")
    for plugin in _environment.environment().plugins():
        print(f"  {plugin.provider or plugin.name} {plugin.version}: {plugin.manifest}")
