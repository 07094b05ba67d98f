#include "host/onnx_io/overrides/initializers.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::onnx_io {
namespace {

graph::ValueType tensor_type(graph::ElementType element, graph::Shape shape) {
  return {.kind = graph::ValueKind::kTensor, .element = element, .shape = std::move(shape)};
}

bool admits(const graph::Shape& declared, const graph::Shape& found) {
  if (declared.size() != found.size()) return false;
  for (size_t d = 0; d < found.size(); ++d) {
    if (graph::is_static_dim(declared[d]) && declared[d] != found[d]) return false;
  }
  return true;
}

std::vector<std::string_view> initializer_names(const onnx::GraphProto& graph) {
  std::vector<std::string_view> names;
  for (const onnx::TensorProto& initializer : graph.initializer()) {
    names.emplace_back(initializer.name());
  }
  for (const onnx::SparseTensorProto& initializer : graph.sparse_initializer()) {
    names.emplace_back(initializer.values().name());
  }
  return names;
}

}  // namespace

Result<const graph::Tensor*> InitializerReplacement::find(const std::string& name,
                                                          graph::ElementType type,
                                                          graph::Shape shape, bool is_external) {
  const auto found = given_.find(name);
  if (found == given_.end()) return nullptr;
  const graph::Tensor& tensor = found->second.tensor;
  if (tensor.type != type || tensor.shape != shape) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("initializer {} is given as {}, but the model's is {}; give a tensor "
                  "of its type and shape",
                  quote(name), graph::to_string(tensor_type(tensor.type, tensor.shape), {}),
                  graph::to_string(tensor_type(type, std::move(shape)), {})));
  }
  if (found->second.replaces_external && !is_external) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("initializer {} is given as an external one, but its data is inside the "
                  "model; use add_initializer to replace it",
                  quote(name)));
  }
  return &used_.emplace(name, tensor).first->second;
}

Result<const graph::Tensor*> InitializerReplacement::find(const onnx::TensorProto& initializer) {
  return find(initializer.name(), static_cast<graph::ElementType>(initializer.data_type()),
              {initializer.dims().begin(), initializer.dims().end()},
              initializer.data_location() == onnx::TensorProto::EXTERNAL);
}

Result<const graph::Tensor*> InitializerReplacement::find(
    const onnx::SparseTensorProto& initializer) {
  const onnx::TensorProto& values = initializer.values();
  return find(values.name(), static_cast<graph::ElementType>(values.data_type()),
              {initializer.dims().begin(), initializer.dims().end()},
              values.data_location() == onnx::TensorProto::EXTERNAL);
}

Status InitializerReplacement::finish(const onnx::GraphProto& graph,
                                      std::vector<std::string>& without_effect) const {
  if (used_.size() == given_.size()) return Status::ok_status();
  const std::vector<std::string_view> names = initializer_names(graph);
  for (const auto& [name, given] : given_) {
    if (used_.contains(name)) continue;
    std::string message = formatted("the model has no initializer {}", quote(name));
    const std::string remedy = given.replaces_external ? "" : ", so the one given has no effect";
    message += remedy;
    if (const auto nearest = nearest_match(name, names)) {
      message += formatted("; did you mean {}?", quote(*nearest));
    }
    if (given.replaces_external) return Status(StatusCode::kInvalidArgument, message);
    without_effect.push_back(std::move(message));
  }
  return Status::ok_status();
}

Status check_declared(const graph::Value& value, const graph::Tensor& tensor, bool is_default,
                      std::span<const std::string> symbols) {
  const graph::ValueType& declared = value.type;
  if (declared.kind == graph::ValueKind::kUnknown) return Status::ok_status();
  const bool is_open = declared.element == graph::ElementType::kUndefined;
  const bool agrees =
      declared.kind == graph::ValueKind::kTensor && (is_open || declared.element == tensor.type);
  if (!agrees) {
    return Status(
        StatusCode::kInvalidGraph,
        formatted("initializer {} is a tensor of {}, but is declared as {}", quote(value.name),
                  graph::element_type_name(tensor.type), graph::to_string(declared, symbols)));
  }
  if (!is_default || !declared.shape || admits(*declared.shape, tensor.shape)) {
    return Status::ok_status();
  }
  return Status(StatusCode::kInvalidGraph,
                formatted("initializer {} is {}, but is declared as {}", quote(value.name),
                          graph::to_string(tensor_type(tensor.type, tensor.shape), {}),
                          graph::to_string(declared, symbols)));
}

}  // namespace ephost::onnx_io
