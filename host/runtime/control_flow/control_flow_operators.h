// The operators behind control_flow.h and what they share. Used inside host/runtime only.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/control_flow/body_runner.h"
#include "host/runtime/control_flow/control_flow.h"
#include "host/runtime/host_operator.h"
#include "host/runtime/host_step.h"
#include "host/runtime/program.h"
#include "host/runtime/values/held_value.h"

namespace ephost::runtime {

// A node and the programs of its bodies, for the creation of its operator. Failures name the node.
class ControlFlowNode {
 public:
  ControlFlowNode(const graph::Graph& graph, graph::NodeId node, std::vector<BodyProgram> bodies)
      : graph_(graph), id_(node), bodies_(std::move(bodies)) {}

  [[nodiscard]] const graph::Node& node() const { return graph_.nodes[id_]; }
  // INVALID_GRAPH if the node has no such body.
  [[nodiscard]] Result<std::unique_ptr<Program>> take_body(std::string_view attribute);
  // The attribute's list, or `count` times `otherwise` if the node has none. INVALID_GRAPH for
  // another length.
  [[nodiscard]] Result<std::vector<int64_t>> list(std::string_view attribute, size_t count,
                                                  int64_t otherwise) const;
  [[nodiscard]] Status invalid(const std::string& what) const;
  // INVALID_GRAPH unless the body can run with that many inputs, because all others have defaults.
  [[nodiscard]] Status check_inputs(const graph::Graph& body, size_t count) const;
  // INVALID_GRAPH if the body has fewer outputs than `least`, or the node has more outputs than the
  // body has after its first `own`.
  [[nodiscard]] Status check_outputs(const graph::Graph& body, size_t least, size_t own) const;

 private:
  const graph::Graph& graph_;
  graph::NodeId id_;
  std::vector<BodyProgram> bodies_;
};

[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_if(ControlFlowNode node);
[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_loop(ControlFlowNode node);
[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_scan(ControlFlowNode node);
[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_sequence_map(ControlFlowNode node);

// The only element of a tensor of any rank. INVALID_ARGUMENT for another type or number of
// elements; `what` and the step name the tensor in the message.
[[nodiscard]] Result<bool> read_bool(const eph_value& value, std::string_view what,
                                     const HostStep& step);
[[nodiscard]] Result<int64_t> read_int64(const eph_value& value, std::string_view what,
                                         const HostStep& step);

// INVALID_ARGUMENT if a required input is left out.
[[nodiscard]] Result<const eph_value*> required_input(const HostStep& step, size_t index);

// Replaces the loop-carried values by the outputs of the last run, from `first_output` on; their
// old memory is reused.
void carry_on(BodyRunner& body, size_t first_output, std::span<HeldValue> carried);

// The stated type of the elements of a stacked output, which the body gives as `body_output`. If
// the body leaves the element type open, that of the enclosing graph is used.
[[nodiscard]] graph::ValueType declared_element(const graph::Graph& body, size_t body_output,
                                                const HostStep& step, size_t output);

// "... (while running iteration 3 of Loop node 'x')"
[[nodiscard]] Status in_iteration(Status status, int64_t iteration, const HostStep& step);

}  // namespace ephost::runtime
