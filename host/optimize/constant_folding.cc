#include "host/optimize/constant_folding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/text.h"
#include "host/graph/subgraphs.h"
#include "host/optimize/constant_nodes.h"
#include "host/optimize/dead_code.h"
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

bool is_random(std::string_view op) {
  return contains(
      std::array<std::string_view, 6>{"RandomNormal", "RandomNormalLike", "RandomUniform",
                                      "RandomUniformLike", "Multinomial", "Bernoulli"},
      op);
}

// Operators whose output is not bounded by the size of their inputs.
bool can_grow(std::string_view op) {
  return contains(
      std::array<std::string_view, 11>{"ConstantOfShape", "Expand", "EyeLike", "OneHot", "Pad",
                                       "Range", "Resize", "Tile", "Upsample", "Einsum", "Col2Im"},
      op);
}

uint64_t stored_bytes(const Tensor& tensor) {
  uint64_t bytes = tensor.data.bytes.size();
  if (tensor.strings) {
    for (const std::string& element : *tensor.strings) bytes += element.size();
  }
  return bytes;
}

class Folder {
 public:
  Folder(Evaluator& evaluator, const FoldOptions& options)
      : evaluator_(evaluator), options_(options) {}

  void fold(Graph& graph) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      Node& node = graph.nodes[id];
      graph::for_each_subgraph(node, [&](Graph& subgraph) {
        take_over_constants(graph, subgraph);
        fold(subgraph);
      });
      if (graph::has_subgraphs(node) || (!options_.computes && node.op_type != "Constant"))
        continue;
      if (std::optional<Tensor> value = value_of_constant_node(graph, node)) {
        std::vector<Tensor> values;
        values.push_back(*std::move(value));
        replace(graph, id, std::move(values));
      } else if (is_foldable(graph, node) && evaluator_.can_evaluate(graph, id)) {
        evaluate(graph, id);
      }
    }
  }

  FoldReport take_report() && { return std::move(report_); }

 private:
  static void set_constant(Graph& graph, ValueId id, Tensor tensor) {
    Value& value = graph.values[id];
    value.type = {.kind = graph::ValueKind::kTensor, .element = tensor.type, .shape = tensor.shape};
    value.producer = graph::kNoNode;
    value.initializer = static_cast<uint32_t>(graph.initializers.size());
    graph.initializers.push_back(std::move(tensor));
  }

  static void take_over_constants(const Graph& enclosing, Graph& subgraph) {
    for (ValueId id = 0; id < subgraph.values.size(); ++id) {
      const ValueId outer = subgraph.values[id].outer;
      const Tensor* constant = outer == kNoValue ? nullptr : enclosing.constant(outer);
      if (!constant) continue;
      subgraph.values[id].outer = kNoValue;
      set_constant(subgraph, id, *constant);
    }
  }

  bool is_foldable(const Graph& graph, const Node& node) const {
    if (!node.domain.empty() || is_random(node.op_type) || trains(graph, node)) return false;
    const bool constant_inputs = std::all_of(
        node.inputs.begin(), node.inputs.end(),
        [&](ValueId input) { return input == kNoValue || graph.constant(input) != nullptr; });
    const bool has_output = std::any_of(node.outputs.begin(), node.outputs.end(),
                                        [](ValueId output) { return output != kNoValue; });
    // `Constant` in a form that stays, and what else takes its value from nowhere.
    const bool has_input = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [](ValueId input) { return input != kNoValue; });
    return constant_inputs && has_input && has_output && is_small(graph, node);
  }

  uint64_t limit(const Graph& graph, const Node& node) const {
    uint64_t input_bytes = 0;
    for (const ValueId input : node.inputs) {
      if (input != kNoValue) input_bytes += stored_bytes(*graph.constant(input));
    }
    return std::max(input_bytes, options_.max_output_bytes);
  }

  // By the types in the graph; where they are open, the result is looked at instead, unless
  // computing it may already be too much.
  bool is_small(const Graph& graph, const Node& node) const {
    uint64_t total = 0;
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const graph::ValueType& type = graph.values[output].type;
      const bool is_static = type.shape && graph::is_static(*type.shape);
      if (!is_static && can_grow(node.op_type)) return false;
      if (!is_static || graph::element_bits(type.element) == 0) continue;
      const auto bytes = graph::byte_size(type.element, *type.shape);
      const auto sum = bytes ? checked_add(total, *bytes) : std::nullopt;
      if (!sum) return false;
      total = *sum;
    }
    return total <= limit(graph, node);
  }

  void evaluate(Graph& graph, NodeId id) {
    Result<std::vector<Tensor>> values = evaluator_.evaluate(graph, id);
    Status status = values.ok() ? check_result(graph, id, *values) : values.status();
    if (status.ok()) {
      replace(graph, id, std::move(values).value());
    } else if (report_.skipped.size() < kMaxSkipped) {
      report_.skipped.push_back(graph::describe_node(graph, id) +
                                " is not folded: " + status.message());
    }
  }

  // The evaluator is a plugin's code: what it returns is checked like a file.
  Status check_result(const Graph& graph, NodeId id, const std::vector<Tensor>& values) const {
    const Node& node = graph.nodes[id];
    const auto fail = [](const std::string& what) { return Status(StatusCode::kEpFail, what); };
    if (values.size() != node.outputs.size()) {
      return fail("evaluation gave " + std::to_string(values.size()) + " outputs instead of " +
                  std::to_string(node.outputs.size()));
    }
    uint64_t total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Value& value = graph.values[node.outputs[i]];
      if (!is_complete(values[i])) {
        return fail("evaluation gave output " + quote(value.name) +
                    " a size that its shape denies");
      }
      if (!agrees(value.type, values[i])) {
        return fail("evaluation gave output " + quote(value.name) +
                    " a type or shape other than the graph states");
      }
      total += stored_bytes(values[i]);
    }
    return total <= limit(graph, node) ? Status() : fail("the result is too large to keep");
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

  // The outputs become initializers; the node loses them, and dead code removal takes it away.
  void replace(Graph& graph, NodeId id, std::vector<Tensor> values) {
    Node& node = graph.nodes[id];
    for (size_t i = 0; i < values.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      report_.folded_bytes += stored_bytes(values[i]);
      set_constant(graph, node.outputs[i], std::move(values[i]));
      node.outputs[i] = kNoValue;
    }
    ++report_.folded_nodes;
  }

  static constexpr size_t kMaxSkipped = 100;

  Evaluator& evaluator_;
  const FoldOptions& options_;
  FoldReport report_;
};

}  // namespace

Result<FoldReport> fold_constants(Graph& graph, Evaluator& evaluator, const FoldOptions& options) {
  Folder folder(evaluator, options);
  folder.fold(graph);
  remove_dead_code(graph, options.removes_dead_code ? DeadCode::kAll : DeadCode::kOutputless);
  return std::move(folder).take_report();
}

}  // namespace ephost::optimize
