#include "host/cli/backend_test/skip_list.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

Status refuse_line(std::string_view file, size_t line, const std::string& problem) {
  return Status(StatusCode::kInvalidArgument, formatted("{}:{}: {}", file, line, problem));
}

}  // namespace

Result<SkipList> parse_skip_list(std::string_view text, std::string_view file) {
  SkipList list;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const size_t colon = line.find(':');
    std::string_view name = trimmed(line.substr(0, colon));
    const bool may_pass = name.ends_with('?');
    if (may_pass) name = trimmed(name.substr(0, name.size() - 1));
    const std::string_view reason =
        colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 1));
    if (name.empty() || reason.empty()) {
      return refuse_line(file, number, quote(line) + " is not of the form \"name: reason\"");
    }
    if (!list.emplace(name, SkipReason{std::string(reason), may_pass}).second) {
      return refuse_line(file, number, quote(name) + " is listed twice; remove one");
    }
  }
  return list;
}

}  // namespace ephost::cli
