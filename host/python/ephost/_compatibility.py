"""Names of onnxruntime for which the host has nothing to do: scripts may call them."""
from __future__ import annotations

import sys
from typing import Any, Mapping

from . import _environment, _ephost


class OrtArenaCfg:
    """Limits of an arena. The host has no arenas: it plans memory."""

    def __init__(self, *arguments: Any, **named: Any):
        """A dict, or max_mem, arena_extend_strategy, initial_chunk_size_bytes and max_dead_bytes_per_chunk."""
        self.settings: Mapping[str, Any] = named
        if len(arguments) == 1 and isinstance(arguments[0], Mapping):
            self.settings = arguments[0]
        elif arguments:
            names = ("max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk")
            self.settings = dict(zip(names, arguments))


def create_and_register_allocator(mem_info: _ephost.MemoryInfo, arena_cfg: OrtArenaCfg | None) -> None:
    """Has no effect: all sessions share the allocator of the process."""


def create_and_register_allocator_v2(provider_type: str, mem_info: _ephost.MemoryInfo,
                                     options: Mapping[str, str], arena_cfg: OrtArenaCfg | None) -> None:
    """Has no effect, like create_and_register_allocator."""


def disable_telemetry_events() -> None:
    """Has no effect: the host sends nothing to anybody."""


def enable_telemetry_events() -> None:
    """Has no effect, like disable_telemetry_events."""


def set_seed(seed: int) -> None:
    """Has no effect: operators of random numbers obey their attribute `seed`."""


def has_collective_ops() -> bool:
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Has no effect: a plugin's library is linked with what it needs."""


def print_debug_info() -> None:
    """Versions, and the plugins that were found."""
    print(f"ephost: {_ephost.version}\nPython: {sys.version}\nplugins:")
    for plugin in _environment.environment().plugins():
        print(f"  {plugin.provider or plugin.name} {plugin.version}: {plugin.manifest}")
