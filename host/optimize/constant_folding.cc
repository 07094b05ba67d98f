#include "host/optimize/constant_folding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"
#include "host/optimize/constant_nodes.h"
#include "host/optimize/dead_code.h"
#include "host/optimize/fold_work.h"
#include "host/optimize/identity_rules.h"

namespace ephost::optimize {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::Value;
using graph::ValueId;

template <size_t Count>
bool contains(const std::array<std::string_view, Count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Operators whose output size is not bounded by the size of their inputs.
bool can_grow(std::string_view op) {
  return contains(
      std::array<std::string_view, 11>{"ConstantOfShape", "Expand", "EyeLike", "OneHot", "Pad",
                                       "Range", "Resize", "Tile", "Upsample", "Einsum", "Col2Im"},
      op);
}

// The size of the outputs in bytes by the types in the graph, not counting dynamic shapes; nothing
// if it overflows.
std::optional<uint64_t> known_output_bytes(const Graph& graph, const Node& node) {
  uint64_t total = 0;
  for (const ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    const graph::ValueType& type = graph.values[output].type;
    const bool is_static = type.shape && graph::is_static(*type.shape);
    if (!is_static || graph::element_bits(type.element) == 0) continue;
    const auto bytes = graph::byte_size(type.element, *type.shape);
    const auto sum = bytes ? checked_add(total, *bytes) : std::nullopt;
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

bool is_output_open(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
    if (output == kNoValue) return false;
    const graph::ValueType& type = graph.values[output].type;
    return !type.shape || !graph::is_static(*type.shape);
  });
}

// The inputs that are present, without duplicates.
std::vector<ValueId> distinct_inputs(const Node& node) {
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) inputs.push_back(input);
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

// The bytes that the dense form of a sparse constant needs beyond the budget of the model; 0 for
// any other node.
uint64_t dense_bytes(const Node& node) {
  const auto* value = node.op_type == "Constant" ? node.attribute("sparse_value") : nullptr;
  const auto* sparse = value == nullptr ? nullptr : std::get_if<graph::SparseTensor>(value);
  if (sparse == nullptr) return 0;
  return graph::byte_size(sparse->values.type, sparse->shape).value_or(0);
}

class Folder {
 public:
  Folder(Evaluator& evaluator, FoldBudget& budget, const FoldOptions& options)
      : evaluator_(evaluator), budget_(budget), options_(options) {}

  // Finishes with the graph's connections up to date.
  Status run(Graph& graph) {
    EPHOST_RETURN_IF_ERROR(fold(graph));
    remove_dead_code(graph, options_.removes_dead_code ? DeadCode::kAll : DeadCode::kOutputless);
    if (took_over_) graph::connect(graph);
    return Status::ok_status();
  }

  Status run_level(Graph& graph) {
    Level level{graph, count_uses(graph)};
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
      if (!options_.keeps(graph, id)) EPHOST_RETURN_IF_ERROR(fold_node(level, id));
    }
    return Status::ok_status();
  }

  FoldReport take_report() && {
    if (report_.over_budget > 1) {
      report_.budget_note = formatted(
          "constant folding left {} nodes to be computed in each run, the first one because {}",
          report_.over_budget, report_.budget_note);
    } else if (report_.over_budget == 1) {
      report_.budget_note = "constant folding left one node to be computed in each run, because " +
                            report_.budget_note;
    }
    return std::move(report_);
  }

 private:
  // A graph while it is being folded.
  struct Level {
    Graph& graph;
    std::vector<uint32_t> uses;  // by value: number of remaining readers and graph outputs
  };

  Status fold(Graph& graph) {
    Level level{graph, count_uses(graph)};
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
      budget_.spend(kVisitWork);
      EPHOST_RETURN_IF_ERROR(fold_subgraphs(level, id));
      EPHOST_RETURN_IF_ERROR(fold_node(level, id));
    }
    return Status::ok_status();
  }

