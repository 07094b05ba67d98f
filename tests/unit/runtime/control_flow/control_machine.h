// A graph with bodies, planned for toy kernels, and everything that runs it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/claim_source.h"
#include "host/plan/check/checker.h"
#include "host/runtime/control_flow/control_flow.h"
#include "host/runtime/frame/frame.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/runtime/toy_provider.h"

namespace ephost::runtime::testing {

// Claims control flow for the host, as the session does.
class HostSource : public partition::ClaimSource {
 public:
  [[nodiscard]] std::string_view provider_name() const override { return "host"; }
  Result<std::vector<partition::Claim>> claims(const graph::Graph& graph,
                                               std::span<const uint32_t>) override {
    std::vector<partition::Claim> claims;
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (has_kernel(graph, id)) claims.push_back({{id}, false, {}, false});
    }
    return claims;
  }
  bool has_kernel(const graph::Graph& graph, graph::NodeId node) override {
    return is_control_flow(graph.nodes[node]);
  }
};

class ControlMachine {
 public:
  explicit ControlMachine(graph::Graph graph) {
    model_.graph = std::move(graph);
    auto program = make_program(model_.graph);
    status_ = program.ok() ? Status() : program.status();
    if (!status_.ok()) return;
    program_ = std::move(program).value();
    frame_ = *Frame::create(*program_);
  }

  // Why the program could not be created.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const Program& program() const { return *program_; }

  Status run(const std::vector<Value>& inputs, std::vector<Value>& outputs,
             const std::atomic<bool>* cancelled = nullptr) {
    std::vector<const Value*> slots;
    for (const Value& input : inputs) slots.push_back(&input);
    outputs.resize(model_.graph.outputs.size());
    return frame_->run(slots, outputs, {.id = next_run_id(), .cancelled = cancelled});
  }

  // The outputs of a run. Fails the test if the run fails.
  std::vector<Value> run(const std::vector<Value>& inputs) {
    std::vector<Value> outputs;
    EXPECT_THAT(status_, test::IsOk());
    const Status status = run(inputs, outputs);
    EXPECT_THAT(status, test::IsOk());
    return outputs;
  }

 private:
  Result<std::unique_ptr<Program>> make_program(graph::Graph& graph) {
    bridge::ProviderClaims claims(*provider_, std::make_shared<bridge::ModelView>(model_));
    HostSource host;
    partition::ClaimSource* const sources[] = {&claims, &host};
    EPHOST_ASSIGN_OR_RETURN(const auto partitioning, partition::partition_graph(graph, sources));
    EPHOST_RETURN_IF_ERROR(partition::check_cover(graph, partitioning));
    Program::Parts parts;
    parts.graph = &graph;
    EPHOST_ASSIGN_OR_RETURN(parts.execution, plan::plan_execution(graph, partitioning));
    const bridge::GraphView view(graph, model_);
    std::vector<plan::StepTraits> traits(parts.execution.steps.size());
    for (size_t i = 0; i < parts.execution.steps.size(); ++i) {
      const graph::NodeId node = parts.execution.steps[i].node;
      std::optional<bridge::Computation>& made = parts.computations.emplace_back();
      std::unique_ptr<HostOperator>& host_operator = parts.host_operators.emplace_back();
      if (is_control_flow(graph.nodes[node])) {
        EPHOST_ASSIGN_OR_RETURN(host_operator, make_operator(graph, node));
        continue;
      }
      EPHOST_ASSIGN_OR_RETURN(made, provider_->create_kernel(view, node));
      traits[i] = made->traits();
    }
    EPHOST_ASSIGN_OR_RETURN(parts.allocation,
                            plan::plan_allocation(graph, parts.execution, traits));
    EPHOST_ASSIGN_OR_RETURN(parts.pattern, plan::plan_memory(parts.allocation, {}, {}));
    EPHOST_RETURN_IF_ERROR(
        plan::check_allocation(graph, parts.execution, traits, parts.allocation));
    return std::make_unique<Program>(std::move(parts));
  }

  Result<std::unique_ptr<HostOperator>> make_operator(graph::Graph& graph, graph::NodeId node) {
    std::vector<BodyProgram> bodies;
    for (graph::Attribute& attribute : graph.nodes[node].attributes) {
      auto* body = std::get_if<std::unique_ptr<graph::Graph>>(&attribute.value);
      if (body == nullptr) continue;
      EPHOST_ASSIGN_OR_RETURN(auto program, make_program(**body));
      bodies.push_back({attribute.name, std::move(program)});
    }
    return make_control_flow(graph, node, std::move(bodies));
  }

  std::shared_ptr<bridge::Provider> provider_ = test::create_in_process<ToyProvider>();
  graph::Model model_;
  Status status_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Frame> frame_;
};

inline Value floats(std::vector<int64_t> shape, const std::vector<float>& elements) {
  return *Value::of<float>(std::move(shape), elements);
}
inline Value int64(int64_t number) { return *Value::of<int64_t>({}, std::vector<int64_t>{number}); }
inline Value boolean(bool flag) {
  Value value = *Value::allocate(ElementType::kBool, {});
  value.mutable_elements<bool>()[0] = flag;
  return value;
}
inline std::vector<float> floats_of(const Value& value) {
  const auto elements = value.elements<float>();
  return {elements.begin(), elements.end()};
}

}  // namespace ephost::runtime::testing
