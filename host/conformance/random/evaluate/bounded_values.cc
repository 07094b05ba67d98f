#include "host/conformance/random/evaluate/bounded_values.h"

#include <algorithm>
#include <span>
#include <sstream>

namespace ephost::conformance {
namespace {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  }
  return text + "]";
}

}  // namespace

std::optional<std::string> find_wrong_element(const Value& result, const BoundedTensor& expected) {
  if (!std::ranges::equal(result.shape(), expected.dims)) {
    return "shape " + shape_text(result.shape()) + ", expected " + shape_text(expected.dims);
  }
  const std::span<const float> numbers = result.elements<float>();
  if (numbers.size() != expected.numbers.size()) return "not a float tensor";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Bounded& wanted = expected.numbers[i];
    if (wanted.allows(numbers[i])) continue;
    std::ostringstream text;
    text.precision(9);
    text << "element " << i << " of " << shape_text(expected.dims) << " is " << numbers[i]
         << ", expected " << wanted.value << " within " << wanted.error;
    return text.str();
  }
  return std::nullopt;
}

Value to_value(const BoundedTensor& tensor) {
  Value value = Value::allocate(ElementType::kFloat, tensor.dims).value();
  const std::span<float> numbers = value.mutable_elements<float>();
  std::transform(tensor.numbers.begin(), tensor.numbers.end(), numbers.begin(),
                 [](const Bounded& x) { return static_cast<float>(x.value); });
  return value;
}

}  // namespace ephost::conformance
