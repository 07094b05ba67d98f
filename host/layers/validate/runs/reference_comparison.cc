#include "host/layers/validate/runs/reference_comparison.h"

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/values/compare.h"
#include "host/layers/decorate/host_object.h"
#include "host/layers/validate/runs/result_comparison.h"

namespace ephost::layers {
namespace {

// What both types have in common is that of `expected`.
ValueView view_of(const eph_value& value, std::span<const std::byte> bytes,
                  const ValueView& expected) {
  ValueView view;
  view.kind = ValueKind::kTensor;
  view.type = static_cast<ElementType>(value.element_type);
  view.type_name = view.type == expected.type ? expected.type_name : "of another type";
  view.bits = expected.bits;
  view.shape.assign(value.shape, value.shape + value.rank);
  view.count = 1;
  for (const int64_t extent : view.shape) view.count *= static_cast<uint64_t>(extent);
  view.bytes = bytes;
  return view;
}

}  // namespace

Result<std::shared_ptr<Reference>> reference_of(const eph_graph& graph, const MakeReference& make) {
  eph_error ignored = {&kIgnoresMessages};
  eph_bytes onnx = {};
  const int32_t code = graph.api->get_onnx(&graph, 0, &onnx, &ignored);
  if (code != EPH_OK) {
    return Status(StatusCode::kFail, formatted("its graph has no ONNX bytes (code {})", code));
  }
  return make({static_cast<const std::byte*>(onnx.data), static_cast<size_t>(onnx.size)});
}

std::optional<Finding> difference_from(Reference& reference, const eph_run& inner,
                                       const GuardedRun& run) {
  const auto expected = reference.run({inner.inputs, inner.input_count});
  if (!expected.ok() || expected->size() != inner.output_count) return std::nullopt;
  for (uint32_t i = 0; i < inner.output_count; ++i) {
    const eph_value* const output = inner.outputs[i];
    const ValueView& wanted = (*expected)[i].value;
    if (output == nullptr || wanted.kind != ValueKind::kTensor) continue;
    const auto difference = find_difference(view_of(*output, run.result(i), wanted), wanted,
                                            tolerance_of(output->element_type));
    if (!difference) continue;
    return Finding{25,
                   formatted("gives another result than the CPU provider in output {} ({}): {}", i,
                             quote((*expected)[i].name), *difference),
                   "compare what it computes with the definitions of its operators"};
  }
  return std::nullopt;
}

}  // namespace ephost::layers
