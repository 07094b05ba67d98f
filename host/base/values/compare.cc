#include "host/base/values/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/base/format.h"
#include "host/base/values/elements.h"

namespace ephost {
namespace {

bool same_exactly(const ValueView& actual, const ValueView& expected) {
  if (actual.type == ElementType::kString) return actual.strings == expected.strings;
  return std::ranges::equal(actual.bytes, expected.bytes);
}

// The first difference of sequences and maps.
std::optional<std::string> find_different_part(const ValueView& actual, const ValueView& expected,
                                               const Tolerance& tolerance) {
  const std::vector<ValueView>& found = actual.parts;
  const std::vector<ValueView>& wanted = expected.parts;
  if (actual.kind != expected.kind || found.size() != wanted.size()) {
    return formatted("it is {}, expected {}", type_text(actual), type_text(expected));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto difference = find_difference(found[i], wanted[i], tolerance);
    if (!difference) continue;
    if (expected.kind == ValueKind::kMap) {
      return std::string(i == 0 ? "in the keys: " : "in the values: ") + *difference;
    }
    return formatted("in element {}: {}", i, *difference);
  }
  return std::nullopt;
}

}  // namespace

bool agree(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

std::optional<std::string> find_difference(const ValueView& actual, const ValueView& expected,
                                           const Tolerance& tolerance) {
  const bool are_tensors = actual.kind == ValueKind::kTensor && expected.kind == ValueKind::kTensor;
  if (!are_tensors) return find_different_part(actual, expected, tolerance);
  if (actual.type != expected.type || !std::ranges::equal(actual.shape, expected.shape)) {
    return formatted("it is {}, expected {}", type_text(actual), type_text(expected));
  }
  const bool exact = !is_inexact(expected.type);
  if (exact && same_exactly(actual, expected)) return std::nullopt;
  const TensorElements found(actual);
  const TensorElements wanted(expected);
  uint64_t different = 0;
  uint64_t first = 0;
  for (uint64_t i = 0; i < wanted.count(); ++i) {
    const bool same = exact ? found.text(i) == wanted.text(i)
                            : agree(found.number(i), wanted.number(i), tolerance);
    if (same) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return std::nullopt;
  const uint64_t parts = wanted.count() / std::max<uint64_t>(expected.count, 1);
  return formatted("{} of {} number{} differ, the first at {}: {}, expected {}", different,
                   wanted.count(), wanted.count() == 1 ? "" : "s",
                   position_text(expected.shape, first / parts), found.text(first),
                   wanted.text(first));
}

}  // namespace ephost