  static std::vector<uint32_t> count_uses(const Graph& graph) {
    std::vector<uint32_t> uses;
    uses.reserve(graph.values.size());
    for (const Value& value : graph.values) {
      uses.push_back(static_cast<uint32_t>(value.consumers.size()) +
                     (value.is_graph_output ? 1 : 0));
    }
    for (const graph::QuantizationAnnotation& annotation : graph.annotations) {
      for (const auto& [name, parameter] : annotation.parameters) ++uses[parameter];
    }
    return uses;
  }

  Status fold_subgraphs(Level& level, NodeId id) {
    Graph& graph = level.graph;
    Status status;
    graph::for_each_subgraph(graph.nodes[id], [&](Graph& subgraph) {
      if (!status.ok()) return;
      take_over_constants(graph, subgraph);
      status = fold(subgraph);
    });
    EPHOST_RETURN_IF_ERROR(status);
    const Node& node = graph.nodes[id];
    for (const ValueId captured : node.implicit_inputs) {
      const bool is_input =
          std::find(node.inputs.begin(), node.inputs.end(), captured) != node.inputs.end();
      if (!is_input && graph.constant(captured) != nullptr) release(level, captured);
    }
    return Status::ok_status();
  }

  Status fold_node(Level& level, NodeId id) {
    const Graph& graph = level.graph;
    const Node& node = graph.nodes[id];
    if (graph::has_subgraphs(node) || (!options_.computes && node.op_type != "Constant"))
      return Status::ok_status();
    if (const uint64_t bytes = dense_bytes(node); bytes > budget_.bytes_left()) {
      note_byte_limit(graph, id, bytes);
    } else if (options_.keeps && node.op_type != "Constant" && options_.keeps(graph, id)) {
      return Status::ok_status();
    } else if (std::optional<Tensor> value = value_of_constant_node(graph, node)) {
      std::vector<Tensor> values;
      values.push_back(*std::move(value));
      replace(level, id, std::move(values));
    } else if (is_foldable(graph, node) && evaluator_.can_evaluate(graph, id)) {
      return evaluate_within_budget(level, id);
    }
    return Status::ok_status();
  }

  void set_constant(Graph& graph, ValueId id, Tensor tensor) {
    budget_.add(tensor);
    Value& value = graph.values[id];
    value.type = {.kind = graph::ValueKind::kTensor, .element = tensor.type, .shape = tensor.shape};
    value.producer = graph::kNoNode;
    value.initializer = static_cast<uint32_t>(graph.initializers.size());
    graph.initializers.push_back(std::move(tensor));
  }

  // Removes one use of a constant; after the last one, dead code removal deletes the rest of it.
  void release(Level& level, ValueId id) {
    if (--level.uses[id] > 0) return;
    Tensor& tensor = level.graph.initializers[level.graph.values[id].initializer];
    budget_.remove(tensor);
    tensor = {};
  }

  void take_over_constants(const Graph& enclosing, Graph& subgraph) {
    for (ValueId id = 0; id < subgraph.values.size(); ++id) {
      const ValueId outer = subgraph.values[id].outer;
      const Tensor* constant = outer == kNoValue ? nullptr : enclosing.constant(outer);
      if (!constant) continue;
      subgraph.values[id].outer = kNoValue;
      set_constant(subgraph, id, *constant);
      took_over_ = true;
    }
  }

