#include "host/bridge/abi_options.h"

#include <cstdint>
#include <type_traits>
#include <variant>

#include "host/bridge/abi_text.h"

namespace ephost::bridge {
namespace {

eph_option convert(const manifest::TypedOption& option) {
  eph_option converted = {};
  converted.name = to_abi(option.name);
  converted.string_value = to_abi(option.text);
  const auto set = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, int64_t>) {
      converted.kind = EPH_OPTION_INT;
      converted.int_value = value;
    } else if constexpr (std::is_same_v<T, double>) {
      converted.kind = EPH_OPTION_FLOAT;
      converted.float_value = value;
    } else if constexpr (std::is_same_v<T, bool>) {
      converted.kind = EPH_OPTION_BOOL;
      converted.int_value = value ? 1 : 0;
    }
  };
  std::visit(set, option.value);
  return converted;
}

}  // namespace

std::vector<eph_option> to_abi(std::span<const manifest::TypedOption> options) {
  std::vector<eph_option> converted;
  for (const manifest::TypedOption& option : options) converted.push_back(convert(option));
  return converted;
}

}  // namespace ephost::bridge
