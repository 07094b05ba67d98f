"""InferenceSession: a model, ready to run."""
from __future__ import annotations

import os
import re
import time
from typing import Any, Callable, Mapping, Sequence

from . import _environment, _ephost
from ._adapters import RunOptions, with_parameters
from ._assignment import OrtEpAssignedSubgraph, recorded_assignment
from ._binding import IOBinding
from ._devices import OrtMemoryInfo
from ._environment import Provider
from ._enums import ValueKind
from ._errors import Fail, InvalidArgument
from ._model_config import with_config_of_model
from ._options import RECORD_ENTRY, SessionOptions, require_options
from ._ortvalue import OrtValue, OrtValueVector

_LEAF = re.compile(r"\b([a-z][a-z0-9]*)(?:\[[^\]]*\])?(?=[,)\s]|$)")
_MAP_KEY = re.compile(r"map\(tensor\((\w+)\),\s*")


class NodeArg:
    """An input or output of a model."""

    def __init__(self, description: _ephost.ValueDescription):
        self._description = description

    @property
    def name(self) -> str:
        return self._description.name

    @property
    def type(self) -> str:
        """ONNX Runtime's text, e.g. "tensor(float)"."""
        of = self._description
        if of.kind == ValueKind.TENSOR:
            text = f"tensor({_ephost.element_type_name(of.element_type)})"
            return f"optional({text})" if of.is_optional else text
        return _MAP_KEY.sub(r"map(\1,", _LEAF.sub(r"tensor(\1)", of.type))

    @property
    def shape(self) -> list[int | str | None]:
        """An open extent is its name, or None; [] for a scalar, and for a value without a known rank."""
        of = self._description
        return [extent if extent >= 0 else name or None for extent, name in zip(of.shape, of.dim_names)]

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class InferenceSession:
    """Several threads may call `run` of one session at once. The GIL is free meanwhile, and Ctrl-C ends a run, and
    the creation of a session, with KeyboardInterrupt."""

    def __init__(self, path_or_bytes: str | os.PathLike | bytes, sess_options: SessionOptions | None = None,
                 providers: Sequence[Provider] | None = None,
                 provider_options: Sequence[Mapping[str, Any]] | None = None, **kwargs: Any):
        """`providers` are asked in this order, by type name or short name, and the CPU provider takes what they leave;
        it is the only one where none are given. What is unknown in `kwargs` is an error; `disabled_optimizers` are
        names of passes to leave out."""
        disabled = kwargs.pop("disabled_optimizers", None)
        kwargs.pop("enable_fallback", None)
        if kwargs:
            raise TypeError(f"InferenceSession has no argument {', '.join(map(repr, kwargs))}")
        self._model = _model(path_or_bytes)
        options = SessionOptions() if sess_options is None else require_options(sess_options)
        self._options = with_config_of_model(options, self._model)
        self._disabled = list(disabled or ())
        self._create(_environment.normalized(providers, provider_options))

    def _create(self, asked: Sequence[tuple[str, dict[str, str]]]) -> None:
        with self._options._in_use(asked) as options:
            if self._disabled:
                options.add_config_entry("optimization.disable_specified_optimizers", ";".join(self._disabled))
            profiling_start = time.time_ns() if self._options.enable_profiling else 0
            assignment = recorded_assignment(self._options, self._model, options)
            self._session = _ephost.Session(_environment.environment(), self._model, options)
        self._assignment = assignment
        self._required = {one.name for one in self._session.inputs() if not (one.has_default or one.is_optional)}
        self._profiling_start = profiling_start
        self._run = self._session.run
        self._files = list(self._options._files)  # borrowed by the session
        given = [entry for entry in [*self._options._providers, *asked] if isinstance(entry[0], str)]
        self._provider_options = dict(given)

    # ---- Runs --------------------------------------------------------------------------------------------------

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any],
            run_options: RunOptions | None = None) -> list[Any]:
        """The outputs named, or all in the model's order. Arrays have memory of their own."""
        try:
            return self._run(output_names, with_parameters(input_feed, run_options), run_options)
        except InvalidArgument as error:
            self._require_inputs(input_feed, f"{error}; ")
            raise

    def _require_inputs(self, feed: Mapping[str, Any], begin: str = "INVALID_ARGUMENT: ") -> None:
        """Says which inputs are missing in onnxruntime's words."""
        missing = sorted(self._required.difference(feed))
        if missing:
            raise InvalidArgument(f"{begin}Required inputs ({missing}) are missing from input feed ({list(feed)})."
                                  ) from None

    def run_async(self, output_names: Sequence[str] | None, input_feed: dict[str, Any],
                  callback: Callable[[list[Any], Any, str], object], user_data: Any = None,
                  run_options: RunOptions | None = None) -> None:
        """Returns at once. A thread calls `callback(outputs, user_data, error)` in the end, where `error` is empty, or
        the text of the failure. At its end the interpreter waits for unfinished runs, which Ctrl-C ends."""
        feed = with_parameters(input_feed, run_options)
        self._require_inputs(feed)
        self._session.run_async(output_names, feed,
                                lambda outputs, data, error: callback(outputs, data, "" if error is None else str(error)),
                                user_data, run_options)

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        feed = with_parameters(input_dict_ort_values, run_options)
        feeds = [(name, value._ephost_value) for name, value in feed.items()]
        return [OrtValue(value) for value in self._session.run_values(output_names, feeds, run_options)]

    def run_with_ortvaluevector(self, run_options: RunOptions | None, feed_names: Sequence[str],
                                feeds: Sequence[OrtValue], fetch_names: Sequence[str], fetches: list[OrtValue],
                                fetch_devices: Sequence[Any] = ()) -> None:
        """Adds the outputs to `fetches`. They lie in host memory, whatever `fetch_devices` says."""
        fetches += self.run_with_ort_values(fetch_names, dict(zip(feed_names, feeds)), run_options)

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        self._session.run_with_binding(iobinding._binding, run_options)

    # ---- What the session is -----------------------------------------------------------------------------------

    def get_inputs(self) -> list[NodeArg]:
        """Those without a default in the model."""
        return [NodeArg(one) for one in self._session.inputs() if not one.has_default]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(one) for one in self._session.outputs()]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs with a default, which a run may give another value."""
        return [NodeArg(one) for one in self._session.overridable_initializers()]

    def get_modelmeta(self) -> _ephost.ModelMetadata:
        return self._session.model_metadata()

    def get_providers(self) -> list[str]:
        return self._session.providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options that were given, by provider."""
        return {name: dict(self._provider_options.get(name, {})) for name in self.get_providers()}

    def set_providers(self, providers: Sequence[Provider] | None = None,
                      provider_options: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Creates the session again, with the options as they are now. What is in progress ends before that, and
        bindings are of the session before. If it fails, as for a provider that is not there, the session stays as
        it was."""
        self._create(_environment.normalized(providers, provider_options, must_exist=True))

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        return [OrtMemoryInfo._of(one) for one in self._session.memory_info_for_inputs()]

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        return [OrtMemoryInfo._of(one) for one in self._session.memory_info_for_outputs()]

    def get_input_epdevices(self) -> list[None]:
        """For each input the device in whose memory it is wanted: none, since inputs lie in host memory."""
        return [None for _ in self.get_inputs()]

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """Which provider runs which nodes: what it runs as one is one entry. Recorded where the configuration entry
        session.record_ep_graph_assignment_info is 1."""
        if self._assignment is None:
            raise Fail(f"FAIL: Session configuration entry '{RECORD_ENTRY}' must be set to \"1\" when the session is "
                       "created")
        return list(self._assignment)

    def get_fallbacks(self) -> list[_ephost.Fallback]:
        """What providers failed at, in the order of the attempts; others run these nodes."""
        return self._session.fallbacks()

    def get_cache_use(self) -> _ephost.CacheUse:
        """What the cache store (the entry ep.cache_dir) did for the session."""
        return self._session.cache_use()

    def set_ep_dynamic_options(self, options: Mapping[str, Any]) -> None:
        """Changes options of providers for runs that begin afterwards: keys are "ep.PROVIDER.OPTION"."""
        self._session.set_ep_dynamic_options({str(key): str(value) for key, value in options.items()})

    def shrink(self) -> None:
        """Gives back what the session keeps only so that later runs begin faster; the next run makes it again."""
        self._session.shrink()

    def end_profiling(self) -> str:
        """Writes what SessionOptions.enable_profiling recorded: the file."""
        return self._session.end_profiling()

    def get_profiling_start_time_ns(self) -> int:
        """When the profile began, in nanoseconds since 1970; 0 without one."""
        return self._profiling_start

    @property
    def _sess(self) -> _ExtensionSession:
        return _ExtensionSession(self)

    def disable_fallback(self) -> None:
        """Has no effect: a session never changes its providers later."""

    def enable_fallback(self) -> None:
        """Has no effect, like disable_fallback."""


class _ExtensionSession:
    """What onnxruntime has under `_sess`, with the arguments in the order of its extension."""

    def __init__(self, session: InferenceSession):
        self._owner, self._session = session, session._session

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any],
            run_options: RunOptions | None = None) -> list[Any]:
        return self._owner.run(output_names, input_feed, run_options)

    def run_with_ort_values(self, feeds: Mapping[str, OrtValue], output_names: Sequence[str] | None,
                            run_options: RunOptions | None = None) -> OrtValueVector:
        return OrtValueVector(self._owner.run_with_ort_values(output_names, feeds, run_options))

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        self._owner.run_with_iobinding(iobinding, run_options)


def _model(given: Any) -> str | bytes:
    """The path, or the bytes."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    try:
        return os.fspath(given)
    except TypeError as error:
        raise TypeError(f"a model is given as a {type(given).__name__}; give a path, or the model's bytes") from error
