#include "host/manifest/version.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::manifest {

namespace {

Status invalid(std::string_view text, std::string_view problem) {
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} is not a version: {}; write it as major.minor.patch, e.g. 1.4.0 or 2.0.0-rc.1",
                quote(text), problem));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<uint32_t> parse_number(std::string_view text) {
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (!is_number(text) || leading_zero) return std::nullopt;
  uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_identifier_list(std::string_view text) {
  const auto allowed = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  const std::vector<std::string_view> identifiers = split(text, '.');
  return std::all_of(identifiers.begin(), identifiers.end(), [&](std::string_view identifier) {
    return !identifier.empty() && std::all_of(identifier.begin(), identifier.end(), allowed);
  });
}

std::strong_ordering compare_identifiers(std::string_view a, std::string_view b) {
  const bool a_is_number = is_number(a);
  const bool b_is_number = is_number(b);
  if (a_is_number != b_is_number) {
    return a_is_number ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (!a_is_number) return a <=> b;
  // Compares numbers of any length: without leading zeros, the longer one is larger.
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  return std::pair(a.size(), a) <=> std::pair(b.size(), b);
}

std::strong_ordering compare_prereleases(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.empty() <=> b.empty();
  const std::vector<std::string_view> a_parts = split(a, '.');
  const std::vector<std::string_view> b_parts = split(b, '.');
  return std::lexicographical_compare_three_way(a_parts.begin(), a_parts.end(), b_parts.begin(),
                                                b_parts.end(), compare_identifiers);
}

// A version whose minor and patch numbers may be missing; `out_parts` receives how many numbers
// there are.
Result<Version> parse_parts(std::string_view text, int& out_parts) {
  constexpr size_t kLongest = 128;
  if (text.empty()) return invalid(text, "it is empty");
  if (text.size() > kLongest) return invalid(text, "it is too long");
  Version version;
  std::string_view rest = text;
  if (const size_t plus = rest.find('+'); plus != std::string_view::npos) {
    version.build = rest.substr(plus + 1);
    if (!is_identifier_list(version.build)) return invalid(text, "the part after '+' is malformed");
    rest = rest.substr(0, plus);
  }
  if (const size_t minus = rest.find('-'); minus != std::string_view::npos) {
    version.prerelease = rest.substr(minus + 1);
    if (!is_identifier_list(version.prerelease)) {
      return invalid(text, "the part after '-' is malformed");
    }
    rest = rest.substr(0, minus);
  }
  const std::vector<std::string_view> numbers = split(rest, '.');
  if (numbers.size() > 3) return invalid(text, "it has more than three numbers");
  const std::array<uint32_t*, 3> targets{&version.major, &version.minor, &version.patch};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<uint32_t> number = parse_number(numbers[i]);
    if (!number) return invalid(text, quote(numbers[i]) + " is not a valid version number");
    *targets[i] = *number;
  }
  out_parts = static_cast<int>(numbers.size());
  if (out_parts < 3 && (!version.prerelease.empty() || !version.build.empty())) {
    return invalid(text, "a pre-release or build suffix needs all three numbers");
  }
  return version;
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  int parts = 0;
  EPHOST_ASSIGN_OR_RETURN(Version version, parse_parts(text, parts));
  if (parts < 3) return invalid(text, "it has fewer than three numbers");
  return version;
}

std::string Version::to_string() const {
  std::string text = formatted("{}.{}.{}", major, minor, patch);
  if (!prerelease.empty()) text += "-" + prerelease;
  if (!build.empty()) text += "+" + build;
  return text;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  const std::strong_ordering numbers =
      std::tie(a.major, a.minor, a.patch) <=> std::tie(b.major, b.minor, b.patch);
  return std::is_neq(numbers) ? numbers : compare_prereleases(a.prerelease, b.prerelease);
}

Result<VersionRange::Comparator> VersionRange::parse_comparator(std::string_view text) {
  // Two-character operators come first, since each begins with a shorter one.
  static constexpr std::array<std::pair<std::string_view, Operator>, 6> kOperators{{
      {">=", Operator::kGreaterEqual},
      {"<=", Operator::kLessEqual},
      {"==", Operator::kEqual},
      {">", Operator::kGreater},
      {"<", Operator::kLess},
      {"=", Operator::kEqual},
  }};
  Comparator comparator;
  for (const auto& [prefix, op] : kOperators) {
    if (!text.starts_with(prefix)) continue;
    comparator.op = op;
    text = trim(text.substr(prefix.size()));
    break;
  }
  EPHOST_ASSIGN_OR_RETURN(comparator.version, parse_parts(text, comparator.parts));
  return comparator;
}

Result<VersionRange> VersionRange::parse(std::string_view text) {
  VersionRange range;
  range.text_ = trim(text);
  for (const std::string_view part : split(range.text_, ',')) {
    Result<Comparator> comparator = parse_comparator(trim(part));
    if (!comparator.ok()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("{} is not a version range: {}; a range is a list like \">=1.2, <2\"",
                              quote(text), comparator.status().message()));
    }
    range.comparators_.push_back(std::move(*comparator));
  }
  return range;
}

bool VersionRange::admits(const Comparator& comparator, const Version& version) {
  const Version& bound = comparator.version;
  std::strong_ordering order = version <=> bound;
  if (comparator.parts == 1) order = version.major <=> bound.major;
  if (comparator.parts == 2) {
    order = std::tie(version.major, version.minor) <=> std::tie(bound.major, bound.minor);
  }
  switch (comparator.op) {
    case Operator::kGreaterEqual:
      return std::is_gteq(order);
    case Operator::kGreater:
      return std::is_gt(order);
    case Operator::kLessEqual:
      return std::is_lteq(order);
    case Operator::kLess:
      return std::is_lt(order);
    case Operator::kEqual:
      break;
  }
  return std::is_eq(order);
}

bool VersionRange::contains(const Version& version) const {
  return std::all_of(comparators_.begin(), comparators_.end(),
                     [&](const Comparator& comparator) { return admits(comparator, version); });
}

}  // namespace ephost::manifest
