#include "plugins/dnnl/executor/tensor_places.h"

#include <algorithm>

namespace ephost_dnnl {

TensorPlaces::TensorPlaces(const Recipe& recipe, ConstantSource& constants, ProgramBuilder& builder)
    : recipe_(recipe),
      constants_(constants),
      builder_(builder),
      places_(recipe.tensors.size()),
      uses_(count_uses(recipe)) {
  for (const TensorId tensor : recipe.constants) {
    places_[tensor].constant =
        Constant{tensor, row_major(recipe.dims(tensor), recipe.type(tensor))};
  }
  for (uint32_t i = 0; i < recipe.inputs.size(); ++i) {
    const TensorId tensor = recipe.inputs[i].tensor;
    place(tensor, {builder.add_port(Place::kInput, i),
                   row_major(recipe.dims(tensor), recipe.type(tensor))});
  }
}

Operand TensorPlaces::operand(TensorId tensor) const {
  const Places& places = places_[tensor];
  if (places.constant) return {recipe_.dims(tensor), places.constant->stored, true};
  return {recipe_.dims(tensor), places.placements.front().layout, false};
}

void TensorPlaces::place(TensorId tensor, Placement placement) {
  if (held_by_.size() <= placement.buffer) held_by_.resize(placement.buffer + 1);
  held_by_[placement.buffer].push_back(tensor);
  places_[tensor].placements.push_back(std::move(placement));
}

std::optional<Placement> TensorPlaces::find(TensorId tensor, const Descriptor& wanted) const {
  for (const Placement& placement : places_[tensor].placements) {
    const std::optional<Descriptor> seen = reshape_view(placement.layout, dims_of(wanted));
    if (seen && same_layout(*seen, wanted)) return Placement{placement.buffer, wanted};
  }
  return std::nullopt;
}

Placement TensorPlaces::pack(const Constant& constant, const Descriptor& stored,
                             const Descriptor& wanted) {
  const std::pair key(constant.root, descriptor_bytes(stored) + descriptor_bytes(wanted));
  auto known = packed_.find(key);
  if (known == packed_.end()) {
    const uint32_t buffer = builder_.add_constant(constants_.get(constant.root, stored, wanted));
    known = packed_.emplace(key, buffer).first;
  }
  return {known->second, wanted};
}

Placement TensorPlaces::seen_as(TensorId tensor, const Dims& form, const std::string& label) {
  for (const Placement& placement : places_[tensor].placements) {
    if (std::optional<Descriptor> seen = reshape_view(placement.layout, form)) {
      return {placement.buffer, *std::move(seen)};
    }
  }
  const ElementType type = recipe_.type(tensor);
  const Placement plain = require(tensor, row_major(recipe_.dims(tensor), type), label);
  return {plain.buffer, row_major(form, type)};
}

Placement TensorPlaces::require(TensorId tensor, const Descriptor& wanted,
                                const std::string& label) {
  const Dims form = dims_of(wanted);
  // A reorder would turn one type into the other without its scale.
  if (type_of(wanted) != recipe_.type(tensor))
    throw NoPrimitive("another element type for " + label);
  if (const std::optional<Constant>& constant = places_[tensor].constant) {
    if (const std::optional<Descriptor> stored = reshape_view(constant->stored, form)) {
      return pack(*constant, *stored, wanted);
    }
    if (places_[tensor].placements.empty()) {
      place(tensor, pack(*constant, constant->stored,
                         row_major(recipe_.dims(tensor), recipe_.type(tensor))));
    }
  }
  if (std::optional<Placement> found = find(tensor, wanted)) return *std::move(found);

  const Placement source = seen_as(tensor, form, label);
  const uint32_t buffer = builder_.add_workspace(wanted.get_size());
  builder_.add_reorder(source.buffer, source.layout, buffer, wanted, label);
  if (const std::optional<Descriptor> seen = reshape_view(wanted, recipe_.dims(tensor))) {
    place(tensor, {buffer, *seen});
  }
  return {buffer, wanted};
}

bool TensorPlaces::is_dead(uint32_t buffer) const {
  if (buffer >= held_by_.size()) return false;
  return std::all_of(held_by_[buffer].begin(), held_by_[buffer].end(),
                     [&](TensorId tensor) { return uses_[tensor] == 0; });
}

}  // namespace ephost_dnnl
