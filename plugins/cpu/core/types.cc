#include "plugins/cpu/core/types.h"

namespace ephost_cpu {

int64_t element_size(int32_t element_type) {
  switch (element_type) {
    case EPH_ELEMENT_BOOL:
    case EPH_ELEMENT_INT8:
    case EPH_ELEMENT_UINT8:
    case EPH_ELEMENT_FLOAT8E4M3FN:
    case EPH_ELEMENT_FLOAT8E4M3FNUZ:
    case EPH_ELEMENT_FLOAT8E5M2:
    case EPH_ELEMENT_FLOAT8E5M2FNUZ:
    case EPH_ELEMENT_FLOAT8E8M0:
      return 1;
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
    case EPH_ELEMENT_FLOAT16:
    case EPH_ELEMENT_BFLOAT16:
      return 2;
    case EPH_ELEMENT_FLOAT:
    case EPH_ELEMENT_INT32:
    case EPH_ELEMENT_UINT32:
      return 4;
    case EPH_ELEMENT_DOUBLE:
    case EPH_ELEMENT_INT64:
    case EPH_ELEMENT_UINT64:
    case EPH_ELEMENT_COMPLEX64:
      return 8;
    case EPH_ELEMENT_COMPLEX128:
      return 16;
    case EPH_ELEMENT_STRING:
      return sizeof(eph_string);
    default:
      fail_unsupported("element type " + type_name(element_type) + " is not supported");
  }
}

int64_t storage_size(int32_t element_type, int64_t count) {
  if (is_packed(element_type)) {
    const int64_t per_byte = 8 / packed_bits(element_type);
    return count / per_byte + (count % per_byte != 0 ? 1 : 0);
  }
  return checked_multiply(count, element_size(element_type));
}

bool is_packed(int32_t element_type) {
  return element_type >= 0 && (kPacked & eph::type_bit(element_type)) != 0;
}

int packed_bits(int32_t element_type) {
  return (kTwoBits & eph::type_bit(element_type)) != 0 ? 2 : 4;
}

int32_t unpacked_type(int32_t element_type) {
  const bool is_signed = element_type == EPH_ELEMENT_INT4 || element_type == EPH_ELEMENT_INT2;
  return is_signed ? EPH_ELEMENT_INT8 : EPH_ELEMENT_UINT8;
}

std::string type_name(int32_t element_type) {
  static constexpr const char* kNames[] = {
      "undefined",      "float",    "uint8",        "int8",           "uint16",
      "int16",          "int32",    "int64",        "string",         "bool",
      "float16",        "double",   "uint32",       "uint64",         "complex64",
      "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
      "uint2",          "int2"};
  if (element_type >= 0 && element_type < static_cast<int32_t>(std::size(kNames))) {
    return kNames[element_type];
  }
  return "type " + std::to_string(element_type);
}

}  // namespace ephost_cpu
