// If, Loop, Scan and SequenceMap of all opsets as the host runs them. Each body is a program of its
// own; one that reads values of the graphs around it gets them from the frame that runs the step.
//
// What is copied: the first value of a loop-carried variable never; a body's output only where the
// enclosing graph has planned a place for it or someone else holds it (one copy when the step
// ends); each element of a scan output once, unless the body could write it in place; slices of a
// scan input only for axes but the outermost; text always.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/host_operator.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

// Whether the node is one that the host can run: If, Loop, Scan or SequenceMap of ai.onnx.
[[nodiscard]] bool is_control_flow(const graph::Node& node);

struct BodyProgram {
  std::string attribute;  // "then_branch"
  std::unique_ptr<Program> program;
};

// INVALID_GRAPH where a body is missing or its inputs and outputs are not what the operator asks
// for; NOT_IMPLEMENTED for other operators.
[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_control_flow(
    const graph::Graph& graph, graph::NodeId node, std::vector<BodyProgram> bodies);

}  // namespace ephost::runtime
