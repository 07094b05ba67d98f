// Versions of plugins, and the version ranges that a selection asks for. Format and precedence
// follow Semantic Versioning 2.0.0.
//
// This is our own because Debian has no C++ library for it, and the ranges of the packages that
// other ecosystems use differ from the rule of SCHEMA.md.
#pragma once

#include <ephost/status.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::manifest {

// Compares by precedence: a pre-release is lower than its release; build metadata is ignored.
struct Version {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;
  std::string prerelease;  // without '-', e.g. "rc.1"
  std::string build;       // without '+'

  // Parses "major.minor.patch[-prerelease][+build]". INVALID_ARGUMENT says what is wrong with the
  // text.
  static Result<Version> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return std::is_eq(a <=> b); }
};

// A conjunction of comparators: ">=1.2, <2". A comparator is one of >=, >, <=, <, = followed by a
// version whose minor and patch numbers may be omitted. Only the stated numbers are compared, so
// that "<=1.2" admits 1.2.7 and "<2" refuses 2.0.0-rc.1. A version without an operator means "=".
class VersionRange {
 public:
  // Admits every version.
  VersionRange() = default;

  static Result<VersionRange> parse(std::string_view text);

  [[nodiscard]] bool contains(const Version& version) const;
  // The text as written; empty if the range admits every version.
  [[nodiscard]] const std::string& to_string() const { return text_; }

 private:
  enum class Operator { kGreaterEqual, kGreater, kLessEqual, kLess, kEqual };
  struct Comparator {
    Operator op = Operator::kEqual;
    Version version;
    int parts = 3;  // how many of major, minor and patch are stated
  };
  static Result<Comparator> parse_comparator(std::string_view text);
  static bool admits(const Comparator& comparator, const Version& version);

  std::vector<Comparator> comparators_;
  std::string text_;
};

}  // namespace ephost::manifest
