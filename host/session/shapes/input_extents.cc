#include "host/session/shapes/input_extents.h"

#include <map>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {

InputExtents::InputExtents(const graph::Model& model, const ShapeWishes& wishes) {
  std::map<uint32_t, uint32_t> key_of_symbol;
  for (size_t input = 0; input < model.graph.inputs.size(); ++input) {
    const graph::Value& value = model.graph.values[model.graph.inputs[input]];
    const bool is_open_tensor = value.type.kind == graph::ValueKind::kTensor && value.type.shape &&
                                value.initializer == graph::kNoInitializer;
    if (!is_open_tensor) continue;
    const graph::Shape& shape = *value.type.shape;
    for (uint32_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t dim = shape[axis];
      if (graph::is_static_dim(dim)) continue;
      Place place{.input = input,
                  .axis = axis,
                  .rank = static_cast<uint32_t>(shape.size()),
                  .key = static_cast<uint32_t>(keys_.size()),
                  .element = value.type.element,
                  .input_name = value.name};
      if (graph::is_symbolic_dim(dim)) {
        const uint32_t symbol = graph::dim_symbol(dim);
        if (!wishes.wants(symbol)) continue;
        place.symbol = model.symbols[symbol];
        place.key = key_of_symbol.emplace(symbol, place.key).first->second;
      } else if (!wishes.all) {
        continue;
      }
      if (place.key == keys_.size()) {
        keys_.push_back(static_cast<uint32_t>(places_.size()));
        names_.push_back(place.symbol.empty() ? formatted("{}[{}]", value.name, axis)
                                              : place.symbol);
      }
      places_.push_back(std::move(place));
    }
  }
}

bool InputExtents::read(std::span<const runtime::Value* const> inputs,
                        std::span<int64_t> out) const {
  uint32_t next = 0;
  for (const Place& place : places_) {
    const runtime::Value* const value = inputs[place.input];
    if (value == nullptr || value->kind() != ValueKind::kTensor) return false;
    const std::vector<int64_t>& shape = value->shape();
    if (shape.size() != place.rank || value->element_type() != place.element) return false;
    const int64_t extent = shape[place.axis];
    if (place.key == next) {
      if (extent <= 0) return false;
      out[next++] = extent;
    } else if (out[place.key] != extent) {
      return false;
    }
  }
  return true;
}

void InputExtents::add_overrides(std::span<const int64_t> extents,
                                 onnx_io::DimensionOverrides& overrides) const {
  for (const Place& place : places_) {
    overrides.by_input[place.input_name].assign(place.rank, -1);
  }
  for (const Place& place : places_) {
    overrides.by_input[place.input_name][place.axis] = extents[place.key];
  }
}

std::string InputExtents::describe(std::span<const int64_t> extents) const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < extents.size(); ++i) {
    texts.push_back(formatted("{}={}", names_[i], extents[i]));
  }
  return join(texts, ", ");
}

}  // namespace ephost::session
