"""SessionOptions: which providers a session asks, and how it works."""
from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _environment, _ephost, _values
from ._enums import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, OrtExecutionProviderDevicePolicy
from ._environment import OrtEpDevice
from ._errors import NotFound, invalid_argument

RECORD_ENTRY = "session.record_ep_graph_assignment_info"
_LEVELS = {GraphOptimizationLevel.ORT_DISABLE_ALL: "disable_all", GraphOptimizationLevel.ORT_ENABLE_BASIC: "basic",
           GraphOptimizationLevel.ORT_ENABLE_EXTENDED: "extended", GraphOptimizationLevel.ORT_ENABLE_LAYOUT: "extended",
           GraphOptimizationLevel.ORT_ENABLE_ALL: "all"}
_ORDERS = {ExecutionOrder.PRIORITY_BASED: "priority", ExecutionOrder.MEMORY_EFFICIENT: "memory"}
_MODES = {ExecutionMode.ORT_SEQUENTIAL: "sequential", ExecutionMode.ORT_PARALLEL: "parallel"}


class SessionOptions:
    """Attributes and methods have the names of onnxruntime's. What is wrong with an entry is said when a session is
    created. A session takes the options as they are then."""

    __slots__ = ("graph_optimization_level", "execution_mode", "execution_order", "intra_op_num_threads",
                 "inter_op_num_threads", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling",
                 "profile_file_prefix", "optimized_model_filepath", "logid", "log_severity_level",
                 "log_verbosity_level", "enable_cpu_mem_arena", "use_deterministic_compute", "use_per_session_threads",
                 "_entries", "_providers", "_policy", "_initializers", "_external", "_files", "_progress", "_selections",
                 "_cancelled", "_active", "__weakref__")

    def __init__(self) -> None:
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.profile_file_prefix = "ephost_profile_"
        self.optimized_model_filepath: str | os.PathLike = ""
        self.logid = ""
        self.log_severity_level = -1
        # These have no effect: there is one level of verbose messages, memory is planned instead of cached in an
        # arena, and the threads belong to the environment.
        self.log_verbosity_level = 0
        self.enable_cpu_mem_arena = True
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self._entries: dict[str, str] = {}
        self._providers: list[tuple[Any, dict[str, str]]] = []
        self._policy: int | None = None
        self._initializers: list[tuple[str, _ephost.Value]] = []
        self._external: list[tuple[str, _ephost.Value]] = []
        self._files: list[tuple[str, Any]] = []
        self._progress: Callable[[str, float, str], object] | None = None
        self._selections: list[str] = []
        self._cancelled = False
        self._active: list[_ephost.SessionOptions] = []

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets a configuration entry; the last one of a key stands (host/include/README.md lists them)."""
        self._entries[str(key)] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        if key not in self._entries:
            raise NotFound(f"NOT_FOUND: SessionOptions does not have configuration with key: {key}")
        return self._entries[key]

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        self._entries[f"session.free_dimension_override_by_name.{dim_name}"] = str(int(dim_value))

    def add_free_dimension_override_by_denotation(self, dim_denotation: str, dim_value: int) -> None:
        self._entries[f"session.free_dimension_override_by_denotation.{dim_denotation}"] = str(int(dim_value))

    def add_initializer(self, name: str, ortvalue: Any) -> None:
        """Takes the value, an OrtValue or an array, in the place of the model's initializer, and shares its memory."""
        self._initializers.append((name, _values.value_of(ortvalue)))

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """The same for initializers whose data is outside of the model."""
        if len(names) != len(values):
            raise invalid_argument(f"add_external_initializers is given {len(names)} names and {len(values)} values; "
                                   "give one value for each name")
        self._external += [(name, _values.value_of(value)) for name, value in zip(names, values)]

    def add_external_initializers_from_files_in_memory(self, names: Sequence[str], buffers: Sequence[Any],
                                                       lengths: Sequence[int] | None = None) -> None:
        """Takes the bytes for the model's files of external data with these names. They are kept, not copied."""
        lengths = [memoryview(buffer).nbytes for buffer in buffers] if lengths is None else lengths
        if not len(names) == len(buffers) == len(lengths):
            raise invalid_argument(f"files in memory are given {len(names)} names, {len(buffers)} buffers and "
                                   f"{len(lengths)} lengths; give as many of each")
        for name, buffer, length in zip(names, buffers, lengths):
            self._files.append((name, np.frombuffer(buffer, np.uint8)[:length]))

    def add_provider(self, name: str, options: Mapping[str, Any] | None = None) -> None:
        """Asks a further provider, after those that were added before."""
        self._providers += _environment.normalized([(name, options or {})], None)

    def add_provider_for_devices(self, devices: Sequence[OrtEpDevice], options: Mapping[str, Any] | None = None) -> None:
        """Asks the provider that these devices belong to, and lets it use them, in this order."""
        given = {str(key): str(value) for key, value in (options or {}).items()}
        self._providers.append(([one._device for one in devices], given))

    def set_provider_selection_policy(self, policy: OrtExecutionProviderDevicePolicy | str) -> None:
        """Lets sessions choose providers and devices, by a policy or its name, e.g. "PREFER_NPU"."""
        self._policy = _ephost.parse_policy(policy) if isinstance(policy, str) else \
            int(OrtExecutionProviderDevicePolicy(policy))

    def has_providers(self) -> bool:
        return bool(self._providers) or self._policy is not None

    def load_selection(self, file: str | os.PathLike) -> None:
        """Appends what a selection file says (manifests/SCHEMA.md)."""
        self._selections.append(os.fspath(file))

    def set_progress_function(self, function: Callable[[str, float, str], object] | None) -> None:
        """Told what providers do while a session is created or a model compiled: provider, fraction, message."""
        self._progress = function

    def set_load_cancellation_flag(self, value: bool) -> None:
        """True ends the creation of sessions and the compilations with these options, in any thread, with
        Cancelled, and further ones at once."""
        self._cancelled = bool(value)
        for options in list(self._active):
            options.cancel(self._cancelled)

    def _copy(self) -> SessionOptions:
        """Other options with the same content; neither follows changes of the other."""
        made = SessionOptions()
        for name in SessionOptions.__slots__:
            if name not in ("__weakref__", "_active"):
                value = getattr(self, name)
                setattr(made, name, value.copy() if isinstance(value, (list, dict)) else value)
        return made

    @contextlib.contextmanager
    def _in_use(self, providers: Sequence[tuple[str, dict[str, str]]] = ()) -> Iterator[_ephost.SessionOptions]:
        """The extension's options for the creation of one session, or one compilation."""
        options = self._native(providers)
        self._active.append(options)
        options.cancel(self._cancelled)
        try:
            yield options
        finally:
            self._active.remove(options)

    def _native(self, providers: Sequence[tuple[str, dict[str, str]]]) -> _ephost.SessionOptions:
        options = _ephost.SessionOptions()
        for file in self._selections:
            options.load_selection(file)
        for name, given in [*self._providers, *providers]:
            if isinstance(name, str):
                options.append_execution_provider(name, given)
            else:
                options.append_devices(name, given)
        if self._policy is not None:
            options.set_policy(self._policy)
        for key, value in {**self._stated_entries(), **self._entries}.items():
            if key != RECORD_ENTRY:  # the package does that
                options.add_config_entry(key, value)
        self._set_functions_and_values(options)
        return options

    def _stated_entries(self) -> dict[str, str]:
        """The entries of attributes that differ from the default, so that a selection file may set the others."""
        entries = {}
        if self.graph_optimization_level != GraphOptimizationLevel.ORT_ENABLE_ALL:
            level = GraphOptimizationLevel(self.graph_optimization_level)
            entries["session.graph_optimization_level"] = _LEVELS[level]
        if self.execution_mode != ExecutionMode.ORT_SEQUENTIAL:
            entries["session.execution_mode"] = _MODES[ExecutionMode(self.execution_mode)]
        if self.execution_order != ExecutionOrder.DEFAULT:
            entries["session.execution_order"] = _ORDERS[ExecutionOrder(self.execution_order)]
        for name in ("intra_op_num_threads", "inter_op_num_threads"):
            if getattr(self, name) != 0:
                entries[f"session.{name}"] = str(getattr(self, name))
        return entries

    def _set_functions_and_values(self, options: _ephost.SessionOptions) -> None:
        if not self.enable_mem_pattern:
            options.enable_mem_pattern(False)
        if not self.enable_mem_reuse:
            options.enable_mem_reuse(False)
        if self.enable_profiling:
            options.enable_profiling(_new_profile(self.profile_file_prefix))
        if self.optimized_model_filepath:
            options.set_optimized_model_file_path(os.fspath(self.optimized_model_filepath))
        if self.logid:
            options.set_log_id(self.logid)
        severity = _environment.default_logger_severity() if self.log_severity_level == -1 else self.log_severity_level
        if severity != -1:
            options.set_log_severity_level(_environment.checked_severity(severity))
        for name, value in self._initializers:
            options.add_initializer(name, value)
        if self._external:
            options.add_external_initializers(self._external)
        if self._files:
            options.add_files_in_memory(self._files)
        if self._progress is not None:
            options.set_progress(self._progress)


def require_options(given: Any) -> SessionOptions:
    if not isinstance(given, SessionOptions):
        raise TypeError(f"sess_options has the type {type(given).__name__}; give SessionOptions")
    return given


def _new_profile(prefix: str) -> str:
    """A file that no other session of the process, or of another one, writes."""
    global _profiles
    _profiles += 1
    return f"{prefix}{os.getpid()}_{_profiles}.json"


_profiles = 0
