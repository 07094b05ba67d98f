"""The environment that all sessions of the process share, and the providers and devices that it knows."""
from __future__ import annotations

import os
import threading
import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

from . import _ephost
from ._enums import OrtHardwareDeviceType
from ._errors import invalid_argument

CPU_PROVIDER = "CPUExecutionProvider"
# Those of onnxruntime's CPU provider, which are about an arena. The host plans memory instead.
_WITHOUT_EFFECT = {"arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk", "max_mem",
                   "use_arena"}
Provider = Union[str, "tuple[str, Mapping[str, Any]]"]

_lock = threading.Lock()
_environment: _ephost.Environment | None = None
_settings: dict[str, Any] = {}
_registered: dict[str, str] = {}  # libraries that the program has added, by name


def environment() -> _ephost.Environment:
    """Made when it is needed first. It knows the plugins in the folders that manifests/SCHEMA.md lists."""
    global _environment
    with _lock:
        if _environment is None:
            made = _ephost.Environment(**_settings)
            for name, path in _registered.items():
                made.register_execution_provider_library(name, path)
            _environment = made
        return _environment


def set_default_logger_severity(severity: int) -> None:
    """Messages below it are dropped by sessions that set no other: 0 verbose, 1 info, 2 warnings (at first),
    3 errors, 4 fatal ones. What the search for plugins says obeys only a call before the first session."""
    _settings["log_severity_level"] = checked_severity(severity)


def set_default_logger_callback(callback: Callable[[int, str, str, str, str], object] | None, severity: int = 2) -> None:
    """Gives messages from this severity on to a function, in the place of standard error: severity, category, log id,
    place in the code, text. None ends that. It counts for sessions that are created afterwards. Any thread may call
    the function; what it raises is reported as unraisable."""
    global _environment
    if callback is not None and not callable(callback):
        raise invalid_argument(f"the callback of the logger has the type {type(callback).__name__}; give a function, or None")
    checked = checked_severity(severity)
    with _lock:
        _settings["logging_function"] = callback
        if callback is not None:
            _settings["log_severity_level"] = checked
        _environment = None


def checked_severity(severity: int) -> int:
    if severity not in range(5):
        raise invalid_argument(f"the severity is {severity!r}; give a number from 0 (verbose) to 4 (fatal)")
    return int(severity)


def default_logger_severity() -> int:
    """-1 where none was set."""
    return _settings.get("log_severity_level", -1)


def set_default_logger_verbosity(verbosity: int) -> None:
    """Has no effect: there is one level of verbose messages."""


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int) -> None:
    """The threads of sessions that set no number; to be called before the first session."""
    if _environment is not None:
        raise invalid_argument("the threads exist already; call set_global_thread_pool_sizes before anything that "
                               "needs a plugin or a session")
    _settings.update(intra_op_num_threads=intra_op_num_threads, inter_op_num_threads=inter_op_num_threads)


def get_all_providers() -> list[str]:
    """Type names of the providers whose plugins were found, the CPU provider last. No plugin is loaded for it."""
    names = {plugin.provider for plugin in _provider_plugins()}
    return sorted(names, key=lambda name: (name == CPU_PROVIDER, name))


def _provider_plugins() -> list[_ephost.InstalledPlugin]:
    """Without plugins that are layers, which have no provider."""
    return [plugin for plugin in environment().plugins() if plugin.provider]


def get_available_providers() -> list[str]:
    return get_all_providers()


def normalized(providers: Sequence[Provider] | None, provider_options: Sequence[Mapping[str, Any]] | None,
               must_exist: bool = False) -> list[tuple[str, dict[str, str]]]:
    """The providers that there are, by type name, with options as text. Warns of those that there are not, or fails."""
    known = {plugin.provider: plugin.provider for plugin in _provider_plugins()}
    known.update({plugin.name: plugin.provider for plugin in _provider_plugins()})
    asked: dict[str, dict[str, str]] = {}
    for name, options in paired(providers, provider_options):
        if name not in known:
            there_are = f"there are: {', '.join(get_available_providers())}"
            if must_exist:
                raise invalid_argument(f"Unknown Provider Type: {name}; {there_are}")
            warnings.warn(f"no plugin offers the provider '{name}', which is left out; {there_are}", UserWarning,
                          stacklevel=3)
        elif known[name] not in asked:
            asked[known[name]] = _with_effect(options) if known[name] == CPU_PROVIDER else options
    return list(asked.items())


