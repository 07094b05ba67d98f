#include "host/conformance/kit/rules.h"

#include <array>
#include <cstddef>

namespace ephost::conformance {
namespace {

constexpr std::string_view kTitles[] = {
#include "rule_titles.inc"
};

}  // namespace

std::string_view rule_title(int rule) {
  const auto index = static_cast<size_t>(rule) - 1;
  return rule < 1 || index >= std::size(kTitles) ? std::string_view() : kTitles[index];
}

}  // namespace ephost::conformance
