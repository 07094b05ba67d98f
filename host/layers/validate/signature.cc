#include "host/layers/validate/signature.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/layers/decorate/host_object.h"

namespace ephost::layers {
namespace {

Signature::Slot slot_of(const eph_graph& graph, uint32_t value) {
  Signature::Slot slot;
  eph_error ignored = {&kIgnoresMessages};
  eph_value_info info = {};
  info.struct_size = sizeof(info);
  if (value == EPH_NONE || graph.api->get_value(&graph, value, &info, &ignored) != EPH_OK) {
    return slot;
  }
  if (info.kind != EPH_KIND_TENSOR || info.rank < 0) return slot;
  slot.is_known = true;
  for (int32_t i = 0; i < info.rank; ++i) {
    const eph_string symbol = info.dim_names == nullptr ? eph_string{} : info.dim_names[i];
    slot.shape.push_back({info.shape[i], std::string(symbol.data, symbol.size)});
  }
  return slot;
}

std::vector<Signature::Slot> slots_of(const eph_graph& graph, const uint32_t* values,
                                      uint64_t count) {
  std::vector<Signature::Slot> slots;
  for (uint64_t i = 0; i < count; ++i) slots.push_back(slot_of(graph, values[i]));
  return slots;
}

// What symbols stand for in a run.
class Extents {
 public:
  // Where `extent` was first seen for the symbol; empty if it is the same one now.
  struct Known {
    int64_t extent = 0;
    std::string where;
  };
  const Known* conflict(const std::string& symbol, int64_t extent, const std::string& where) {
    const auto [known, is_new] = known_.try_emplace(symbol, Known{extent, where});
    return is_new || known->second.extent == extent ? nullptr : &known->second;
  }

 private:
  std::map<std::string, Known> known_;
};

}  // namespace

bool Signature::Slot::is_open() const {
  return !is_known || std::any_of(shape.begin(), shape.end(),
                                  [](const Dimension& one) { return one.extent < 0; });
}

Signature Signature::of_graph(const eph_graph& graph) {
  Signature signature;
  eph_error ignored = {&kIgnoresMessages};
  eph_graph_info info = {};
  info.struct_size = sizeof(info);
  if (graph.api->get_graph(&graph, &info, &ignored) != EPH_OK) return signature;
  signature.inputs = slots_of(graph, info.inputs, info.input_count);
  signature.outputs = slots_of(graph, info.outputs, info.output_count);
  return signature;
}

Signature Signature::of_node(const eph_graph& graph, uint32_t node) {
  Signature signature;
  eph_error ignored = {&kIgnoresMessages};
  eph_node_info info = {};
  info.struct_size = sizeof(info);
  if (graph.api->get_node(&graph, node, &info, &ignored) != EPH_OK) return signature;
  signature.inputs = slots_of(graph, info.inputs, info.input_count);
  signature.outputs = slots_of(graph, info.outputs, info.output_count);
  return signature;
}

std::vector<bool> Signature::open_outputs() const {
  std::vector<bool> open;
  for (const Slot& slot : outputs) open.push_back(slot.is_open());
  return open;
}

std::vector<Finding> Signature::findings(const eph_run& run) const {
  std::vector<Finding> found;
  Extents extents;
  const auto look = [&](const Slot& slot, const eph_value* value, const std::string& name,
                        bool is_output) {
    if (!slot.is_known || value == nullptr || value->kind != EPH_KIND_TENSOR) return;
    if (value->data == nullptr || value->rank != slot.shape.size()) return;
    for (uint32_t axis = 0; axis < value->rank; ++axis) {
      const Dimension& dimension = slot.shape[axis];
      if (dimension.extent >= 0 || dimension.symbol.empty()) continue;
      const std::string where = formatted("axis {} of {}", axis, name);
      const auto* known = extents.conflict(dimension.symbol, value->shape[axis], where);
      if (known == nullptr || !is_output) continue;
      found.push_back(
          {62,
           formatted("gave {} the extent {}, where {} has {}: both are {}", where,
                     value->shape[axis], known->where, known->extent, quote(dimension.symbol)),
           "compute shapes of outputs from those of the inputs of the same run"});
    }
  };
  for (uint32_t i = 0; i < run.input_count && i < inputs.size(); ++i) {
    look(inputs[i], run.inputs[i], formatted("input {}", i), false);
  }
  for (uint32_t i = 0; i < run.output_count && i < outputs.size(); ++i) {
    look(outputs[i], run.outputs[i], formatted("output {}", i), true);
  }
  return found;
}

}  // namespace ephost::layers
