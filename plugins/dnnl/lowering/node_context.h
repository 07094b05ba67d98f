// node_context.h: the view that the lowering has of one node: its attributes, its inputs as tensors
// of the recipe that is being built, and its constants. Every accessor refuses what the provider
// cannot take (other element types, dynamic shapes) by throwing Unsupported with the reason.
#pragma once

#include <ephost/plugin.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl {

// The tensors that represent the values of a graph. A value that no node has produced becomes an
// input of the recipe, or a constant, when it is first requested.
class ValueMap {
 public:
  // `open_extent` as in lowering.h.
  ValueMap(const eph::GraphView& graph, RecipeBuilder& builder, int64_t open_extent = 0)
      : graph_(graph), builder_(builder), open_extent_(open_extent) {}

  TensorId tensor(uint32_t value);
  void bind(uint32_t value, TensorId tensor) { tensors_[value] = tensor; }

  // The shape of a tensor value of floats or 8-bit integers, with the stand-in for open extents.
  // Throws Unsupported for anything else.
  [[nodiscard]] Dims shape(uint32_t value) const;
  // Its element type. Throws Unsupported if it has none that recipes have.
  [[nodiscard]] ElementType type(uint32_t value) const;
  // Throws Unsupported unless the model declares for a value what the recipe's tensor is.
  void require_stated_shape(uint32_t value, TensorId tensor) const;

  [[nodiscard]] const eph::GraphView& graph() const { return graph_; }
  [[nodiscard]] RecipeBuilder& builder() { return builder_; }

 private:
  const eph::GraphView& graph_;
  RecipeBuilder& builder_;
  int64_t open_extent_;
  std::map<uint32_t, TensorId> tensors_;
};

class NodeContext {
 public:
  NodeContext(const eph::NodeView& node, ValueMap& values) : node_(node), values_(values) {}

  [[nodiscard]] const eph::NodeView& node() const { return node_; }
  [[nodiscard]] RecipeBuilder& builder() { return values_.builder(); }

  // Whether input i is present.
  [[nodiscard]] bool has_input(std::size_t i) const { return node_.input(i) != EPH_NONE; }
  [[nodiscard]] std::size_t input_count() const { return node_.inputs().size(); }
  // The tensor of an input. Throws Unsupported if it is omitted.
  TensorId input(std::size_t i);
  // The dimensions of an input in the recipe.
  [[nodiscard]] const Dims& dims(std::size_t i) { return builder().dims(input(i)); }

  // The shape that the model declares for output 0, in the recipe's form.
  [[nodiscard]] Dims output_dims() const;

  // The element type that the model declares for output 0.
  [[nodiscard]] ElementType output_type() const { return values_.type(node_.output(0)); }

  // A constant input; null if it is omitted. Throws Unsupported if it is not constant.
  [[nodiscard]] const eph_value* constant(std::size_t i) const;
  // The elements of a constant input; nothing if it is omitted. Throws Unsupported if it is not
  // constant.
  [[nodiscard]] std::optional<std::vector<int64_t>> constant_ints(std::size_t i) const;
  [[nodiscard]] std::optional<float> constant_scalar(std::size_t i) const;

  // An INTS attribute, or `count` times `fallback`. Throws Unsupported if the count differs.
  [[nodiscard]] Dims ints_or(std::string_view name, std::size_t count, int64_t fallback) const;

  // Whether output i is read by a node or is an output of the graph.
  [[nodiscard]] bool is_read(std::size_t i) const;
  // Throws Unsupported if an output other than the first is read.
  void require_single_output() const;
  // Says which tensor is output i, which is not the first. Throws Unsupported if the model declares
  // another shape.
  void bind_output(std::size_t i, TensorId tensor);

  [[nodiscard]] const eph::GraphView& graph() const { return values_.graph(); }

 private:
  const eph::NodeView& node_;
  ValueMap& values_;
};

// The axis counted from the front. Throws Unsupported if it is out of range.
[[nodiscard]] int64_t normalised_axis(int64_t axis, std::size_t rank);

}  // namespace ephost_dnnl
