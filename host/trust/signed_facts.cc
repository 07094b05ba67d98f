#include "host/trust/signed_facts.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"

namespace ephost::trust {
namespace {

Status wrong_field(std::string_view name, std::string_view problem) {
  return Status(StatusCode::kInvalidArgument,
                formatted("the field \"{}\" of its trusted comment {}", name, problem));
}

void add(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!text.empty()) text += '\t';
  text += formatted("{}:{}", name, printable_line(value));
}

}  // namespace

std::string to_text(const SignedFacts& facts) {
  std::string text;
  if (facts.time) add(text, "timestamp", formatted("{}", *facts.time));
  add(text, "file", facts.file);
  if (!text.empty()) text += '\t';
  text += "hashed";
  add(text, "provider", facts.provider);
  add(text, "version", facts.version);
  if (facts.expires) add(text, "expires", utc_text(*facts.expires));
  add(text, "files", facts.files);
  return text;
}

Result<SignedFacts> parse_signed_facts(std::string_view trusted_comment) {
  std::map<std::string_view, std::string_view> fields;
  while (!trusted_comment.empty()) {
    const std::string_view field = trusted_comment.substr(0, trusted_comment.find('\t'));
    trusted_comment.remove_prefix(std::min(field.size() + 1, trusted_comment.size()));
    const size_t colon = field.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = field.substr(0, colon);
    if (!fields.emplace(name, field.substr(colon + 1)).second) {
      return wrong_field(quote(name), "is stated twice");
    }
  }
  SignedFacts facts{.file = std::string(fields["file"]),
                    .provider = std::string(fields["provider"]),
                    .version = std::string(fields["version"]),
                    .files = std::string(fields["files"])};
  // minisign takes any comment, so that only what we write ourselves has to be well-formed.
  const std::string_view stamp = fields["timestamp"];
  int64_t time = 0;
  const auto [end, error] = std::from_chars(stamp.data(), stamp.data() + stamp.size(), time);
  if (error == std::errc() && end == stamp.data() + stamp.size()) facts.time = time;
  if (const auto expires = fields.find("expires"); expires != fields.end()) {
    facts.expires = parse_time(expires->second);
    if (!facts.expires) return wrong_field("expires", "is not a time");
  }
  return facts;
}

std::optional<int64_t> parse_time(std::string_view text) {
  constexpr size_t kDayLength = 10;
  const std::string full =
      text.size() == kDayLength ? std::string(text) + "T00:00:00Z" : std::string(text);
  struct tm parts {};
  const char* const end = ::strptime(full.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const int64_t seconds = ::timegm(&parts);
  // Refuses other spellings, and days that no month has.
  if (utc_text(seconds) != full) return std::nullopt;
  return seconds;
}

int64_t current_time() { return static_cast<int64_t>(std::time(nullptr)); }

}  // namespace ephost::trust
