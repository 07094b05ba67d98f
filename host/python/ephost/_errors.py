"""Failures of the host as exceptions: one class for each status code, named as onnxruntime names them."""
import enum


class StatusCode(enum.IntEnum):
    """ONNX Runtime's codes, value for value, and from 1000 on ephost's own."""
    FAIL = 1
    INVALID_ARGUMENT = 2
    NO_SUCHFILE = 3
    NO_MODEL = 4
    ENGINE_ERROR = 5
    RUNTIME_EXCEPTION = 6
    INVALID_PROTOBUF = 7
    MODEL_LOADED = 8
    NOT_IMPLEMENTED = 9
    INVALID_GRAPH = 10
    EP_FAIL = 11
    MODEL_LOAD_CANCELED = 12
    MODEL_REQUIRES_COMPILATION = 13
    NOT_FOUND = 14
    OUT_OF_MEMORY = 1000
    DEVICE_LOST = 1001
    CANCELLED = 1002
    DEADLINE_EXCEEDED = 1003


class EphostError(RuntimeError):
    """What all failures of the host have in common. The text begins with the name of the code. A RuntimeError, since
    onnxruntime raises that for many of them."""
    code: StatusCode = StatusCode.FAIL


class Fail(EphostError):
    code = StatusCode.FAIL


class InvalidArgument(EphostError, ValueError):
    code = StatusCode.INVALID_ARGUMENT


class NoSuchFile(EphostError):
    code = StatusCode.NO_SUCHFILE


class NoModel(EphostError):
    code = StatusCode.NO_MODEL


class EngineError(EphostError):
    code = StatusCode.ENGINE_ERROR


class RuntimeException(EphostError):
    code = StatusCode.RUNTIME_EXCEPTION


class InvalidProtobuf(EphostError):
    code = StatusCode.INVALID_PROTOBUF


class ModelLoaded(EphostError):
    code = StatusCode.MODEL_LOADED


class NotImplemented(EphostError):  # noqa: A001 (onnxruntime's name)
    code = StatusCode.NOT_IMPLEMENTED


class InvalidGraph(EphostError):
    code = StatusCode.INVALID_GRAPH


class EPFail(EphostError):
    code = StatusCode.EP_FAIL


class ModelLoadCanceled(EphostError):
    code = StatusCode.MODEL_LOAD_CANCELED


class ModelRequiresCompilation(EphostError):
    code = StatusCode.MODEL_REQUIRES_COMPILATION


class NotFound(EphostError):
    code = StatusCode.NOT_FOUND


# ONNX Runtime knows none of these codes: what it raises instead is a base class of each, so that programs that were
# written for it still work.
class OutOfMemory(Fail, MemoryError):
    code = StatusCode.OUT_OF_MEMORY


class DeviceLost(Fail, EngineError):
    code = StatusCode.DEVICE_LOST


class Cancelled(Fail, ModelLoadCanceled):
    """A run, the creation of a session, or a compilation was cancelled."""
    code = StatusCode.CANCELLED


class DeadlineExceeded(TimeoutError, Fail, ModelLoadCanceled):
    """The deadline of a run passed, or session.load_timeout_seconds while a session was created."""
    code = StatusCode.DEADLINE_EXCEEDED


CLASSES = (Fail, InvalidArgument, NoSuchFile, NoModel, EngineError, RuntimeException, InvalidProtobuf, ModelLoaded,
           NotImplemented, InvalidGraph, EPFail, ModelLoadCanceled, ModelRequiresCompilation, NotFound, OutOfMemory,
           DeviceLost, Cancelled, DeadlineExceeded)
_BY_CODE = {one.code.value: one for one in CLASSES}
for _class in (StatusCode, EphostError, *CLASSES):
    _class.__module__ = "ephost"


def error_of(code: int, text: bytes) -> EphostError:
    """The exception of a status of the host. The text is UTF-8 as far as what it quotes is."""
    return _BY_CODE.get(code, EphostError)(text.decode("utf-8", "backslashreplace"))


def invalid_argument(problem: str) -> InvalidArgument:
    return InvalidArgument(f"{StatusCode.INVALID_ARGUMENT.name}: {problem}")
