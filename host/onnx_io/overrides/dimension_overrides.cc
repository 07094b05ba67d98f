#include "host/onnx_io/overrides/dimension_overrides.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::onnx_io {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

Status contradiction(const std::string& input, const Dimension& dim, int64_t found, int64_t size,
                     const std::string& by) {
  const std::string what =
      dim.has_dim_param() ? formatted("dimension {}", quote(dim.dim_param())) : "a dimension";
  return {StatusCode::kInvalidArgument,
          formatted("{} of input {} is {}, but the override of its {} makes it {}; "
                    "leave one of them out",
                    what, quote(input), found, by, size)};
}

// Gives one dimension of an input its size: in `resolved` if it has a name, else in the dimension
// itself. `by` names the override in messages.
Status resolve(const std::string& input, Dimension& dim, int64_t size, const std::string& by,
               ResolvedDimensions& resolved) {
  if (dim.has_dim_param() && !dim.dim_param().empty()) {
    const int64_t stated = resolved.sizes.emplace(dim.dim_param(), size).first->second;
    return stated == size ? Status() : contradiction(input, dim, stated, size, by);
  }
  if (dim.has_dim_value() && dim.dim_value() >= 0) {
    const int64_t stated = dim.dim_value();
    return stated == size ? Status() : contradiction(input, dim, stated, size, by);
  }
  dim.set_dim_value(size);
  return {};
}

Status resolve_input(onnx::ValueInfoProto& input, const std::vector<int64_t>& sizes,
                     ResolvedDimensions& resolved) {
  const bool has_shape = input.type().tensor_type().has_shape();
  const int rank = has_shape ? input.type().tensor_type().shape().dim_size() : 0;
  if (!has_shape || static_cast<size_t>(rank) != sizes.size()) {
    return {StatusCode::kInvalidArgument,
            formatted("there are {} sizes for input {}, which has {}; give one for each dimension",
                      sizes.size(), quote(input.name()),
                      has_shape ? formatted("{} dimensions", rank) : "no shape")};
  }
  onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int d = 0; d < rank; ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    if (size < 0) continue;
    EPHOST_RETURN_IF_ERROR(resolve(input.name(), *shape.mutable_dim(d), size, "input", resolved));
  }
  return {};
}

std::string without_effect(std::string_view what, const std::string& name,
                           const std::set<std::string>& known) {
  std::string message = formatted("{} {}, so its override has no effect", what, quote(name));
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  if (const auto nearest = nearest_match(name, candidates)) {
    message += formatted("; did you mean {}?", quote(*nearest));
  }
  return message;
}

}  // namespace

Result<ResolvedDimensions> resolve_dimensions(const DimensionOverrides& overrides,
                                              onnx::GraphProto& graph) {
  ResolvedDimensions resolved{.sizes = overrides.by_name};
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    resolved.inputs.insert(input.name());
    const auto sizes = overrides.by_input.find(input.name());
    if (sizes != overrides.by_input.end()) {
      EPHOST_RETURN_IF_ERROR(resolve_input(input, sizes->second, resolved));
    }
    if (!input.type().tensor_type().has_shape()) continue;
    onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
    for (Dimension& dim : *type.mutable_shape()->mutable_dim()) {
      if (dim.denotation().empty()) continue;
      const std::string denotation = ascii_lower(dim.denotation());
      resolved.denotations.insert(denotation);
      const auto found = overrides.by_denotation.find(denotation);
      if (found == overrides.by_denotation.end()) continue;
      EPHOST_RETURN_IF_ERROR(resolve(input.name(), dim, found->second,
                                     "denotation " + quote(dim.denotation()), resolved));
    }
  }
  return resolved;
}

std::vector<std::string> describe_unused(const DimensionOverrides& overrides,
                                         const ResolvedDimensions& resolved,
                                         const std::set<std::string>& names) {
  std::vector<std::string> unused;
  for (const auto& [name, size] : overrides.by_name) {
    if (!names.contains(name))
      unused.push_back(without_effect("the model has no dimension", name, names));
  }
  for (const auto& [denotation, size] : overrides.by_denotation) {
    if (resolved.denotations.contains(denotation)) continue;
    unused.push_back(without_effect("no input of the model has a dimension with the denotation",
                                    denotation, resolved.denotations));
  }
  for (const auto& [input, sizes] : overrides.by_input) {
    if (resolved.inputs.contains(input)) continue;
    unused.push_back(without_effect("the model has no input", input, resolved.inputs));
  }
  return unused;
}

}  // namespace ephost::onnx_io
