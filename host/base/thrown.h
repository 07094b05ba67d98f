// The Status of an exception, where code that may throw is called by code that must not.
#pragma once

#include <ephost/status.h>

#include <exception>
#include <new>

namespace ephost {

// OUT_OF_MEMORY for std::bad_alloc, otherwise FAIL with the text of the exception.
[[nodiscard]] inline Status status_of_thrown(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
    return {StatusCode::kOutOfMemory, "out of memory"};
  }
  return {StatusCode::kFail, thrown.what()};
}

}  // namespace ephost
