#include "host/cli/arguments/exit_status.h"

#include <array>

#include "host/cli/arguments/interrupt.h"

namespace ephost::cli {
namespace {

int status_of_code(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kNoSuchFile:
    case StatusCode::kNoModel:
    case StatusCode::kInvalidProtobuf:
    case StatusCode::kInvalidGraph:
    case StatusCode::kNotImplemented:
    case StatusCode::kModelRequiresCompilation:
      return kExitInput;
    case StatusCode::kEpFail:
    case StatusCode::kNotFound:
      return kExitPlugin;
    case StatusCode::kEngineError:
      return kExitDevice;
    case StatusCode::kDeadlineExceeded:
      return kExitTimeLimit;
    case StatusCode::kModelLoadCanceled:
    case StatusCode::kCancelled:
      return kExitCancelled;
    case StatusCode::kOutOfMemory:
      return kExitOutOfMemory;
    case StatusCode::kDeviceLost:
      return kExitDeviceLost;
    case StatusCode::kFail:
      return kExitFailure;
    case StatusCode::kOk:
    case StatusCode::kRuntimeException:
    case StatusCode::kModelLoaded:
      break;
  }
  return kExitInternal;
}

}  // namespace

int exit_status_of(const Status& failure) {
  if (const int signal = interrupting_signal(); signal != 0) return kExitSignal + signal;
  return status_of_code(failure.code());
}

std::span<const ExitStatus> exit_statuses() {
  static const std::array<ExitStatus, 13> statuses = {{
      {std::to_string(kExitSuccess), "success"},
      {std::to_string(kExitFailure),
       "what was asked for failed: something was found to be wrong, a test failed, or a file could "
       "not be written"},
      {std::to_string(kExitUsage),
       "the command line is wrong, or asks for something that does not fit the model or the "
       "provider"},
      {std::to_string(kExitInput),
       "an input: a model or another file is missing, damaged or not supported"},
      {std::to_string(kExitPlugin),
       "a plugin or its provider is missing, cannot be used or failed"},
      {std::to_string(kExitDevice), "a device that was asked for is missing, or a device failed"},
      {std::to_string(kExitOpenShapes),
       "success, but for a provider that was asked for and takes nothing unless shapes are fixed"},
      {std::to_string(kExitOutOfMemory), "memory of the process or of a device ran out"},
      {std::to_string(kExitDeviceLost),
       "a device was lost: it is gone, or works only after it has been opened again"},
      {std::to_string(kExitCancelled), "the work was cancelled, but not by a signal"},
      {std::to_string(kExitInternal), "an internal error of ephost"},
      {std::to_string(kExitTimeLimit), "a time limit passed"},
      {std::to_string(kExitSignal) + "+N",
       "signal N ended the command, for instance 130 after Ctrl-C"},
  }};
  return statuses;
}

}  // namespace ephost::cli
