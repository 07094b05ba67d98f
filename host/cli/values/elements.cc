#include "host/cli/values/elements.h"

#include <ephost/element_info.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/base/format.h"

namespace ephost::cli {

ValueView view_of(const Value& value) {
  ValueView view =
      make_view(value, element_type_name(value.element_type()), element_bits(value.element_type()));
  for (const Value& part : value.parts()) view.parts.push_back(view_of(part));
  return view;
}

Summary summarize(const Value& value) {
  const Elements elements(value);
  Summary summary;
  const bool has_numbers =
      value.kind() == ValueKind::kTensor && value.element_type() != ElementType::kString;
  if (!has_numbers) return summary;
  double sum = 0;
  for (uint64_t i = 0; i < elements.count(); ++i) {
    const double number = elements.number(i);
    if (std::isnan(number)) {
      ++summary.nans;
      continue;
    }
    summary.min = summary.numbers == 0 ? number : std::min(summary.min, number);
    summary.max = summary.numbers == 0 ? number : std::max(summary.max, number);
    sum += number;
    ++summary.numbers;
  }
  if (summary.numbers > 0) summary.mean = sum / static_cast<double>(summary.numbers);
  return summary;
}

std::string first_elements(const Value& value, uint64_t limit) {
  if (value.kind() != ValueKind::kTensor) {
    const std::vector<Value> parts = value.parts();
    std::string text;
    for (const Value& part : std::span(parts).first(std::min<size_t>(limit, parts.size()))) {
      text += formatted("{}[{}]", text.empty() ? "" : ", ", first_elements(part, limit));
    }
    return parts.size() > limit ? text + ", ..." : text;
  }
  const Elements elements(value);
  std::string text;
  for (uint64_t i = 0; i < std::min(limit, elements.count()); ++i) {
    if (i > 0) text += ", ";
    text += elements.text(i);
  }
  if (elements.count() > limit) text += ", ...";
  return text;
}

}  // namespace ephost::cli
