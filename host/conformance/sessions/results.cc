#include "host/conformance/sessions/results.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/graph/types.h"

namespace ephost::conformance {
namespace {

bool is_identical(const ValueView& a, const ValueView& b) {
  return a.kind == b.kind && a.type == b.type && a.shape == b.shape &&
         std::ranges::equal(a.bytes, b.bytes) && a.strings == b.strings &&
         std::ranges::equal(a.parts, b.parts, &is_identical);
}

}  // namespace

ValueView view_of(const Value& value) {
  ValueView view = make_view(value, graph::element_type_name(value.element_type()),
                             graph::element_bits(value.element_type()));
  for (const Value& part : value.parts()) view.parts.push_back(view_of(part));
  return view;
}

std::optional<std::string> find_difference(const Values& actual, const Values& expected) {
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const auto difference =
        ephost::find_difference(view_of(actual[i]), view_of(expected[i]), Tolerance());
    if (difference) return formatted("output {}: {}", i, *difference);
  }
  return std::nullopt;
}

bool are_identical(const Values& a, const Values& b) {
  return std::ranges::equal(
      a, b, [](const Value& x, const Value& y) { return is_identical(view_of(x), view_of(y)); });
}

std::optional<std::string> find_wrong(const Sample& sample, size_t set, const Values& outputs,
                                      Session* reference) {
  if (sample.find_wrong) return sample.find_wrong(set, outputs);
  if (reference == nullptr) return std::nullopt;
  const Result<Values> expected = reference->run(sample.inputs[set]);
  if (!expected.ok()) {
    return formatted("the CPU provider fails on the same inputs: {}", expected.status().message());
  }
  return find_difference(outputs, *expected);
}

}  // namespace ephost::conformance
