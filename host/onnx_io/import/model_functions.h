// Functions: model-local ones, and operators that the linked onnx defines by other operators.
// Provides the body of a call as a graph; optimize/function_inlining.h replaces the call by it.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>

#include "host/graph/graph.h"

namespace ephost::onnx_io {

class FunctionLibrary {
 public:
  // Parses the functions of a model. Returns INVALID_PROTOBUF if one does not parse, and
  // INVALID_GRAPH if they call each other recursively.
  [[nodiscard]] static Result<FunctionLibrary> create(const graph::Model& model);
  FunctionLibrary(FunctionLibrary&&) noexcept;
  FunctionLibrary& operator=(FunctionLibrary&&) noexcept;
  ~FunctionLibrary();

  [[nodiscard]] bool has_local_functions() const;
  // Whether the node calls a function of the model.
  [[nodiscard]] bool is_local(const graph::Node& node) const;
  // Whether it does so under the name of an ONNX operator, for which a provider would mistake it.
  [[nodiscard]] bool overrides_operator(const graph::Node& node) const;
  // Whether it calls a function of the model, or its operator has a function body. Some bodies
  // depend on types, and may turn out not to exist.
  [[nodiscard]] bool may_have_body(const graph::Node& node) const;
  // The number of nodes that result from a call of a model-local function when all model-local
  // functions in it are inlined; saturates.
  [[nodiscard]] uint64_t expanded_size(const graph::Node& node) const;

  // The size of a model-local function in the model, in bytes; 0 for other nodes.
  [[nodiscard]] uint64_t stated_bytes(const graph::Node& node) const;

  // Returns the body of a call in a graph of `model`. Its nodes are checked against the opsets that
  // the function imports, and are connected and sorted. Returns NOT_FOUND if there is none for a
  // node with these inputs, and INVALID_GRAPH with the reason if the function or the call is
  // invalid.
  [[nodiscard]] Result<graph::FunctionBody> body_of(const graph::Model& model,
                                                    const graph::Graph& graph,
                                                    graph::NodeId node) const;

 private:
  struct Functions;
  explicit FunctionLibrary(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

}  // namespace ephost::onnx_io
