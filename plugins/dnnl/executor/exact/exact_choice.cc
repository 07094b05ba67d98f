#include "plugins/dnnl/executor/exact/exact_choice.h"

#include <vector>

#include "plugins/dnnl/executor/exact/exact_kernels.h"

namespace ephost_dnnl {
namespace {

bool reads_integers(const PrimitiveRequest& request) {
  return is_integer(type_of(request.inputs[0].layout));
}

}  // namespace

PrimitiveChoice choose_exactly(const PrimitiveRequest& request, const dnnl::engine& engine) {
  PrimitiveChoice choice;
  if (!reads_integers(request)) {
    std::vector<Dims> dims;
    for (const Operand& input : request.inputs) dims.push_back(input.dims);
    choice.own = make_exact_kernel(*request.op, dims, request.output_dims);
  }
  if (choice.own == nullptr) {
    PrimitiveRequest plain = request;
    plain.has_plain_layouts = true;
    return choose_primitive(plain, engine);
  }
  const bool is_eltwise = get_if<Eltwise>(*request.op) != nullptr;
  choice.output = is_eltwise ? without_blocks(request.inputs[0]) : row_major(request.output_dims);
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    choice.inputs.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), false, i,
                             is_eltwise ? choice.output : row_major(request.inputs[i].dims)});
  }
  return choice;
}

}  // namespace ephost_dnnl
