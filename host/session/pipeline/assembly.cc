#include "host/session/pipeline/assembly.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/runtime/control_flow/control_flow.h"
#include "host/runtime/copy_operator.h"
#include "host/session/pipeline/planning.h"

namespace ephost::session {
namespace {

class Assembly {
 public:
  Assembly(PreparedModel& model, const GivenOptions& options) : model_(model), options_(options) {}

  Result<std::unique_ptr<runtime::Program>> run(PreparedGraph& prepared) {
    const graph::Graph& graph = model_.graph_of(prepared);
    runtime::Program::Parts parts;
    EPHOST_ASSIGN_OR_RETURN(parts.host_operators, make_operators(graph, prepared));
    if (!prepared.step_locations.empty()) {
      parts.devices = model_.devices;
      EPHOST_ASSIGN_OR_RETURN(
          parts.device_constants,
          runtime::DeviceConstants::create(graph, prepared.allocation, model_.devices));
    }
    parts.streams = std::move(prepared.streams);
    parts.captures_streams = model_.captures_streams;
    parts.graph = &graph;
    parts.symbols = model_.model.symbols;
    parts.execution = std::move(prepared.execution);
    parts.memory_options.alignments = alignments_of(model_, prepared);
    parts.memory_options.step_groups = plan::memory_groups(parts.streams.assignment);
    parts.computations = std::move(prepared.computations);
    parts.allocation = std::move(prepared.allocation);
    parts.pattern = std::move(prepared.pattern);
    parts.memory_options.enable_mem_pattern = options_.mem_pattern;
    parts.thread_pool = model_.threads.pool.get();
    parts.threads = model_.threads.steps;
    parts.profiler = model_.profiler.get();
    parts.max_patterns = model_.max_memory_patterns;
    parts.is_body = &prepared != &model_.main;
    parts.contradictions = model_.contradictions.get();
    return std::make_unique<runtime::Program>(std::move(parts));
  }

 private:
  Result<std::vector<std::unique_ptr<runtime::HostOperator>>> make_operators(
      const graph::Graph& graph, PreparedGraph& prepared) {
    std::vector<std::unique_ptr<runtime::HostOperator>> operators;
    const std::vector<plan::Step>& steps = prepared.execution.steps;
    const auto is_host_step = [&](const plan::Step& step) {
      return step.provider == model_.providers.size();
    };
    if (std::ranges::none_of(steps, is_host_step)) return operators;
    for (const plan::Step& step : steps) {
      std::unique_ptr<runtime::HostOperator>& made = operators.emplace_back();
      if (!is_host_step(step)) continue;
      if (plan::is_copy(graph.nodes[step.node])) {
        made =
            runtime::make_copy(graph, graph.nodes[step.node], prepared.allocation, model_.devices);
        continue;
      }
      std::vector<runtime::BodyProgram> bodies;
      for (PreparedGraph& body : prepared.bodies) {
        if (body.node() != step.node) continue;
        EPHOST_ASSIGN_OR_RETURN(auto program, run(body));
        bodies.push_back({body.attribute, std::move(program)});
      }
      EPHOST_ASSIGN_OR_RETURN(made,
                              runtime::make_control_flow(graph, step.node, std::move(bodies)));
    }
    return operators;
  }

  PreparedModel& model_;
  const GivenOptions& options_;
};

}  // namespace

Result<std::unique_ptr<runtime::Program>> assemble_program(PreparedModel& prepared,
                                                           const GivenOptions& options) {
  return Assembly(prepared, options).run(prepared.main);
}

}  // namespace ephost::session
