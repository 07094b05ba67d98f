#include "host/graph/checks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/subgraphs.h"

namespace ephost::graph {
namespace {

// Checks one graph level. `place_` prefixes the messages of nested graphs.
class LevelCheck {
 public:
  LevelCheck(const Graph& graph, const Graph* enclosing, std::string place, uint32_t depth)
      : graph_(graph), enclosing_(enclosing), place_(std::move(place)), depth_(depth) {}

  Status run() {
    if (depth_ > kMaxNesting) {
      return error(formatted("graphs are nested more than {} levels deep", kMaxNesting));
    }
    available_.assign(graph_.values.size(), false);
    EPHOST_RETURN_IF_ERROR(check_lists());
    EPHOST_RETURN_IF_ERROR(check_values());
    EPHOST_RETURN_IF_ERROR(check_initializers());
    EPHOST_RETURN_IF_ERROR(check_annotations());
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) EPHOST_RETURN_IF_ERROR(check_node(id));
    for (const ValueId id : graph_.outputs) {
      if (!available_[id]) return error("graph output " + name_of(id) + " has no producer");
    }
    return check_connections();
  }

 private:
  Status error(const std::string& what) const {
    return {StatusCode::kInvalidGraph,
            place_.empty() ? what : formatted("in {}: {}", place_, what)};
  }

  std::string name_of(ValueId id) const { return quote(graph_.values[id].name); }

  bool in_range(ValueId id) const { return id < graph_.values.size(); }

  Status check_lists() {
    for (const auto& [ids, what] :
         {std::pair(&graph_.inputs, "graph input"), std::pair(&graph_.outputs, "graph output")}) {
      for (const ValueId id : *ids) {
        if (!in_range(id)) return error(formatted("{} {} is not a value", what, id));
      }
    }
    for (const ValueId id : graph_.inputs) {
      if (available_[id]) return error("value " + name_of(id) + " is listed twice as graph input");
      available_[id] = true;
    }
    return Status::ok_status();
  }

  // Checks names, and the sources other than nodes and graph inputs.
  Status check_values() {
    std::unordered_set<std::string_view> names;
    names.reserve(graph_.values.size());
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (value.name.empty()) return error(formatted("value #{} has no name", id));
      if (!names.insert(value.name).second) return error("two values are named " + name_of(id));
      if (value.outer == kNoValue) continue;
      if (!enclosing_) return error("value " + name_of(id) + " is captured, but no graph encloses");
      if (value.outer >= enclosing_->values.size()) {
        return error("value " + name_of(id) + " captures a value that does not exist");
      }
      if (available_[id] || value.initializer != kNoInitializer) return two_sources(id);
      available_[id] = true;
    }
    return Status::ok_status();
  }

  Status two_sources(ValueId id) const {
    return error("value " + name_of(id) + " has two sources; a value is assigned once");
  }

