#include "host/session/tools/plan_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "host/base/format.h"
#include "host/session/creation/pipeline.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"
#include "host/session/tools/best_shapes.h"

namespace ephost::session {
namespace {

class GraphReport {
 public:
  GraphReport(const PreparedModel& model, const PreparedGraph& prepared)
      : model_(model), graph_(model.graph_of(prepared)), prepared_(prepared) {}

  GraphPlan make() {
    report_ = {.path = prepared_.path,
               .name = graph_.name,
               .providers = prepared_.partitioning.providers,
               .order_rule = std::string(prepared_.order_rule),
               .order_bytes = prepared_.order_bytes,
               .given_order_bytes = prepared_.given_order_bytes};
    for (const plan::Step& step : prepared_.execution.steps) add_step(step);
    add_streams();
    for (graph::ValueId id = 0; id < prepared_.allocation.values.size(); ++id) add_value(id);
    add_buffers();
    add_workspaces();
    for (const plan::MemoryBlock& block : prepared_.pattern.blocks) {
      report_.blocks.push_back({.location = block.location,
                                .memory = model_.location_name(block.location),
                                .peak_bytes = block.bytes,
                                .lower_bound_bytes = block.lower_bound,
                                .proved_optimal = block.proved_optimal,
                                .alignment = block.alignment});
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::vector<std::string> names(std::span<const graph::ValueId> ids) const {
    std::vector<std::string> names;
    for (const graph::ValueId id : ids) {
      names.push_back(id == graph::kNoValue ? "" : graph_.values[id].name);
    }
    return names;
  }

  void add_step(const plan::Step& step) {
    PlannedStep planned{.provider = step.provider,
                        .node = step.node,
                        .inputs = names(step.inputs),
                        .outputs = names(step.outputs)};
    std::set<graph::ValueId> read(step.inputs.begin(), step.inputs.end());
    if (step.partition == plan::kNoPartition) {
      const graph::Node& node = graph_.nodes[step.node];
      planned.name = node.name;
      planned.op = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
      planned.description = graph::describe_node(graph_, step.node);
    } else {
      const partition::Partition& p = prepared_.partitioning.partitions[step.partition];
      planned.partition = p.name;
      planned.name = "partition " + p.name;
      planned.op = formatted("{} node{}", p.nodes.size(), p.nodes.size() == 1 ? "" : "s");
      planned.description = formatted("{} of {}", planned.name, planned.op);
      read.insert(p.constants.begin(), p.constants.end());
      add_insides(p, planned);
    }
    for (const graph::ValueId id : read) {
      if (id == graph::kNoValue || !graph_.values[id].is_constant()) continue;
      planned.constant_bytes += bytes_of(id).value_or(0);
    }
    report_.steps.push_back(std::move(planned));
  }

  void add_streams() {
    const plan::StreamPlan& streams = prepared_.streams.plan;
    if (streams.empty()) return;
    for (uint32_t i = 0; i < report_.steps.size(); ++i) {
      PlannedStep& step = report_.steps[i];
      const uint32_t stream = streams.stream_of[i];
      if (stream != plan::kHostStream) step.stream = name_of(streams.streams[stream - 1]);
      for (const plan::PlannedWait& wait : streams.waits_of(i)) {
        (wait.is_by_host ? step.host_waits : step.waits).push_back(wait.step);
      }
    }
  }
  // "npu compute 0"; the device as locations name its memories.
  [[nodiscard]] std::string name_of(const plan::PlannedStream& stream) const {
    const auto location =
        std::ranges::find(model_.locations, stream.device, &plan::Location::owner);
    std::string name(location->name, 0, location->name.find(':'));
    switch (stream.purpose) {
      case plan::StreamPurpose::kCopyIn:
        return name + " copy in";
      case plan::StreamPurpose::kCopyOut:
        return name + " copy out";
      case plan::StreamPurpose::kCompute:
        break;
    }
    return name + " compute " + std::to_string(stream.number);
  }

  [[nodiscard]] std::optional<uint64_t> bytes_of(graph::ValueId id) const {
    const graph::ValueType& type = graph_.values[id].type;
    if (type.kind != graph::ValueKind::kTensor || !type.shape) return std::nullopt;
    return graph::byte_size(type.element, *type.shape);
  }

  // What only the nodes of a partition see.
  void add_insides(const partition::Partition& partition, PlannedStep& planned) const {
    const std::set<graph::NodeId> nodes(partition.nodes.begin(), partition.nodes.end());
    const std::set<graph::ValueId> seen(partition.outputs.begin(), partition.outputs.end());
    std::map<graph::NodeId, uint64_t> ended;  // bytes by their last reader
    uint64_t live = 0;
    for (const graph::NodeId node : partition.nodes) {
      for (const graph::ValueId id : graph_.nodes[node].outputs) {
        if (id == graph::kNoValue || seen.contains(id)) continue;
        const std::vector<graph::NodeId>& readers = graph_.values[id].consumers;
        const uint64_t bytes = bytes_of(id).value_or(0);
        ++planned.inner_values;
        planned.inner_bytes += bytes;
        live += bytes;
        ended[readers.empty() ? node : std::ranges::max(readers)] += bytes;
      }
      planned.inner_live_bytes = std::max(planned.inner_live_bytes, live);
      if (const auto found = ended.find(node); found != ended.end()) live -= found->second;
    }
  }

  void add_value(graph::ValueId id) {
    const plan::ValuePlan& value = prepared_.allocation.values[id];
    if (value.kind == plan::AllocKind::kNone) return;
    const uint64_t offset = prepared_.pattern.offsets[id];
    const bool needs_memory =
        value.kind == plan::AllocKind::kAllocate || value.kind == plan::AllocKind::kAllocateOutput;
    PlannedValue planned{.name = graph_.values[id].name,
                         .type = graph::to_string(graph_.values[id].type, model_.model.symbols),
                         .kind = std::string(plan::alloc_kind_name(value.kind)),
                         .location = value.location,
                         .owns_buffer = value.reused == id,
                         .first_step = value.first_pc,
                         .last_step = value.last_pc,
                         .use_count = value.use_count,
                         .bytes = value.bytes,
                         .is_allocated_by_runs = needs_memory && offset == plan::kNoOffset};
    if (value.reused != graph::kNoValue) {
      planned.buffer = graph_.values[value.reused].name;
      planned.buffer_bytes = prepared_.allocation.values[value.reused].bytes;
    }
    if (offset != plan::kNoOffset) planned.offset = offset;
    report_.values.push_back(std::move(planned));
  }

  void add_buffers() {
    for (const plan::BufferPlan& buffer : prepared_.allocation.buffers) {
      const uint64_t offset = prepared_.pattern.offsets[buffer.root];
      if (offset == plan::kNoOffset || !buffer.bytes) continue;
      report_.buffers.push_back({.location = buffer.location,
                                 .first_step = buffer.first_pc,
                                 .last_step = buffer.last_pc,
                                 .bytes = *buffer.bytes,
                                 .offset = offset});
    }
  }

  void add_workspaces() {
    for (const plan::Workspace& workspace : prepared_.allocation.workspaces) {
      report_.steps[workspace.pc].workspace_bytes = workspace.bytes;
      const uint64_t offset = prepared_.pattern.workspace_offsets[workspace.pc];
      if (offset == plan::kNoOffset) continue;
      report_.buffers.push_back({.location = workspace.location,
                                 .first_step = workspace.pc,
                                 .last_step = workspace.pc,
                                 .bytes = workspace.bytes,
                                 .offset = offset,
                                 .is_workspace = true});
    }
  }

  const PreparedModel& model_;
  const graph::Graph& graph_;
  const PreparedGraph& prepared_;
  GraphPlan report_;
};

}  // namespace

Result<std::vector<GraphPlan>> plan_model(EnvironmentState& environment,
                                          const std::filesystem::path& model,
                                          const GivenOptions& options) {
  using Plans = Result<std::vector<GraphPlan>>;
  return without_exceptions("planning a model", [&]() -> Plans {
    const Log log = session_log(environment, options);
    const LogScope scope(log);
    EPHOST_ASSIGN_OR_RETURN(const ShapedModel shaped,
                            prepare_best_shape(environment, model, options, Stage::kPlanned));
    const PreparedModel& prepared = shaped.prepared;
    std::vector<GraphPlan> plans;
    for (const PreparedGraph* one : prepared.graphs()) {
      plans.push_back(GraphReport(prepared, *one).make());
    }
    return plans;
  });
}

}  // namespace ephost::session
