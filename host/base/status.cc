#include <ephost/status.h>

namespace ephost {

std::string_view status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kFail:
      return "FAIL";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kNoSuchFile:
      return "NO_SUCHFILE";
    case StatusCode::kNoModel:
      return "NO_MODEL";
    case StatusCode::kEngineError:
      return "ENGINE_ERROR";
    case StatusCode::kRuntimeException:
      return "RUNTIME_EXCEPTION";
    case StatusCode::kInvalidProtobuf:
      return "INVALID_PROTOBUF";
    case StatusCode::kModelLoaded:
      return "MODEL_LOADED";
    case StatusCode::kNotImplemented:
      return "NOT_IMPLEMENTED";
    case StatusCode::kInvalidGraph:
      return "INVALID_GRAPH";
    case StatusCode::kEpFail:
      return "EP_FAIL";
    case StatusCode::kModelLoadCanceled:
      return "MODEL_LOAD_CANCELED";
    case StatusCode::kModelRequiresCompilation:
      return "MODEL_REQUIRES_COMPILATION";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
  }
  // A plugin may return a number that is not a valid code.
  return "UNKNOWN_CODE";
}

Status Status::with_context(std::string_view what) && {
  if (ok()) return Status::ok_status();
  message_ += " (while ";
  message_ += what;
  message_ += ')';
  return std::move(*this);
}

std::string Status::to_string() const {
  std::string text(status_code_name(code_));
  if (!ok()) text += ": " + message_;
  return text;
}

}  // namespace ephost
