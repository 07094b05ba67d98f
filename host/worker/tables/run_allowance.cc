#include "host/worker/tables/run_allowance.h"

#include <ephost/plugin_abi.h>

#include <string>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/memory/system_memory.h"

namespace ephost::worker {
namespace {

// At most; what is unknown is refused by others.
uint64_t element_bytes(int32_t type) {
  switch (type) {
    case EPH_ELEMENT_STRING:
      return sizeof(eph_string) + sizeof(std::string);
    case EPH_ELEMENT_COMPLEX128:
      return 16;
    case EPH_ELEMENT_INT64:
    case EPH_ELEMENT_UINT64:
    case EPH_ELEMENT_DOUBLE:
    case EPH_ELEMENT_COMPLEX64:
      return 8;
    case EPH_ELEMENT_FLOAT:
    case EPH_ELEMENT_INT32:
    case EPH_ELEMENT_UINT32:
      return 4;
    case EPH_ELEMENT_FLOAT16:
    case EPH_ELEMENT_BFLOAT16:
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
      return 2;
    default:
      return 1;
  }
}

uint64_t tensor_bytes(int32_t type, std::span<const int64_t> shape) {
  const auto count = checked_product(shape);
  if (!count) return 0;
  return checked_mul(static_cast<uint64_t>(*count), element_bytes(type)).value_or(UINT64_MAX);
}

}  // namespace

Status RunAllowance::take(uint64_t bytes) {
  if (limit_ == 0) limit_ = half_of_physical_memory();
  if (bytes <= limit_ && used_ <= limit_ - bytes) {
    used_ += bytes;
    return {};
  }
  return Status(StatusCode::kOutOfMemory,
                formatted("a call in a worker may take {} bytes for outputs and values whose sizes "
                          "are not known before (session.isolation.memory, or half of the memory "
                          "of this machine), and has {} bytes when it asks for {} more",
                          limit_, used_, bytes));
}

Status RunAllowance::take_output(uint32_t output, int32_t element_type,
                                 std::span<const int64_t> shape) {
  uint64_t& before = outputs_[output];
  used_ -= before;
  before = 0;
  const uint64_t bytes = tensor_bytes(element_type, shape);
  EPHOST_RETURN_IF_ERROR(take(bytes));
  before = bytes;
  return {};
}

Status RunAllowance::take_tensor(int32_t element_type, std::span<const int64_t> shape) {
  return take(tensor_bytes(element_type, shape));
}

}  // namespace ephost::worker
