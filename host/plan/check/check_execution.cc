#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plan/check/checker.h"
#include "host/plan/copies.h"

namespace ephost::plan {
namespace {

using graph::kNoNode;
using partition::Partitioning;

Status wrong_execution(const std::string& what) {
  return {StatusCode::kFail, "the execution plan is wrong: " + what};
}

std::string name_of(const Graph& graph, ValueId id) {
  return id < graph.values.size() ? formatted("value {}", quote(graph.values[id].name))
                                  : formatted("value id {}", id);
}

// Executes the plan with sets instead of tensors.
class ExecutionCheck {
 public:
  ExecutionCheck(const Graph& graph, const Partitioning& partitioning, const ExecutionPlan& plan);

  [[nodiscard]] Status run();

 private:
  [[nodiscard]] Status find_originals();
  [[nodiscard]] Status check_step(const Step& step);
  // The slots as in the model.
  [[nodiscard]] std::vector<ValueId> originals(const std::vector<ValueId>& slots) const;
  [[nodiscard]] Status check_single(const Step& step);
  [[nodiscard]] Status check_fused(const Step& step);
  [[nodiscard]] Status check_slots(const Step& step, const std::set<NodeId>& members) const;
  [[nodiscard]] Status run_node(NodeId node, std::set<ValueId>& present);
  [[nodiscard]] std::string describe(const Step& step) const;

  const Graph& graph_;
  const Partitioning& partitioning_;
  const ExecutionPlan& plan_;
  std::vector<bool> has_run_;                 // by node
  std::set<ValueId> present_;                 // values that later steps can read
  std::vector<ValueId> original_;             // by value: the model's value of which it is a copy
  std::set<ValueId> known_;                   // originals that are present somewhere
  std::vector<bool> is_output_;               // by value
  std::vector<std::vector<NodeId>> readers_;  // by value, from the nodes' own lists
};

ExecutionCheck::ExecutionCheck(const Graph& graph, const Partitioning& partitioning,
                               const ExecutionPlan& plan)
    : graph_(graph),
      partitioning_(partitioning),
      plan_(plan),
      has_run_(graph.nodes.size(), false),
      is_output_(graph.values.size(), false),
      readers_(graph.values.size()) {
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].producer == kNoNode) present_.insert(id);
  }
  for (const ValueId id : graph.outputs) is_output_[id] = true;
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const auto* list : {&graph.nodes[node].inputs, &graph.nodes[node].implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id != kNoValue) readers_[id].push_back(node);
      }
    }
  }
}

// The nodes of copies and the initializers connect the copies of a value; among connected values,
// the model's own nodes and lists may refer to only one.
Status ExecutionCheck::find_originals() {
  std::vector<bool> is_models(graph_.values.size(), false);
  const auto mark = [&](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) is_models[id] = true;
    }
  };
  mark(graph_.inputs);
  mark(graph_.outputs);
  std::vector<std::vector<ValueId>> tied(graph_.values.size());
  for (const graph::Node& node : graph_.nodes) {
    if (!is_copy(node)) {
      mark(node.inputs);
      mark(node.implicit_inputs);
      mark(node.outputs);
      continue;
    }
    if (node.inputs.size() != 1 || node.outputs.size() != 1) {
      return wrong_execution("a copy does not have exactly one input and one output");
    }
    tied[node.inputs[0]].push_back(node.outputs[0]);
    tied[node.outputs[0]].push_back(node.inputs[0]);
  }
  std::map<uint32_t, ValueId> by_initializer;
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const graph::Value& value = graph_.values[id];
    if (value.is_constant() && is_models[id]) by_initializer.emplace(value.initializer, id);
  }
  original_.assign(graph_.values.size(), kNoValue);
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    if (!is_models[id]) continue;
    std::vector<ValueId> open = {id};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (original_[next] == id) continue;
      if (original_[next] != kNoValue || (next != id && is_models[next])) {
        return wrong_execution(
            formatted("a copy turns {} into {}", name_of(graph_, id), name_of(graph_, next)));
      }
      original_[next] = id;
      open.insert(open.end(), tied[next].begin(), tied[next].end());
    }
  }
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    if (original_[id] != kNoValue) continue;
    const auto constant = by_initializer.find(graph_.values[id].initializer);
    const bool is_copied = graph_.values[id].is_constant() && constant != by_initializer.end();
    original_[id] = is_copied ? constant->second : id;
  }
  for (const ValueId id : present_) known_.insert(original_[id]);
  return Status::ok_status();
}

std::vector<ValueId> ExecutionCheck::originals(const std::vector<ValueId>& slots) const {
  std::vector<ValueId> ids;
  for (const ValueId id : slots) ids.push_back(id == kNoValue ? id : original_[id]);
  return ids;
}

