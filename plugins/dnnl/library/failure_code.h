// The ABI code of a failure of the library.
#pragma once

#include <ephost/plugin_abi.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace ephost_dnnl {

[[nodiscard]] inline int32_t failure_code(const dnnl::error& error) {
  return error.status == dnnl_out_of_memory ? int32_t{EPH_OUT_OF_MEMORY} : int32_t{EPH_EP_FAIL};
}

}  // namespace ephost_dnnl
