// Conversion of sparse constants to the dense form with which the host and its kernels compute.
#pragma once

#include <ephost/status.h>

#include <string>

#include "host/graph/types.h"

namespace ephost::graph {

// Returns the same values in dense form. `what` names the tensor in messages. Returns INVALID_GRAPH
// if indices are out of range or the dense form would exceed 1 GiB.
[[nodiscard]] Result<Tensor> densify(const SparseTensor& sparse, const std::string& what);

}  // namespace ephost::graph
