#include "plugins/dnnl/capability/row_chains.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/dnnl/executor/primitives/row_primitive.h"
#include "plugins/dnnl/lowering/lowering.h"

namespace ephost_dnnl {
namespace {

class ChainFinder {
 public:
  ChainFinder(const eph::GraphView& graph, const dnnl::engine& engine, int64_t least_rows)
      : graph_(graph),
        engine_(engine),
        least_rows_(least_rows),
        units_(find_units(graph, kExampleExtent)),
        unit_of_node_(graph.node_count(), 0),
        is_used_(units_.size(), false) {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      for (const uint32_t node : units_[i].nodes) {
        unit_of_node_[node] = i;
        is_used_[i] = is_used_[i] || graph.node(node).is_taken();
      }
    }
  }

  std::vector<std::vector<uint32_t>> find() {
    std::vector<std::vector<uint32_t>> chains;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!is_used_[i] && begins_with_open_rows(units_[i]) && is_accepted({units_[i]})) {
        chains.push_back(follow(i));
      }
    }
    return chains;
  }

 private:
  [[nodiscard]] bool is_product(const Unit& unit) const {
    const std::string_view op_type = graph_.node(unit.nodes.back()).op_type();
    return unit.kind == Unit::Kind::kNode && (op_type == "MatMul" || op_type == "Gemm");
  }

  // Whether the unit is a product of a value with enough rows whose extents are not all known. If
  // they are, it is for the partitions with static shapes.
  [[nodiscard]] bool begins_with_open_rows(const Unit& unit) const {
    if (!is_product(unit)) return false;
    const uint32_t input = graph_.node(unit.nodes.back()).input(0);
    if (input == EPH_NONE || graph_.value(input).has_static_shape()) return false;
    int64_t rows = 1;  // at least, if there are any
    const Dims shape = graph_.value(input).shape().to_vector();
    for (std::size_t i = 0; i + 1 < shape.size() && rows < least_rows_; ++i) {
      rows *= std::clamp<int64_t>(shape[i], 1, kMaxElements);
    }
    return rows >= least_rows_;
  }

  [[nodiscard]] bool is_accepted(const std::vector<Unit>& units) const {
    try {
      LoweredPartition lowered = lower_units(graph_, units, kExampleExtent);
      fuse_row_products(lowered, engine_);
      return true;
    } catch (const Unsupported&) {
      return false;
    } catch (const eph::Failure&) {  // an attribute or constant of the wrong kind
      return false;
    }
  }

  // The one unit that reads what a unit computes, if there is one and it is free.
  [[nodiscard]] std::optional<std::size_t> reader_of(const Unit& unit) const {
    const eph::ValueView value = graph_.value(graph_.node(unit.nodes.back()).output(0));
    const eph::ArrayView<uint32_t> consumers = value.consumers();
    if (value.is_graph_output() || consumers.empty()) return std::nullopt;
    const std::size_t reader = unit_of_node_[consumers[0]];
    const bool is_only = std::all_of(consumers.begin(), consumers.end(),
                                     [&](uint32_t node) { return unit_of_node_[node] == reader; });
    if (!is_only || is_used_[reader]) return std::nullopt;
    return reader;
  }

  // The chain that begins with a unit, as long as possible. What follows a product is fused with
  // it, whatever came before the product, so each product begins a new list of units to try.
  std::vector<uint32_t> follow(std::size_t first) {
    std::vector<uint32_t> nodes;
    std::vector<Unit> from_last_product;
    std::optional<std::size_t> next = first;
    while (next) {
      const Unit& unit = units_[*next];
      if (is_product(unit)) from_last_product.clear();
      from_last_product.push_back(unit);
      if (!is_accepted(from_last_product)) break;
      nodes.insert(nodes.end(), unit.nodes.begin(), unit.nodes.end());
      is_used_[*next] = true;
      next = reader_of(unit);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  const eph::GraphView& graph_;
  const dnnl::engine& engine_;
  int64_t least_rows_;
  std::vector<Unit> units_;
  std::vector<std::size_t> unit_of_node_;
  std::vector<bool> is_used_;
};

}  // namespace

std::vector<std::vector<uint32_t>> find_row_chains(const eph::GraphView& graph,
                                                   const dnnl::engine& engine, int64_t least_rows) {
  for (uint32_t node = 0; node < graph.node_count(); ++node) {
    const uint32_t output = graph.node(node).output(0);
    if (output != EPH_NONE && !graph.value(output).has_static_shape()) {
      return ChainFinder(graph, engine, least_rows).find();
    }
  }
  return {};
}

}  // namespace ephost_dnnl
