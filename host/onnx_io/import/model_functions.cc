#include "host/onnx_io/import/model_functions.h"

#include <onnx/defs/schema.h>

#include <exception>
#include <utility>

#include "host/base/format.h"
#include "host/onnx_io/import/function_body.h"
#include "host/onnx_io/import/function_table.h"
#include "host/onnx_io/opsets/operator_schemas.h"

namespace ephost::onnx_io {

using graph::FunctionBody;
using graph::Graph;
using graph::Node;
using graph::NodeId;

struct FunctionLibrary::Functions {
  FunctionTable by_name;
  FunctionNames names;
};

FunctionLibrary::FunctionLibrary(std::unique_ptr<Functions> functions)
    : functions_(std::move(functions)) {}
FunctionLibrary::FunctionLibrary(FunctionLibrary&&) noexcept = default;
FunctionLibrary& FunctionLibrary::operator=(FunctionLibrary&&) noexcept = default;
FunctionLibrary::~FunctionLibrary() = default;

Result<FunctionLibrary> FunctionLibrary::create(const graph::Model& model) {
  auto functions = std::make_unique<Functions>();
  EPHOST_ASSIGN_OR_RETURN(functions->by_name, parse_functions(model));
  for (const auto& [name, function] : functions->by_name) functions->names.insert(name);
  return FunctionLibrary(std::move(functions));
}

bool FunctionLibrary::has_local_functions() const { return !functions_->by_name.empty(); }

bool FunctionLibrary::is_local(const Node& node) const {
  return has_local_functions() && functions_->by_name.contains(callee_of(node));
}

bool FunctionLibrary::overrides_operator(const Node& node) const {
  return is_local(node) && find_schema(node.domain, node.op_type, node.since_version) != nullptr;
}

bool FunctionLibrary::may_have_body(const Node& node) const {
  if (is_local(node)) return true;
  const onnx::OpSchema* schema = find_schema(node.domain, node.op_type, node.since_version);
  return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction());
}

uint64_t FunctionLibrary::expanded_size(const Node& node) const {
  const auto local = functions_->by_name.find(callee_of(node));
  return local == functions_->by_name.end() ? 0 : local->second.expanded_size;
}

uint64_t FunctionLibrary::stated_bytes(const Node& node) const {
  const auto local = functions_->by_name.find(callee_of(node));
  return local == functions_->by_name.end() ? 0 : local->second.stated_bytes;
}

Result<FunctionBody> FunctionLibrary::body_of(const graph::Model& model, const Graph& graph,
                                              NodeId node) const {
  const auto in_place = [&](const Status& status) {
    if (status.code() == StatusCode::kNotFound) return status;
    return Status(status.code(), formatted("inlining {}: {}", graph::describe_node(graph, node),
                                           status.message()));
  };
  try {
    Result<FunctionBody> body =
        import_function_body(functions_->by_name, functions_->names, model, graph, node);
    if (!body.ok()) return in_place(body.status());
    return body;
  } catch (const std::exception& failure) {
    // onnx throws an exception if it cannot build a body for the node's attributes.
    return in_place({StatusCode::kInvalidGraph, failure.what()});
  }
}

}  // namespace ephost::onnx_io
