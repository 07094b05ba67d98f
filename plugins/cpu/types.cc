#include "plugins/cpu/types.h"

namespace cpu {

int64_t element_size(int32_t element_type) {
  switch (element_type) {
    case EPH_BOOL:
    case EPH_INT8:
    case EPH_UINT8:
      return 1;
    case EPH_INT16:
    case EPH_UINT16:
    case EPH_FLOAT16:
    case EPH_BFLOAT16:
      return 2;
    case EPH_FLOAT:
    case EPH_INT32:
    case EPH_UINT32:
      return 4;
    case EPH_DOUBLE:
    case EPH_INT64:
    case EPH_UINT64:
    case EPH_COMPLEX64:
      return 8;
    case EPH_COMPLEX128:
      return 16;
    case EPH_STRING_ELEMENT:
      return sizeof(eph_string);
    default:
      fail_unsupported("element type " + type_name(element_type) + " is not supported");
  }
}

std::string type_name(int32_t element_type) {
  static constexpr const char* kNames[] = {"undefined",  "float",   "uint8",  "int8",   "uint16",
                                           "int16",      "int32",   "int64",  "string", "bool",
                                           "float16",    "double",  "uint32", "uint64", "complex64",
                                           "complex128", "bfloat16"};
  if (element_type >= 0 && element_type < static_cast<int32_t>(std::size(kNames))) {
    return kNames[element_type];
  }
  return "type " + std::to_string(element_type);
}

}  // namespace cpu