def paired(providers: Sequence[Provider] | None, provider_options: Sequence[Mapping[str, Any]] | None
           ) -> Iterator[tuple[str, dict[str, str]]]:
    """Each provider with its options as text, whichever of the two arguments has them."""
    if isinstance(providers, str):
        raise TypeError(f"providers is the text \"{providers}\"; give a list of names")
    providers = list(providers or ())
    if provider_options is not None and len(provider_options) != len(providers):
        raise invalid_argument(f"{len(providers)} providers have {len(provider_options)} provider_options; give one "
                               "dict for each provider")
    for index, given in enumerate(providers):
        name, options = _parted(given)
        if provider_options is not None:
            if options:
                raise invalid_argument(f"the options of {name} are given both in providers and in provider_options; "
                                       "give them once")
            options = provider_options[index]
            if not isinstance(options, Mapping):
                raise TypeError(f"provider_options has {options!r} for {name}; give a dict")
        yield name, {str(key): _text(value) for key, value in options.items()}


def _parted(given: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(given, str):
        return given, {}
    if isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], Mapping):
        return given[0], given[1]
    raise TypeError(f"providers has {given!r}; give names, or tuples of a name and a dict of options")


def _with_effect(options: dict[str, str]) -> dict[str, str]:
    ignored = sorted(_WITHOUT_EFFECT & options.keys())
    if ignored:
        warnings.warn(f"options of {CPU_PROVIDER} have no effect, since memory is planned: {', '.join(ignored)}",
                      UserWarning, stacklevel=4)
    return {key: value for key, value in options.items() if key not in _WITHOUT_EFFECT}


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


class OrtHardwareDevice:
    def __init__(self, device: _ephost.EpDevice):
        self._device = device

    @property
    def type(self) -> OrtHardwareDeviceType:
        return OrtHardwareDeviceType[self._device.type.upper()]

    @property
    def vendor(self) -> str:
        return self._device.vendor

    @property
    def vendor_id(self) -> int:
        return self._device.vendor_id

    @property
    def device_id(self) -> int:
        return self._device.device_id

    @property
    def metadata(self) -> dict[str, str]:
        return self._device.metadata


class OrtEpDevice:
    """A device that a provider can use (SessionOptions.add_provider_for_devices)."""

    def __init__(self, device: _ephost.EpDevice):
        self._device = device

    @property
    def ep_name(self) -> str:
        """The provider's type name."""
        return self._device.provider

    @property
    def ep_vendor(self) -> str:
        return self._device.provider_vendor

    @property
    def ep_metadata(self) -> dict[str, str]:
        return self._device.metadata

    @property
    def ep_options(self) -> dict[str, str]:
        """Empty: a device comes without options."""
        return {}

    @property
    def device(self) -> OrtHardwareDevice:
        return OrtHardwareDevice(self._device)

    @property
    def id(self) -> str:
        """Names the device among those of its provider, and stays the same over restarts."""
        return self._device.id

    @property
    def name(self) -> str:
        return self._device.name

    @property
    def is_virtual(self) -> bool:
        """Not in this machine, or simulated: used only by a session that names it."""
        return self._device.is_virtual

    def __repr__(self) -> str:
        return f"OrtEpDevice({self.ep_name!r}, {self.id!r}, {self._device.type!r})"


def get_ep_devices() -> list[OrtEpDevice]:
    """The devices that the installed providers can use. Loads the plugins."""
    return [OrtEpDevice(device) for device in environment().devices()]


def get_ep_targets() -> list[OrtEpDevice]:
    """The devices that providers can compile for without having them (ModelCompiler)."""
    return [OrtEpDevice(device) for device in environment().targets()]


def register_execution_provider_library(registration_name: str, library_path: str | os.PathLike) -> None:
    """Adds a plugin, by its manifest, or by its library if a single manifest beside it names that."""
    path = os.fspath(library_path)
    environment().register_execution_provider_library(registration_name, path)
    _registered[registration_name] = path


def unregister_execution_provider_library(registration_name: str) -> None:
    environment().unregister_execution_provider_library(registration_name)
    _registered.pop(registration_name, None)


def get_device() -> str:
    """The kind of memory that values lie in."""
    return "CPU"


# The version of onnxruntime whose Python API the package follows: scripts compare it.
API_VERSION = "1.30.0"


def get_version_string() -> str:
    """onnxruntime's version, as far as its API goes; `ephost_version` is the host's own."""
    return API_VERSION


def get_build_info() -> str:
    return f"Build Info: ephost {_ephost.version}, with the API of onnxruntime {API_VERSION}"
