#include "host/plugin/calls/raw_text.h"

#include <algorithm>

#include "host/base/files/file_descriptor.h"
#include "host/base/printable.h"

namespace ephost::plugin {

RawText& RawText::add(std::string_view text) noexcept {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const size_t read = std::max<size_t>(point.size, 1);
    const bool is_shown = point.size > 0 && !is_unprintable(point.value);
    const std::string_view added = is_shown ? std::string_view(text.data(), read) : "?";
    if (size_ + added.size() >= kSize) break;  // leaves room for the line feed
    std::copy(added.begin(), added.end(), buffer_ + size_);
    size_ += added.size();
    text.remove_prefix(read);
  }
  return *this;
}

RawText& RawText::add(uint64_t number, unsigned base) noexcept {
  char digits[64];
  size_t begin = sizeof(digits);
  do {
    digits[--begin] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  return add({digits + begin, sizeof(digits) - begin});
}

RawText& RawText::add(const ThreadCalls::Snapshot& call) noexcept {
  const CallSite& site = call.site;
  add(site.slot).add(" of ").add(site.provider);
  if (!site.kind.empty()) add(" for ").add(site.kind);
  if (!site.name.empty()) add(" \"").add(site.name).add("\"");
  add(" (call ").add(call.number);
  if (call.step) add(", step ").add(*call.step);
  return add(")");
}

void RawText::write_line() noexcept {
  buffer_[size_++] = '\n';
  static_cast<void>(write_all(kStandardError, {buffer_, size_}));
  size_ = 0;
}

}  // namespace ephost::plugin
