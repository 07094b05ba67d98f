"""ModelCompiler: from a model to a context model, which later sessions load without compiling."""
from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

from . import _environment, _ephost
from ._enums import GraphOptimizationLevel, InitializerLocation, OrtCompileApiFlags
from ._environment import Provider
from ._errors import invalid_argument
from ._options import SessionOptions, require_options
from ._ortvalue import OrtValue


class OrtExternalInitializerInfo:
    """Where the data of an initializer is: in a file beside the model."""

    def __init__(self, filepath: str, file_offset: int, byte_size: int):
        self.filepath, self.file_offset, self.byte_size = filepath, file_offset, byte_size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrtExternalInitializerInfo) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


LocationFunction = Callable[[str, OrtValue, "OrtExternalInitializerInfo | None"],
                            "InitializerLocation | OrtExternalInitializerInfo | None"]


class ModelCompiler:
    """Compiles one model; Ctrl-C ends a compilation with KeyboardInterrupt, and nothing half-written stays."""

    def __init__(self, sess_options: SessionOptions, input_model_path_or_bytes: str | os.PathLike | bytes,
                 embed_compiled_data_into_model: bool | None = None,
                 external_initializers_file_path: str | os.PathLike | None = None,
                 external_initializers_size_threshold: int = 1024, flags: int = OrtCompileApiFlags.NONE,
                 graph_optimization_level: GraphOptimizationLevel | None = None,
                 get_initializer_location_func: LocationFunction | None = None, *,
                 providers: Sequence[Provider] | None = None,
                 provider_options: Sequence[Mapping[str, Any]] | None = None, target: str = "",
                 write_data_func: Callable[[str, bytes], object] | None = None,
                 force_overwrite: bool = False, check_deterministic: bool = False):
        """`providers` are those of a session, besides those of `sess_options`; `target` is the id of one of
        `get_ep_targets`. `write_data_func` receives the names and bytes of binaries in the place of the file system.
        `get_initializer_location_func` returns an InitializerLocation; None embeds, and what it was given as the
        initializer's present place leaves it there."""
        given: dict[str, Any] = {"target": target, "force_overwrite": bool(force_overwrite),
                                 "check_deterministic": bool(check_deterministic)}
        if isinstance(input_model_path_or_bytes, (bytes, bytearray, memoryview)):
            given["input_bytes"] = bytes(input_model_path_or_bytes)
        else:
            given["input_path"] = os.fspath(input_model_path_or_bytes)
        if embed_compiled_data_into_model is not None:
            given["embed"] = bool(embed_compiled_data_into_model)
        if external_initializers_file_path is not None:
            given["external_initializers_file"] = os.fspath(external_initializers_file_path)
            given["external_initializers_size_threshold"] = int(external_initializers_size_threshold)
        flags = OrtCompileApiFlags(flags)
        given["error_if_no_nodes_compiled"] = OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED in flags
        given["error_if_output_exists"] = OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS in flags
        if write_data_func is not None:
            given["write_data"] = write_data_func
        if get_initializer_location_func is not None:
            given["place_initializer"] = _placing(get_initializer_location_func)
        self._given, self._options, self._level = given, require_options(sess_options), graph_optimization_level
        self._providers = _environment.normalized(providers, provider_options)

    def compile_to_file(self, output_model_path: str | os.PathLike | None = None) -> _ephost.CompileReport:
        """Writes the context model, `<model>_ctx.onnx` beside the model without a path, and its binaries."""
        output = {} if output_model_path is None else {"output_path": os.fspath(output_model_path)}
        return self._compile(output)[0]

    def compile_to_bytes(self) -> bytes:
        """The context model. Its binaries are embedded, unless a file or a function is stated for them."""
        return self._compile({"to_bytes": True, **self._embedded()})[1]

    def compile_to_stream(self, write_function: Callable[[bytes], object]) -> _ephost.CompileReport:
        """Gives the context model to a function, in pieces."""
        return self._compile({"write": write_function, **self._embedded()})[0]

    def _embedded(self) -> dict[str, bool]:
        """Without a path there is no folder for binaries."""
        is_stated = "embed" in self._given or "write_data" in self._given
        return {} if is_stated or "ep.context_file_path" in self._options._entries else {"embed": True}

    def _compile(self, output: dict[str, Any]) -> tuple[_ephost.CompileReport, bytes]:
        with self._options._in_use(self._providers) as options:
            if self._level is not None:
                disabled = GraphOptimizationLevel(self._level) == GraphOptimizationLevel.ORT_DISABLE_ALL
                options.add_config_entry("session.graph_optimization_level", "disable_all" if disabled else "all")
            return _ephost.compile(_environment.environment(), options, {**self._given, **output})


def _placing(function: LocationFunction) -> Callable[[str, _ephost.Value, "tuple[str, int, int] | None"], int]:
    def place(name: str, value: _ephost.Value, external: tuple[str, int, int] | None) -> int:
        info = None if external is None else OrtExternalInitializerInfo(*external)
        found = function(name, OrtValue(value), info)
        if found is None:
            return InitializerLocation.EMBEDDED
        if isinstance(found, OrtExternalInitializerInfo):
            if found == info:
                return InitializerLocation.ORIGINAL
            raise invalid_argument(f"get_initializer_location_func wants \"{name}\" at a place in a file of its own choice; "
                                   "it can return None, the place that it was given, or an InitializerLocation")
        return int(InitializerLocation(found))
    return place