  bool is_foldable(const Graph& graph, const Node& node) const {
    if (!node.domain.empty() || is_random(graph, node)) return false;
    const bool constant_inputs = std::all_of(
        node.inputs.begin(), node.inputs.end(),
        [&](ValueId input) { return input == kNoValue || graph.constant(input) != nullptr; });
    const bool has_output = std::any_of(node.outputs.begin(), node.outputs.end(),
                                        [](ValueId output) { return output != kNoValue; });
    // `Constant` in a form that stays, and other operators whose value has no inputs.
    const bool has_input = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [](ValueId input) { return input != kNoValue; });
    return constant_inputs && has_input && has_output;
  }

  // The size of the outputs of one node.
  uint64_t limit(const Graph& graph, const Node& node) const {
    uint64_t input_bytes = 0;
    for (const ValueId input : distinct_inputs(node)) {
      input_bytes += stored_bytes(*graph.constant(input));
    }
    return std::max(input_bytes, options_.max_output_bytes);
  }

  // The budget for the outputs of a node, after releasing the constants that it uses last.
  uint64_t bytes_left_for(const Level& level, const Node& node) const {
    uint64_t bytes = budget_.bytes_left();
    for (const ValueId input : distinct_inputs(node)) {
      if (level.uses[input] > 1) continue;
      bytes =
          checked_add(bytes, budget_.bytes_of(*level.graph.constant(input))).value_or(UINT64_MAX);
    }
    return bytes;
  }

  // Sizes and work are estimated from the types in the graph. Where these are dynamic, the
  // evaluator and the result must stay within the rest of the budget, unless the computation alone
  // may already exceed it.
  Status evaluate_within_budget(Level& level, NodeId id) {
    const Graph& graph = level.graph;
    const Node& node = graph.nodes[id];
    const std::optional<uint64_t> bytes = known_output_bytes(graph, node);
    const uint64_t most = limit(graph, node);
    if (!bytes || *bytes > most) return Status::ok_status();
    const std::optional<uint64_t> work = evaluation_work(graph, node);
    if (!work || (can_grow(node.op_type) && is_output_open(graph, node)))
      return Status::ok_status();
    const uint64_t left = bytes_left_for(level, node);
    if (*bytes > left) {
      note_byte_limit(graph, id, *bytes);
    } else if (*work > budget_.work_left_for_a_node()) {
      note_work_limit(graph, id, *work);
    } else {
      budget_.spend(*work);
      return evaluate(level, id, most, left);
    }
    return Status::ok_status();
  }

  // `most` bytes may be kept of any node, `left` of this one.
  Status evaluate(Level& level, NodeId id, uint64_t most, uint64_t left) {
    const Graph& graph = level.graph;
    EvaluationLimit limit{.max_output_bytes = std::min(most, left),
                          .cancellation = options_.cancellation};
    Result<std::vector<Tensor>> values = evaluator_.evaluate(graph, id, limit);
    EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
    Status status = values.ok() ? check_result(graph, id, *values, limit) : values.status();
    if (status.ok()) {
      if (is_output_open(graph, graph.nodes[id])) {
        for (const Tensor& value : *values) budget_.spend(access_work(value));
      }
      replace(level, id, std::move(values).value());
    } else if (limit.is_exceeded && left < most) {
      note_byte_limit(graph, id, left + 1);
    } else if (report_.skipped.size() < kMaxSkipped) {
      report_.skipped.push_back(
          formatted("{} is not folded: {}", graph::describe_node(graph, id), status.message()));
    }
    return Status::ok_status();
  }

  void note_byte_limit(const Graph& graph, NodeId id, uint64_t bytes) {
    if (report_.over_budget++ > 0) return;
    report_.budget_note = formatted(
        "the result of {} needs {} bytes or more, but {} remain of {}={}; "
        "raise the limit to fold it",
        graph::describe_node(graph, id), bytes, budget_.bytes_left(), kMaxFoldedBytesKey,
        budget_.limits().max_bytes);
  }

  void note_work_limit(const Graph& graph, NodeId id, uint64_t work) {
    if (report_.over_budget++ > 0) return;
    report_.budget_note = formatted(
        "{} takes {} units of work, but a single node may take {} of the remainder of {}={}; "
        "raise the limit to fold it",
        graph::describe_node(graph, id), work, budget_.work_left_for_a_node(), kMaxFoldingWorkKey,
        budget_.limits().max_work);
  }

  // The evaluator is plugin code: what it returns is checked like a file.
  static Status check_result(const Graph& graph, NodeId id, const std::vector<Tensor>& values,
                             EvaluationLimit& limit) {
    const Node& node = graph.nodes[id];
    const auto fail = [](const std::string& what) { return Status(StatusCode::kEpFail, what); };
    if (values.size() != node.outputs.size()) {
      return fail(formatted("evaluation gave {} outputs instead of {}", values.size(),
                            node.outputs.size()));
    }
    uint64_t total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Value& value = graph.values[node.outputs[i]];
      if (!is_complete(values[i])) {
        return fail(formatted("evaluation gave output {} a size that contradicts its shape",
                              quote(value.name)));
      }
      if (!agrees(value.type, values[i])) {
        return fail(
            formatted("evaluation gave output {} a type or shape that contradicts the graph",
                      quote(value.name)));
      }
      total += stored_bytes(values[i]);
    }
    if (total <= limit.max_output_bytes) return Status::ok_status();
    limit.is_exceeded = true;
    return fail("the result is too large to keep");
  }

  static bool is_complete(const Tensor& tensor) {
    const auto count = graph::element_count(tensor.shape);
    if (tensor.type == graph::ElementType::kString) {
      return count && tensor.strings && tensor.strings->size() == *count;
    }
    const auto bytes = graph::byte_size(tensor.type, tensor.shape);
    return bytes && *bytes == tensor.data.bytes.size();
  }

  static bool agrees(const graph::ValueType& type, const Tensor& tensor) {
    if (type.kind == graph::ValueKind::kUnknown) return true;
    if (type.kind != graph::ValueKind::kTensor) return false;
    if (type.element != graph::ElementType::kUndefined && type.element != tensor.type) return false;
    if (!type.shape) return true;
    if (type.shape->size() != tensor.shape.size()) return false;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const int64_t stated = (*type.shape)[i];
      if (graph::is_static_dim(stated) && stated != tensor.shape[i]) return false;
    }
    return true;
  }

  // The outputs become initializers; the node loses them, and dead code removal deletes it.
  void replace(Level& level, NodeId id, std::vector<Tensor> values) {
    Graph& graph = level.graph;
    Node& node = graph.nodes[id];
    for (size_t i = 0; i < values.size(); ++i) {
      const ValueId output = std::exchange(node.outputs[i], kNoValue);
      if (output == kNoValue) continue;
      report_.folded_bytes += stored_bytes(values[i]);
      if (level.uses[output] > 0) set_constant(graph, output, std::move(values[i]));
    }
    for (const ValueId input : distinct_inputs(node)) {
      if (graph.constant(input) != nullptr) release(level, input);
    }
    ++report_.folded_nodes;
  }

  static constexpr size_t kMaxSkipped = 100;

  Evaluator& evaluator_;
  FoldBudget& budget_;
  const FoldOptions& options_;
  FoldReport report_;
  bool took_over_ = false;  // whether a body took over a constant of the enclosing graph
};

}  // namespace

bool is_random(const Graph& graph, const Node& node) {
  constexpr std::array<std::string_view, 6> kOperators = {"RandomNormal",  "RandomNormalLike",
                                                          "RandomUniform", "RandomUniformLike",
                                                          "Multinomial",   "Bernoulli"};
  return node.domain.empty() && (contains(kOperators, node.op_type) || trains(graph, node));
}

Result<FoldReport> fold_constants(Graph& graph, Evaluator& evaluator, FoldBudget& budget,
                                  const FoldOptions& options) {
  budget.recount(graph);
  Folder folder(evaluator, budget, options);
  EPHOST_RETURN_IF_ERROR(folder.run(graph));
  return std::move(folder).take_report();
}

Result<FoldReport> fold_level(Graph& graph, Evaluator& evaluator, FoldBudget& budget,
                              const FoldOptions& options) {
  Folder folder(evaluator, budget, options);
  EPHOST_RETURN_IF_ERROR(folder.run_level(graph));
  return std::move(folder).take_report();
}

}  // namespace ephost::optimize
