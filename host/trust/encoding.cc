#include "host/trust/encoding.h"

#include <sodium.h>

#include <algorithm>

#include "host/base/format.h"

namespace ephost::trust {
namespace {

Status malformed(std::string_view what, std::string_view problem) {
  return Status(StatusCode::kInvalidArgument,
                formatted("it is not a {} of minisign's format: {}", what, problem));
}

}  // namespace

Result<std::vector<std::string_view>> split_lines(std::string_view file, size_t count,
                                                  std::string_view what) {
  std::vector<std::string_view> lines;
  while (!file.empty()) {
    const size_t end = file.find('\n');
    if (end == std::string_view::npos) return malformed(what, "the last line has no end");
    if (lines.size() == count)
      return malformed(what, formatted("it has more than {} lines", count));
    const std::string_view line = file.substr(0, end);
    if (std::ranges::any_of(
            line, [](unsigned char one) { return (one < 0x20 && one != '\t') || one == 0x7f; })) {
      return malformed(what, "it has control characters");
    }
    lines.push_back(line);
    file.remove_prefix(end + 1);
  }
  if (lines.size() == count) return lines;
  return malformed(what, formatted("it has {} lines instead of {}", lines.size(), count));
}

Result<std::string_view> comment_of(std::string_view line, std::string_view prefix,
                                    size_t max_bytes, std::string_view what) {
  if (!line.starts_with(prefix)) {
    return malformed(what, formatted("a line does not begin with \"{}\"", prefix));
  }
  line.remove_prefix(prefix.size());
  if (line.size() <= max_bytes) return line;
  return malformed(what, formatted("a comment has more than {} bytes", max_bytes));
}

std::string encode_base64(std::span<const uint8_t> bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // the NUL byte
  return text;
}

Status decode_base64(std::string_view text, std::span<uint8_t> out, std::string_view what) {
  size_t size = 0;
  const char* end = nullptr;
  const int result = sodium_base642bin(out.data(), out.size(), text.data(), text.size(), nullptr,
                                       &size, &end, sodium_base64_VARIANT_ORIGINAL);
  // libsodium also takes bytes beyond ASCII for '/'.
  if (result == 0 && size == out.size() && end == text.data() + text.size() &&
      encode_base64(out) == text) {
    return {};
  }
  return malformed(what, formatted("a line is not the base64 text of {} bytes", out.size()));
}

Status start_sodium() {
  if (sodium_init() >= 0) return {};
  return Status(StatusCode::kFail,
                "libsodium cannot start, because the system has no random numbers");
}

std::array<uint8_t, 64> digest_of(std::span<const std::byte> content) {
  std::array<uint8_t, 64> digest = {};
  crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const uint8_t*>(content.data()),
                     content.size(), nullptr, 0);
  return digest;
}

}  // namespace ephost::trust