Status ExecutionCheck::run() {
  EPHOST_RETURN_IF_ERROR(find_originals());
  for (const Step& step : plan_.steps) EPHOST_RETURN_IF_ERROR(check_step(step));
  const auto missing = std::ranges::find(has_run_, false);
  if (missing != has_run_.end()) {
    const auto node = static_cast<NodeId>(missing - has_run_.begin());
    return wrong_execution(graph::describe_node(graph_, node) + " is in no step");
  }
  for (const ValueId id : graph_.outputs) {
    if (!present_.contains(id))
      return wrong_execution(name_of(graph_, id) + " of the graph's outputs is never produced");
  }
  return Status::ok_status();
}

Status ExecutionCheck::check_step(const Step& step) {
  if (step.node >= graph_.nodes.size()) {
    return wrong_execution(formatted("a step names node id {}, which does not exist", step.node));
  }
  if (step.partition != partitioning_.partition_of[step.node]) {
    return wrong_execution(describe(step) + " has a different partition than its node");
  }
  if (step.provider != partitioning_.owner[step.node]) {
    return wrong_execution(describe(step) + " has a different provider than its node");
  }
  for (const auto* list : {&step.inputs, &step.implicit_inputs}) {
    for (const ValueId id : *list) {
      if (id != kNoValue && !present_.contains(id)) {
        return wrong_execution(
            formatted("{} reads {} before it is produced", describe(step), name_of(graph_, id)));
      }
    }
  }
  EPHOST_RETURN_IF_ERROR(step.partition == kNoPartition ? check_single(step) : check_fused(step));
  for (const ValueId id : step.outputs) {
    if (id == kNoValue) continue;
    present_.insert(id);
    known_.insert(original_[id]);
  }
  return Status::ok_status();
}

Status ExecutionCheck::check_single(const Step& step) {
  const graph::Node& node = graph_.nodes[step.node];
  const bool same = is_copy(node) ? step.inputs == node.inputs && step.outputs == node.outputs
                                  : originals(step.inputs) == node.inputs &&
                                        originals(step.outputs) == node.outputs;
  if (!same || step.implicit_inputs != node.implicit_inputs) {
    return wrong_execution(describe(step) + " has different slots than its node");
  }
  std::set<ValueId> inside;
  return run_node(step.node, inside);
}

Status ExecutionCheck::check_fused(const Step& step) {
  const std::vector<NodeId>& nodes = partitioning_.partitions[step.partition].nodes;
  if (nodes.empty() || step.node != nodes.front()) {
    return wrong_execution(describe(step) + " is not identified by its partition's first node");
  }
  std::set<ValueId> inside;
  for (const NodeId node : nodes) EPHOST_RETURN_IF_ERROR(run_node(node, inside));
  return check_slots(step, {nodes.begin(), nodes.end()});
}

// The slots of a fused step are the values that cross its boundary, each once.
Status ExecutionCheck::check_slots(const Step& step, const std::set<NodeId>& members) const {
  std::set<ValueId> in;
  std::set<ValueId> out;
  const auto is_member = [&](NodeId node) { return members.contains(node); };
  for (const NodeId node : members) {
    for (const auto* list : {&graph_.nodes[node].inputs, &graph_.nodes[node].implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id == kNoValue || graph_.values[id].is_constant()) continue;
        const NodeId producer = graph_.values[id].producer;
        if (producer == kNoNode || !is_member(producer)) in.insert(id);
      }
    }
    for (const ValueId id : graph_.nodes[node].outputs) {
      if (id == kNoValue) continue;
      if (is_output_[id] || !std::ranges::all_of(readers_[id], is_member)) out.insert(id);
    }
  }
  const auto same = [](const std::vector<ValueId>& listed, const std::set<ValueId>& expected) {
    return listed.size() == expected.size() &&
           std::set<ValueId>(listed.begin(), listed.end()) == expected;
  };
  if (same(originals(step.inputs), in) && same(originals(step.outputs), out) &&
      step.implicit_inputs.empty())
    return Status::ok_status();
  return wrong_execution(describe(step) +
                         " has slots other than the values that cross its boundary");
}

Status ExecutionCheck::run_node(NodeId node, std::set<ValueId>& inside) {
  if (has_run_[node]) return wrong_execution(graph::describe_node(graph_, node) + " is run twice");
  has_run_[node] = true;
  const graph::Node& n = graph_.nodes[node];
  for (const auto* list : {&n.inputs, &n.implicit_inputs}) {
    for (const ValueId id : *list) {
      if (id == kNoValue || known_.contains(original_[id]) || inside.contains(id)) continue;
      return wrong_execution(formatted("{} reads {} before it is produced",
                                       graph::describe_node(graph_, node), name_of(graph_, id)));
    }
  }
  inside.insert(n.outputs.begin(), n.outputs.end());
  return Status::ok_status();
}

std::string ExecutionCheck::describe(const Step& step) const {
  return "the step of " + graph::describe_node(graph_, step.node);
}

}  // namespace

Status check_execution(const Graph& graph, const Partitioning& partitioning,
                       const ExecutionPlan& plan) {
  if (partitioning.owner.size() != graph.nodes.size() ||
      partitioning.partition_of.size() != graph.nodes.size()) {
    return wrong_execution("the partitioning belongs to another graph");
  }
  return ExecutionCheck(graph, partitioning, plan).run();
}

}  // namespace ephost::plan
