#include "host/layers/validate/runs/result_comparison.h"

#include <ephost/element_type.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cmath>

#include "host/base/values/compare.h"
#include "host/base/values/elements.h"

namespace ephost::layers {
namespace {

uint32_t element_bits(int32_t element_type) {
  switch (element_type) {
    case EPH_ELEMENT_FLOAT4E2M1:
      return 4;
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
    case EPH_ELEMENT_FLOAT16:
    case EPH_ELEMENT_BFLOAT16:
      return 16;
    case EPH_ELEMENT_INT32:
    case EPH_ELEMENT_UINT32:
    case EPH_ELEMENT_FLOAT:
      return 32;
    case EPH_ELEMENT_INT64:
    case EPH_ELEMENT_UINT64:
    case EPH_ELEMENT_DOUBLE:
    case EPH_ELEMENT_COMPLEX64:
      return 64;
    case EPH_ELEMENT_COMPLEX128:
      return 128;
    default:  // integers of less than a byte are compared byte by byte
      return 8;
  }
}

TensorElements elements_of(std::span<const std::byte> bytes, int32_t element_type) {
  ValueView view;
  view.kind = ValueKind::kTensor;
  view.type = static_cast<ElementType>(element_type);
  view.bits = element_bits(element_type);
  view.count = bytes.size() * 8 / view.bits;
  view.bytes = bytes;
  return TensorElements(std::move(view));
}

}  // namespace

// Two units in the last place, where a type has fewer digits than the tolerance of the others.
Tolerance tolerance_of(int32_t element_type) {
  const auto of_digits = [](int bits) {
    const double two_units = std::ldexp(2.0, -bits);
    return Tolerance{.relative = two_units, .absolute = two_units / 100};
  };
  switch (element_type) {
    case EPH_ELEMENT_FLOAT16:
      return of_digits(10);
    case EPH_ELEMENT_BFLOAT16:
      return of_digits(7);
    case EPH_ELEMENT_FLOAT8E4M3FN:
    case EPH_ELEMENT_FLOAT8E4M3FNUZ:
      return of_digits(3);
    case EPH_ELEMENT_FLOAT8E5M2:
    case EPH_ELEMENT_FLOAT8E5M2FNUZ:
      return of_digits(2);
    case EPH_ELEMENT_FLOAT8E8M0:
      return of_digits(1);
    case EPH_ELEMENT_FLOAT4E2M1:  // its smallest number is 0.5
      return {.relative = 1, .absolute = 0.5};
    default:
      return {};
  }
}

std::optional<uint64_t> first_difference(std::span<const std::byte> actual,
                                         std::span<const std::byte> expected,
                                         int32_t element_type) {
  if (std::ranges::equal(actual, expected)) return std::nullopt;
  if (!is_inexact(static_cast<ElementType>(element_type))) {
    const auto differing = std::mismatch(actual.begin(), actual.end(), expected.begin());
    return static_cast<uint64_t>(differing.first - actual.begin()) * 8 / element_bits(element_type);
  }
  const TensorElements found = elements_of(actual, element_type);
  const TensorElements wanted = elements_of(expected, element_type);
  const Tolerance tolerance = tolerance_of(element_type);
  for (uint64_t i = 0; i < wanted.count(); ++i) {
    if (!agree(found.number(i), wanted.number(i), tolerance)) return i;
  }
  return std::nullopt;
}

}  // namespace ephost::layers
