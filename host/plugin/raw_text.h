// Text for signal handlers and for the end of the process: in a buffer of fixed size, written with
// one system call. Nothing here allocates or takes a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/plugin/call_scope.h"

namespace ephost::plugin {

class RawText {
 public:
  // What does not fit is cut off. What is not UTF-8 or unprintable (host/base/printable.h), as
  // names from a model may be, becomes '?'.
  RawText& add(std::string_view text) noexcept;
  RawText& add(uint64_t number, unsigned base = 10) noexcept;
  // As `describe`, with the number of the call and its step.
  RawText& add(const ThreadCalls::Snapshot& call) noexcept;
  // As one line to standard error.
  void write_line() noexcept;

 private:
  static constexpr size_t kSize = 1024;
  char buffer_[kSize] = {};
  size_t size_ = 0;
};

}  // namespace ephost::plugin
