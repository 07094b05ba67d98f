// Functions: model-local ones, and the operators that the linked onnx defines by other operators.
// Gives the body of a call as a graph; putting it in the place of the call is the caller's
// (optimize/function_inlining.h).
#pragma once

#include <cstdint>
#include <memory>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

class FunctionLibrary {
 public:
  // Parses the functions of a model. INVALID_PROTOBUF for one that does not parse; INVALID_GRAPH if
  // they call each other in a circle.
  [[nodiscard]] static Result<FunctionLibrary> create(const graph::Model& model);
  FunctionLibrary(FunctionLibrary&&) noexcept;
  FunctionLibrary& operator=(FunctionLibrary&&) noexcept;
  ~FunctionLibrary();

  [[nodiscard]] bool has_local_functions() const;
  // Whether the node calls a function of the model.
  [[nodiscard]] bool is_local(const graph::Node& node) const;
  // Whether it does so under the name of an operator of ONNX. A provider would take that operator
  // for what is meant.
  [[nodiscard]] bool overrides_operator(const graph::Node& node) const;
  // Whether it calls a function of the model, or its operator has a body of its own. Some of these
  // depend on types, and may turn out to have none.
  [[nodiscard]] bool may_have_body(const graph::Node& node) const;
  // Nodes that a call of a model-local function comes to when all model-local functions in it are
  // inlined; saturates.
  [[nodiscard]] uint64_t expanded_size(const graph::Node& node) const;

  // Bytes of a model-local function as the model states it; 0 for other nodes.
  [[nodiscard]] uint64_t stated_bytes(const graph::Node& node) const;

  // The body of a call in a graph of `model`. Its nodes are checked against the opsets that the
  // function imports, and are connected and sorted. NOT_FOUND if there is none for a node with
  // these inputs; INVALID_GRAPH with the reason if the function or the call makes no sense.
  [[nodiscard]] Result<graph::FunctionBody> body_of(const graph::Model& model,
                                                    const graph::Graph& graph,
                                                    graph::NodeId node) const;

 private:
  struct Functions;
  explicit FunctionLibrary(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

}  // namespace ephost::onnx_io