  Status check_initializers() {
    std::vector<bool> owned(graph_.initializers.size(), false);
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      const uint32_t index = graph_.values[id].initializer;
      if (index == kNoInitializer) continue;
      if (index >= owned.size())
        return error("value " + name_of(id) + " has no initializer at its index");
      if (owned[index]) return error("value " + name_of(id) + " shares another's initializer");
      owned[index] = true;
      available_[id] = true;  // including the default of a graph input
      EPHOST_RETURN_IF_ERROR(
          check_tensor(graph_.initializers[index], [&] { return "initializer " + name_of(id); }));
    }
    if (std::find(owned.begin(), owned.end(), false) != owned.end()) {
      return error("an initializer does not belong to a value");
    }
    return Status::ok_status();
  }

  Status check_annotations() const {
    ValueId last = kNoValue;
    for (const QuantizationAnnotation& annotation : graph_.annotations) {
      const auto exists = [&](const auto& entry) { return in_range(entry.second); };
      if (!in_range(annotation.value) || !std::ranges::all_of(annotation.parameters, exists)) {
        return error("a quantization annotation names a value that does not exist");
      }
      if (last != kNoValue && annotation.value <= last) {
        return error("the quantization annotation of value " + name_of(annotation.value) +
                     " is out of order");
      }
      last = annotation.value;
    }
    return Status::ok_status();
  }

  // `describe` is only called if the tensor is invalid.
  template <class Describe>
  Status check_tensor(const Tensor& tensor, Describe describe) const {
    if (tensor.type == ElementType::kString) {
      const auto count = element_count(tensor.shape);
      const bool complete = count && tensor.strings && tensor.strings->size() == *count;
      return complete ? Status::ok_status()
                      : error(describe() + " has too few or too many strings for its shape");
    }
    const auto bytes = byte_size(tensor.type, tensor.shape);
    if (bytes && tensor.data.bytes.size() == *bytes) return Status::ok_status();
    return error(formatted("{} has {} bytes, but its shape needs {}", describe(),
                           tensor.data.bytes.size(),
                           bytes ? std::to_string(*bytes) : "more than is possible"));
  }

  Status check_node(NodeId id) {
    const Node& node = graph_.nodes[id];
    for (const std::vector<ValueId>* used : {&node.inputs, &node.implicit_inputs}) {
      for (const ValueId input : *used) {
        if (input != kNoValue) EPHOST_RETURN_IF_ERROR(check_use(id, input));
      }
    }
    for (const ValueId kept : node.kept_constants) {
      if (in_range(kept) && graph_.values[kept].is_constant()) continue;
      return error(describe_node(graph_, id) + " keeps a value that is not a constant");
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      if (!in_range(output))
        return error(describe_node(graph_, id) + " has an output out of range");
      if (available_[output]) return two_sources(output);
      available_[output] = true;
    }
    EPHOST_RETURN_IF_ERROR(check_attributes(id));
    return check_subgraphs(id);
  }

  Status check_use(NodeId id, ValueId input) const {
    if (!in_range(input)) return error(describe_node(graph_, id) + " has an input out of range");
    if (available_[input]) return Status::ok_status();
    const NodeId producer = graph_.values[input].producer;
    return error(
        formatted("{} uses value {}{}", describe_node(graph_, id), name_of(input),
                  producer == kNoNode ? ", which nothing produces" : " before it is produced"));
  }

  Status check_attributes(NodeId id) const {
    for (const Attribute& attribute : graph_.nodes[id].attributes) {
      const auto describe = [&] {
        return formatted("attribute {} of {}", quote(attribute.name), describe_node(graph_, id));
      };
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) {
        EPHOST_RETURN_IF_ERROR(check_tensor(*tensor, describe));
      } else if (const auto* tensors = std::get_if<std::vector<Tensor>>(&attribute.value)) {
        for (const Tensor& element : *tensors) {
          EPHOST_RETURN_IF_ERROR(check_tensor(element, describe));
        }
      }
    }
    return Status::ok_status();
  }

  Status check_subgraphs(NodeId id) const {
    Status status;
    for_each_subgraph(graph_.nodes[id], [&](const Graph& subgraph) {
      if (!status.ok()) return;
      const std::string place = (place_.empty() ? "" : place_ + ", ") + "graph " +
                                quote(subgraph.name) + " of " + describe_node(graph_, id);
      status = LevelCheck(subgraph, &graph_, place, depth_ + 1).run();
    });
    return status;
  }

  // Rebuilds what `connect` derives, with counters instead of lists.
  Status check_connections() const {
    const size_t count = graph_.values.size();
    std::vector<NodeId> producers(count, kNoNode);
    std::vector<size_t> uses(count, 0);
    std::vector<bool> is_input(count, false), is_output(count, false);
    for (const ValueId id : graph_.inputs) is_input[id] = true;
    for (const ValueId id : graph_.outputs) is_output[id] = true;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.implicit_inputs != captured_values(node)) return stale(describe_node(graph_, id));
      for (const ValueId output : node.outputs) {
        if (output != kNoValue) producers[output] = id;
      }
      for (const std::vector<ValueId>* used :
           {&node.inputs, &node.implicit_inputs, &node.kept_constants}) {
        for (const ValueId value : *used) {
          if (value == kNoValue) continue;
          const std::vector<NodeId>& consumers = graph_.values[value].consumers;
          // The next recorded consumer must be this node, unless it already was.
          const bool again = uses[value] > 0 && consumers[uses[value] - 1] == id;
          if (again) continue;
          if (uses[value] >= consumers.size() || consumers[uses[value]] != id) {
            return stale("value " + name_of(value));
          }
          ++uses[value];
        }
      }
    }
    for (ValueId id = 0; id < count; ++id) {
      const Value& value = graph_.values[id];
      const bool current = value.producer == producers[id] && value.consumers.size() == uses[id] &&
                           value.is_graph_input == is_input[id] &&
                           value.is_graph_output == is_output[id];
      if (!current) return stale("value " + name_of(id));
    }
    return Status::ok_status();
  }

  Status stale(const std::string& what) const {
    return error("the connections of " + what + " are out of date; call connect()");
  }

  const Graph& graph_;
  const Graph* enclosing_;
  std::string place_;
  uint32_t depth_;
  std::vector<bool> available_;
};

}  // namespace

Status check_graph(const Graph& graph) { return LevelCheck(graph, nullptr, "", 1).run(); }

}  // namespace ephost::graph
