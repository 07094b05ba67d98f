// If, Loop, Scan and SequenceMap of all opsets, run by the host. Each body is a program of its own;
// it captures values of enclosing graphs from the frame that runs the step.
//
// The initial value of a loop-carried variable is never copied. A body's output is copied once,
// when the step ends, if the enclosing graph has planned a place for it or it has another owner. An
// element of a scan output is copied once unless the body can write it in place. Slices of a scan
// input are copied unless the axis is the outermost one. Text is always copied.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/host_operator.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

// Whether the host can run the node: If, Loop, Scan or SequenceMap of ai.onnx.
[[nodiscard]] bool is_control_flow(const graph::Node& node);

struct BodyProgram {
  std::string attribute;  // "then_branch"
  std::unique_ptr<Program> program;
};

// INVALID_GRAPH if a body is missing or its inputs and outputs do not fit the operator;
// NOT_IMPLEMENTED for other operators.
[[nodiscard]] Result<std::unique_ptr<HostOperator>> make_control_flow(
    const graph::Graph& graph, graph::NodeId node, std::vector<BodyProgram> bodies);

}  // namespace ephost::runtime
