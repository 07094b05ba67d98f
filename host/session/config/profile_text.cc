#include "host/session/config/profile_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Status malformed(std::string_view text) {
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is not an extent of a profile; write NAME=LEAST:BEST:GREATEST with "
                          "1 <= LEAST <= BEST <= GREATEST, or NAME=EXTENT, e.g. batch=1:8:32; for "
                          "an element of an input write e.g. sizes{{0}}=-1:0:640",
                          quote(text)));
}

std::optional<int64_t> parse_number(std::string_view text, int64_t least) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least) {
    return std::nullopt;
  }
  return number;
}

Result<NamedRange> parse_range(std::string_view text) {
  // The name may have a `=` in it, the extents have none.
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return malformed(text);
  const std::string_view name = text.substr(0, equals);
  const int64_t least = name.ends_with('}') ? INT64_MIN : 1;
  std::vector<int64_t> numbers;
  for (const std::string_view part : split(text.substr(equals + 1), ':')) {
    const std::optional<int64_t> number = parse_number(part, least);
    if (!number) return malformed(text);
    numbers.push_back(*number);
  }
  if (numbers.size() == 1) numbers.resize(3, numbers.front());
  if (numbers.size() != 3 || !std::ranges::is_sorted(numbers)) return malformed(text);
  return NamedRange{std::string(name), numbers[0], numbers[1], numbers[2]};
}

}  // namespace

Result<std::vector<NamedProfile>> parse_profiles(std::string_view text) {
  std::vector<NamedProfile> profiles;
  if (text.empty()) return profiles;
  for (const std::string_view part : split(text, ';')) {
    NamedProfile& profile = profiles.emplace_back();
    for (const std::string_view range : split(part, ',')) {
      EPHOST_ASSIGN_OR_RETURN(NamedRange parsed, parse_range(range));
      if (std::ranges::find(profile, parsed.name, &NamedRange::name) != profile.end()) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("the profile {} names {} twice; leave one of them out", quote(part),
                                quote(parsed.name)));
      }
      profile.push_back(std::move(parsed));
    }
  }
  return profiles;
}

std::string to_string(std::span<const NamedProfile> profiles) {
  std::vector<std::string> texts;
  for (const NamedProfile& profile : profiles) {
    std::vector<std::string> ranges;
    for (const NamedRange& range : profile) {
      ranges.push_back(
          formatted("{}={}:{}:{}", range.name, range.least, range.best, range.greatest));
    }
    texts.push_back(join(ranges, ","));
  }
  return join(texts, ";");
}

}  // namespace ephost::session
