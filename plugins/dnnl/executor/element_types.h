// element_types.h: the element types of recipes as the ABI numbers them.
#pragma once

#include <ephost/plugin.hpp>
#include <optional>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

[[nodiscard]] constexpr int32_t to_abi(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return EPH_ELEMENT_FLOAT;
    case ElementType::kU8:
      return EPH_ELEMENT_UINT8;
    case ElementType::kS8:
      return EPH_ELEMENT_INT8;
  }
  return EPH_ELEMENT_UNDEFINED;
}

// Nothing for the types that recipes don't have.
[[nodiscard]] constexpr std::optional<ElementType> from_abi(int32_t type) {
  for (const ElementType known : {ElementType::kF32, ElementType::kU8, ElementType::kS8}) {
    if (to_abi(known) == type) return known;
  }
  return std::nullopt;
}

}  // namespace ephost_dnnl
