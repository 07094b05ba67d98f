#include "host/session/config/profile_text.h"

#include <algorithm>
#include <array>
#include <charconv>
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
                          "1 <= LEAST <= BEST <= GREATEST, or NAME=EXTENT, e.g. batch=1:8:32",
                          quote(text)));
}

std::optional<int64_t> parse_extent(std::string_view text) {
  int64_t extent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error != std::errc() || end != text.data() + text.size() || extent < 1) return std::nullopt;
  return extent;
}

Result<NamedRange> parse_range(std::string_view text) {
  // The name may have a `=` in it, the extents have none.
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return malformed(text);
  std::vector<int64_t> extents;
  for (const std::string_view part : split(text.substr(equals + 1), ':')) {
    const std::optional<int64_t> extent = parse_extent(part);
    if (!extent) return malformed(text);
    extents.push_back(*extent);
  }
  if (extents.size() == 1) extents.resize(3, extents.front());
  if (extents.size() != 3 || !std::ranges::is_sorted(extents)) return malformed(text);
  return NamedRange{std::string(text.substr(0, equals)), extents[0], extents[1], extents[2]};
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
