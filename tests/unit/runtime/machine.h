// A frame and its program, for tests that run graphs of toy kernels.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/base/threads/thread_pool.h"
#include "host/bridge/claim_source.h"
#include "host/plan/check/checker.h"
#include "host/runtime/frame/frame.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/runtime/toy_provider.h"

namespace ephost::runtime::testing {

struct MachineOptions {
  std::vector<std::string> symbols = {};
  plan::MemoryOptions memory = {};
  ThreadPool* pool = nullptr;
  uint32_t threads = 1;
  int64_t max_concurrent = UINT32_MAX;  // of the provider
};

// A graph, planned for the toy provider, and everything that runs it.
class Machine {
 public:
  explicit Machine(graph::Graph graph, MachineOptions options = {})
      : provider_(provider_with(options)) {
    model_.graph = std::move(graph);
    model_.symbols = std::move(options.symbols);
    bridge::ProviderClaims claims(*provider_, std::make_shared<bridge::ModelView>(model_));
    partition::ClaimSource* const sources[] = {&claims};
    const auto partitioning = *partition::partition_graph(model_.graph, sources);
    Program::Parts parts;
    parts.graph = &model_.graph;
    parts.symbols = model_.symbols;
    parts.execution = *plan::plan_execution(model_.graph, partitioning);
    const bridge::GraphView view(model_.graph, model_);
    std::vector<plan::StepTraits> traits;
    for (const plan::Step& step : parts.execution.steps) {
      auto kernel = provider_->create_kernel(view, step.node);
      EXPECT_THAT(kernel, test::IsOk());
      parts.computations.push_back(std::move(kernel).value());
      traits.push_back(parts.computations.back()->traits());
    }
    parts.allocation = *plan::plan_allocation(model_.graph, parts.execution, traits,
                                              {.enable_parts = options.memory.enable_mem_pattern});
    parts.pattern = *plan::plan_memory(parts.allocation, {}, options.memory);
    parts.memory_options = options.memory;
    parts.thread_pool = options.pool;
    parts.threads = options.threads;
    EXPECT_THAT(plan::check_allocation(model_.graph, parts.execution, traits, parts.allocation),
                test::IsOk());
    EXPECT_THAT(plan::check_memory(parts.allocation, parts.pattern), test::IsOk());
    EXPECT_THAT(plan::check_dependencies(
                    parts.execution, parts.allocation, parts.pattern,
                    plan::find_dependencies(parts.execution, parts.allocation, parts.pattern)),
                test::IsOk());
    program_ = std::make_unique<Program>(std::move(parts));
    auto frame = Frame::create(*program_);
    if (frame.ok()) frame_ = std::move(frame).value();
    creation_ = frame.status();
  }

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] Frame& frame() { return *frame_; }
  // Whether the frame could be created. If not, no other function may be called.
  [[nodiscard]] const Status& creation() const { return creation_; }

  Status run(const std::vector<const Value*>& inputs, std::vector<Value>& outputs,
             const std::atomic<bool>* cancelled = nullptr) {
    outputs.resize(model_.graph.outputs.size());
    return frame_->run(inputs, outputs, {.id = next_run_id(), .cancelled = cancelled});
  }

  // Output 0 for one input of floats. Fails the test if the run fails.
  std::vector<float> floats(const std::vector<int64_t>& shape, const std::vector<float>& input) {
    const Value value = *Value::of<float>(shape, input);
    std::vector<Value> outputs;
    const Status status = run({&value}, outputs);
    EXPECT_THAT(status, test::IsOk());
    if (!status.ok()) return {};
    const std::span<const float> elements = outputs[0].elements<float>();
    return {elements.begin(), elements.end()};
  }

 private:
  static std::shared_ptr<bridge::Provider> provider_with(const MachineOptions& options) {
    return test::create_in_process<ToyProvider>({{"max_concurrent", options.max_concurrent, ""}});
  }

  std::shared_ptr<bridge::Provider> provider_;
  graph::Model model_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Frame> frame_;
  Status creation_;
};

inline graph::ValueType floats(graph::Shape shape) {
  return graph::testing::tensor_type(ElementType::kFloat, std::move(shape));
}

// Gives every value without a type this one.
inline graph::Graph typed(graph::Graph graph, const graph::ValueType& type) {
  for (graph::Value& value : graph.values) {
    if (value.type.kind == graph::ValueKind::kUnknown) value.type = type;
  }
  return graph;
}

}  // namespace ephost::runtime::testing
