// A correct plan for the tests of the checkers, each of which damages it in one way.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/plan/check/checker.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::testing {

using graph::testing::GraphBuilder;
using partition::testing::fused;

// The running example, all values float [4, 4]:
//   step 0  a = Conv(x, w)
//   step 1  {b = Conv(a), c = Conv(b)}   one partition
//   step 2  d = Relu(c)                  in place over c
//   step 3  v = Reshape(a)               a view of a
//   step 4  e = Add(d, v)                in place over d
//   step 5  f = Conv(e), workspace
//   step 6  y = Relu(f)                  a graph output; f lives in its buffer
inline Planned example(const AllocationOptions& options = {}) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", graph::testing::float_tensor(std::vector<float>(16)))
                    .node("Conv", {"x", "w"}, {"a"})
                    .node("Conv", {"a"}, {"b"})
                    .node("Conv", {"b"}, {"c"})
                    .node("Relu", {"c"}, {"d"})
                    .node("Reshape", {"a"}, {"v"})
                    .node("Add", {"d", "v"}, {"e"})
                    .node("Conv", {"e"}, {"f"})
                    .node("Relu", {"f"}, {"y"})
                    .output("y")
                    .build();
  for (graph::Value& value : graph.values) {
    value.type = graph::testing::tensor_type(graph::ElementType::kFloat, graph::Shape{4, 4});
  }
  Planned planned = plan_graph(std::move(graph), {fused({1, 2}, "part")});
  planned.notes[5].workspace_bytes = 100;
  planned.allocate(options);
  return planned;
}

inline ValuePlan& plan_of(Planned& planned, std::string_view name) {
  return planned.allocation.values[planned.id(name)];
}

// Moves a value with its own buffer into the buffer of another, and keeps the list of buffers
// consistent.
inline void put_into(Planned& planned, std::string_view name, std::string_view root) {
  ValuePlan& value = plan_of(planned, name);
  const ValueId old = planned.id(name);
  value.kind = AllocKind::kReuse;
  value.reused = planned.id(root);
  std::erase_if(planned.allocation.buffers, [&](const BufferPlan& b) { return b.root == old; });
  for (BufferPlan& buffer : planned.allocation.buffers) {
    if (buffer.root != value.reused) continue;
    buffer.first_pc = std::min(buffer.first_pc, value.first_pc);
    buffer.last_pc = std::max(buffer.last_pc, value.last_pc);
  }
  std::ranges::sort(planned.allocation.buffers, {},
                    [](const BufferPlan& b) { return std::pair(b.first_pc, b.root); });
}

inline void expect_refused(const Status& status, const std::string& message) {
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), ::testing::HasSubstr(message));
}

inline Status execution_status(const Planned& planned) {
  return check_execution(planned.graph, planned.partitioning, planned.execution);
}

inline Status allocation_status(const Planned& planned) {
  const auto traits = to_traits(planned.notes);
  return check_allocation(planned.graph, planned.execution, traits, planned.allocation);
}

}  // namespace ephost::plan::testing
