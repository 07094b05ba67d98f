#include "plugins/dnnl/executor/primitives/primitive_choice.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "plugins/dnnl/executor/primitives/primitive_attempt.h"
#include "plugins/dnnl/library/defects.h"

namespace ephost_dnnl {
namespace {

// Whether the code of post-ops is generated. That of implementations such as "simple_..." and
// "ncsp_bnorm" is not, nor, with SSE4.1, that of convolutions as matrix products.
bool has_generated_code(const dnnl::primitive_desc_base& descriptor, const Op& op) {
  const std::string_view name = descriptor.impl_info_str();
  if (get_if<Convolution>(op) != nullptr && name.find("gemm") != name.npos &&
      dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::sse41) {
    return false;
  }
  return name.starts_with("brg") || name.find("jit") != name.npos;
}

// Reference code of post-ops has a Relu that turns negative infinity into NaN.
bool is_reference(const dnnl::primitive_desc_base& descriptor, const Op& op) {
  return std::string_view(descriptor.impl_info_str()).starts_with("ref") ||
         (!op.post_ops.empty() && !has_generated_code(descriptor, op));
}

bool all_row_major(const PrimitiveRequest& request) {
  for (const Operand& input : request.inputs) {
    if (!same_layout(input.layout, row_major(input.dims, type_of(input.layout)))) return false;
  }
  return true;
}

// Whether two element-wise post-ops run the same algorithm of the library.
bool repeats_algorithm(const Op& op) {
  std::vector<dnnl::algorithm> algorithms;
  for (const PostOp& post_op : op.post_ops) {
    if (post_op.kind != PostOpKind::kEltwise) continue;
    algorithms.push_back(to_library(post_op.eltwise.function));
  }
  std::sort(algorithms.begin(), algorithms.end());
  return std::adjacent_find(algorithms.begin(), algorithms.end()) != algorithms.end();
}

std::vector<Assumption> assumptions(const PrimitiveRequest& request) {
  std::vector<Assumption> all;
  if (request.preferred_output) all.push_back({true, true});
  all.push_back({true, false});
  if (!all_row_major(request)) all.push_back({false, false});
  return all;
}

// The primitive under an assumption; none, with a reason, where the library has none.
std::optional<PrimitiveChoice> attempt(const PrimitiveRequest& request,
                                       const Assumption& assumption, const dnnl::engine& engine,
                                       std::string& reason) {
  try {
    PrimitiveChoice choice =
        std::visit([&](const auto& op) { return Attempt(request, assumption, engine).make(op); },
                   request.op->parameters);
    choice.is_reference = choice.own == nullptr && is_reference(choice.descriptor, *request.op);
    return choice;
  } catch (const dnnl::error& error) {
    reason = error.what();
  } catch (const NoPrimitive& error) {
    reason = error.what();
  }
  return std::nullopt;
}

}  // namespace

PrimitiveChoice choose_primitive(const PrimitiveRequest& request, const dnnl::engine& engine) {
  if (repeats_algorithm(*request.op) && mixes_up_equal_post_ops()) {
    throw NoPrimitive("oneDNN would compute " + describe(*request.op) +
                      " wrongly: two of its post-ops are the same function");
  }
  std::size_t to_pass_over = request.op->failed_primitives;
  std::vector<PrimitiveChoice> slow;
  std::string reason = "no implementation";
  for (Assumption assumption : assumptions(request)) {
    for (;; ++assumption.implementation) {
      std::optional<PrimitiveChoice> choice = attempt(request, assumption, engine, reason);
      if (!choice) break;
      if (choice->is_reference) {  // the library lists its slow ones last
        slow.push_back(*std::move(choice));
        break;
      }
      if (to_pass_over == 0) return *std::move(choice);
      --to_pass_over;
    }
  }
  if (to_pass_over >= slow.size()) {
    throw NoPrimitive("oneDNN has no primitive for " + describe(*request.op) + ": " + reason);
  }
  return std::move(slow[to_pass_over]);
}

Descriptor without_blocks(const Operand& operand) {
  Dims same_order(operand.dims.size());
  std::iota(same_order.begin(), same_order.end(), 0);
  if (transpose_view(operand.layout, same_order)) return operand.layout;
  return row_major(operand.dims, type_of(operand.layout));
}

PrimitiveRequest plain_request(const Recipe& recipe, const Op& op,
                               const std::vector<bool>& is_constant) {
  const auto operand = [&](TensorId tensor) {
    return Operand{recipe.dims(tensor), row_major(recipe.dims(tensor), recipe.type(tensor)),
                   is_constant[tensor]};
  };
  PrimitiveRequest request;
  request.op = &op;
  for (const TensorId input : op.inputs) request.inputs.push_back(operand(input));
  for (const PostOp& post_op : op.post_ops) {
    request.post_op_operands.push_back(post_op.has_operand() ? operand(post_op.operand)
                                                             : Operand{});
  }
  request.output_dims = recipe.dims(op.output);
  request.output_type = recipe.type(op.output);
  return request;
}

}  // namespace ephost_dnnl
