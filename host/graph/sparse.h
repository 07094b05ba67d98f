// Sparse constants in dense form, in which the host and its kernels compute with them.
#pragma once

#include <ephost/status.h>

#include <string>

#include "host/graph/types.h"

namespace ephost::graph {

// The same values in dense form. `what` names the tensor in messages. INVALID_GRAPH if indices are
// out of range or the dense form would exceed 1 GiB.
[[nodiscard]] Result<Tensor> densify(const SparseTensor& sparse, const std::string& what);

}  // namespace ephost::graph
