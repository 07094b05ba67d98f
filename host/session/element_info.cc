#include <ephost/element_info.h>

#include "host/graph/types.h"

namespace ephost {

std::string_view element_type_name(ElementType type) { return graph::element_type_name(type); }

uint32_t element_bits(ElementType type) { return graph::element_bits(type); }

std::optional<uint64_t> tensor_bytes(ElementType type, std::span<const int64_t> shape) {
  return graph::byte_size(type, shape);
}

}  // namespace ephost
