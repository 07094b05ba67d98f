// Text for signal handlers and for the end of the process, in a buffer of fixed size and written
// with one system call. Nothing here allocates memory or takes a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin {

class RawText {
 public:
  // Text that does not fit is cut off. Invalid UTF-8 and unprintable characters
  // (host/base/printable.h), which names from a model may contain, become '?'.
  RawText& add(std::string_view text) noexcept;
  RawText& add(uint64_t number, unsigned base = 10) noexcept;
  // Like `describe`, plus the number of the call and its step.
  RawText& add(const ThreadCalls::Snapshot& call) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {buffer_, size_}; }
  // Writes the text as one line to standard error.
  void write_line() noexcept;

 private:
  static constexpr size_t kSize = 1024;
  char buffer_[kSize] = {};
  size_t size_ = 0;
};

}  // namespace ephost::plugin
