// The boundary of the public API: no exception leaves the library, whether memory ran out, a
// library threw, or a function of the application did.
#pragma once

#include <ephost/status.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace ephost::session {

// Returns what `work` returns, which is a Status or a Result. If `work` throws, returns FAIL, or
// OUT_OF_MEMORY, with `what` in the message ("creating a session"). The forced unwinding that ends
// a thread passes through.
template <class Work>
[[nodiscard]] auto without_exceptions(std::string_view what, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory,
                  std::string(what) +
                      " ran out of memory; free some, or raise the limit of "
                      "this process");
  } catch (const std::exception& exception) {
    return Status(StatusCode::kFail, std::string(what) + " failed: " + exception.what());
  }
}

}  // namespace ephost::session
