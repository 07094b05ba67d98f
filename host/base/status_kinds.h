// Kinds of failures, by their codes.
#pragma once

#include <ephost/status.h>

namespace ephost {

// Whether the work was to end, rather than having failed: it is not repeated, nothing is tried in
// its place, and no provider is to blame. MODEL_LOAD_CANCELED is how a provider may say it in the
// words of ONNX Runtime.
[[nodiscard]] constexpr bool is_cancellation(StatusCode code) {
  return code == StatusCode::kCancelled || code == StatusCode::kDeadlineExceeded ||
         code == StatusCode::kModelLoadCanceled;
}
[[nodiscard]] inline bool is_cancellation(const Status& status) {
  return is_cancellation(status.code());
}

// Whether the failure says nothing about what was asked for, such as the model or a cached context:
// the work was to end, memory ran out, or a device was lost. A caller that reports it as another
// failure keeps its code.
[[nodiscard]] inline bool is_circumstance(const Status& status) {
  return is_cancellation(status) || status.code() == StatusCode::kOutOfMemory ||
         status.code() == StatusCode::kDeviceLost;
}

}  // namespace ephost
