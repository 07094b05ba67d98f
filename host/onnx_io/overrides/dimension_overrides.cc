#include "host/onnx_io/overrides/dimension_overrides.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::onnx_io {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

Status contradiction(const std::string& input, const Dimension& dim, int64_t found, int64_t size) {
  const std::string what =
      dim.has_dim_param() ? formatted("dimension {}", quote(dim.dim_param())) : "a dimension";
  return {StatusCode::kInvalidArgument,
          formatted("{} of input {} is {}, but the override of its denotation {} makes it {}; "
                    "leave one of them out",
                    what, quote(input), found, quote(dim.denotation()), size)};
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
    if (!input.type().tensor_type().has_shape()) continue;
    onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
    for (Dimension& dim : *type.mutable_shape()->mutable_dim()) {
      if (dim.denotation().empty()) continue;
      const std::string denotation = ascii_lower(dim.denotation());
      resolved.denotations.insert(denotation);
      const auto found = overrides.by_denotation.find(denotation);
      if (found == overrides.by_denotation.end()) continue;
      const int64_t size = found->second;
      if (dim.has_dim_param() && !dim.dim_param().empty()) {
        const int64_t stated = resolved.sizes.emplace(dim.dim_param(), size).first->second;
        if (stated != size) return contradiction(input.name(), dim, stated, size);
      } else if (dim.has_dim_value() && dim.dim_value() >= 0) {
        if (dim.dim_value() != size) {
          return contradiction(input.name(), dim, dim.dim_value(), size);
        }
      } else {
        dim.set_dim_value(size);
      }
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
  return unused;
}

}  // namespace ephost::onnx_io
