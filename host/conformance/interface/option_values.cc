#include "host/conformance/interface/option_values.h"

namespace ephost::conformance {

using manifest::OptionSpec;
using manifest::OptionType;

std::vector<std::string> values_to_try(const OptionSpec& option) {
  std::vector<std::string> values = {manifest::to_text(option.default_value)};
  switch (option.type) {
    case OptionType::kEnum:
      return option.choices;
    case OptionType::kBool:
      return {"true", "false"};
    case OptionType::kInt:
    case OptionType::kFloat:
      if (option.range) {
        values.push_back(manifest::to_text(option.range->first));
        values.push_back(manifest::to_text(option.range->second));
      }
      return values;
    case OptionType::kString:
      values.insert(values.end(), {"", "\u00e9", std::string(1000, 'x')});
      return values;
  }
  return values;
}

}  // namespace ephost::conformance
