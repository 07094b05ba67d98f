#include "plugins/dnnl/lowering/lowering.h"

#include <algorithm>
#include <optional>

#include "plugins/dnnl/lowering/node_lowerings.h"
#include "plugins/dnnl/lowering/patterns.h"

namespace ephost_dnnl {
namespace {

std::optional<Unit> match_pattern(const eph::GraphView& graph, uint32_t node) {
  const std::string_view op_type = graph.node(node).op_type();
  if (op_type == "Erf") return match_gelu(graph, node);
  if (op_type == "Div") return match_layer_normalization(graph, node);
  return std::nullopt;
}

// A pattern whose types or shapes don't fit counts as the single nodes that it consists of.
bool can_lower(const eph::GraphView& graph, const Unit& unit, int64_t open_extent) {
  try {
    static_cast<void>(lower_unit(graph, unit, open_extent));
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

TensorId add_pattern(ValueMap& values, const Unit& unit) {
  RecipeBuilder& builder = values.builder();
  const TensorId input = values.tensor(unit.input);
  if (unit.kind == Unit::Kind::kGelu) {
    return builder.add(Eltwise{EltwiseFunction::kGeluErf, 0, 0}, {input});
  }
  return builder.add(LayerNormalization{unit.epsilon},
                     {input, values.tensor(unit.scale), values.tensor(unit.bias)});
}

void add_unit(ValueMap& values, const Unit& unit) {
  const eph::NodeView last = values.graph().node(unit.nodes.back());
  values.builder().set_name(last.name());
  TensorId result = 0;
  if (unit.kind == Unit::Kind::kNode) {
    NodeContext context(last, values);
    result = find_node_lowering(last)(context);
  } else {
    result = add_pattern(values, unit);
  }
  values.require_stated_shape(last.output(0), result);
  values.bind(last.output(0), result);
}

}  // namespace

std::vector<Unit> find_units(const eph::GraphView& graph, int64_t open_extent) {
  std::vector<Unit> units;
  std::vector<bool> in_pattern(graph.node_count(), false);
  for (uint32_t node = 0; node < graph.node_count(); ++node) {
    std::optional<Unit> pattern = match_pattern(graph, node);
    if (!pattern || !can_lower(graph, *pattern, open_extent)) continue;
    for (const uint32_t member : pattern->nodes) in_pattern[member] = true;
    units.push_back(*std::move(pattern));
  }
  for (uint32_t node = 0; node < graph.node_count(); ++node) {
    if (in_pattern[node]) continue;
    Unit& unit = units.emplace_back();
    unit.nodes = {node};
  }
  std::sort(units.begin(), units.end(),
            [](const Unit& a, const Unit& b) { return a.nodes.back() < b.nodes.back(); });
  return units;
}

LoweredPartition lower_unit(const eph::GraphView& graph, const Unit& unit, int64_t open_extent) {
  return lower_units(graph, {unit}, open_extent);
}

LoweredPartition lower_units(const eph::GraphView& graph, const std::vector<Unit>& units,
                             int64_t open_extent) {
  RecipeBuilder builder;
  ValueMap values(graph, builder, open_extent);
  for (const Unit& unit : units) add_unit(values, unit);
  const uint32_t output = graph.node(units.back().nodes.back()).output(0);
  builder.add_output(values.tensor(output), values.shape(output));
  return std::move(builder).finish();
}

LoweredPartition lower_partition(const eph::GraphView& graph, int64_t open_extent) {
  RecipeBuilder builder;
  ValueMap values(graph, builder, open_extent);
  const auto guarded = [](const std::string& what, const auto& body) {
    try {
      body();
    } catch (const Unsupported& reason) {
      throw eph::Failure(EPH_NOT_IMPLEMENTED,
                         "the dnnl provider cannot compile " + what + ": " + reason.what());
    }
  };
  for (const uint32_t input : graph.inputs()) {
    guarded("an input", [&] { values.tensor(input); });
  }
  for (const Unit& unit : find_units(graph, open_extent)) {
    const eph::NodeView last = graph.node(unit.nodes.back());
    guarded(std::string(last.op_type()) + " node '" + std::string(last.name()) + "'",
            [&] { add_unit(values, unit); });
  }
  for (const uint32_t output : graph.outputs()) {
    guarded("an output", [&] { builder.add_output(values.tensor(output), values.shape(output)); });
  }
  return std::move(builder).finish();
}

}  // namespace ephost_dnnl
