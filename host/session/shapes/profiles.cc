#include "host/session/shapes/profiles.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

// An input is the shape of something only if it has few elements.
constexpr uint64_t kMaxElements = 64;

// The elements of an input that is a scalar or a list of integers.
void add_elements(const graph::Value& value, bridge::ShapeProfile& open) {
  const graph::Shape& shape = *value.type.shape;
  const std::optional<uint64_t> count = graph::element_count(shape);
  const bool is_integer = value.type.element == graph::ElementType::kInt64 ||
                          value.type.element == graph::ElementType::kInt32;
  if (!is_integer || shape.size() > 1 || !count || *count > kMaxElements) return;
  for (uint32_t i = 0; i < *count; ++i)
    open.push_back({.input = value.name, .axis = i, .is_value = true});
}

// Every open dimension of the inputs, and every element that a profile may name.
bridge::ShapeProfile open_dimensions(const graph::Model& model) {
  bridge::ShapeProfile open;
  for (const graph::ValueId id : model.graph.inputs) {
    const graph::Value& value = model.graph.values[id];
    if (value.type.kind != graph::ValueKind::kTensor || !value.type.shape) continue;
    const graph::Shape& shape = *value.type.shape;
    add_elements(value, open);
    for (uint32_t axis = 0; axis < shape.size(); ++axis) {
      if (graph::is_static_dim(shape[axis])) continue;
      const bool is_named = graph::is_symbolic_dim(shape[axis]);
      open.push_back({value.name,
                      is_named ? model.symbols[graph::dim_symbol(shape[axis])] : std::string(),
                      axis});
    }
  }
  return open;
}

std::string place_text(const bridge::ExtentRange& range) {
  return range.is_value ? formatted("{}{{{}}}", range.input, range.axis)
                        : formatted("{}[{}]", range.input, range.axis);
}

bool is_same_place(const bridge::ExtentRange& a, const bridge::ExtentRange& b) {
  return a.input == b.input && a.axis == b.axis && a.is_value == b.is_value;
}

Status unknown_name(const std::string& name, const bridge::ShapeProfile& open) {
  std::vector<std::string> known;
  for (const bridge::ExtentRange& range : open) {
    std::string text = range.symbol.empty() ? place_text(range) : range.symbol;
    if (std::ranges::find(known, text) == known.end()) known.push_back(std::move(text));
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("a profile of the session names {}, and no input of the model has an "
                          "open dimension of that name; there are: {}",
                          quote(name), known.empty() ? "none" : join(known, ", ")));
}

Result<bridge::ShapeProfile> resolve(const bridge::ShapeProfile& open,
                                     const NamedProfile& profile) {
  bridge::ShapeProfile resolved;
  for (const NamedRange& named : profile) {
    bool is_known = false;
    for (bridge::ExtentRange range : open) {
      const bool is_named = !range.is_value && range.symbol == named.name;
      if (!is_named && place_text(range) != named.name) continue;
      if (!range.is_value && named.least < 1) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("a profile of the session gives {} an extent of {}; extents are at "
                                "least 1",
                                quote(named.name), named.least));
      }
      is_known = true;
      range.least = named.least;
      range.best = named.best;
      range.greatest = named.greatest;
      const bool is_twice = std::ranges::any_of(
          resolved, [&](const bridge::ExtentRange& other) { return is_same_place(other, range); });
      if (is_twice) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("a profile of the session has the dimension {} twice, by its "
                                "name and by its place; leave one of them out",
                                quote(place_text(range))));
      }
      resolved.push_back(std::move(range));
    }
    if (!is_known) return unknown_name(named.name, open);
  }
  return resolved;
}

}  // namespace

Result<std::vector<bridge::ShapeProfile>> resolve_profiles(const graph::Model& model,
                                                           std::span<const NamedProfile> profiles) {
  std::vector<bridge::ShapeProfile> resolved;
  if (profiles.empty()) return resolved;
  const bridge::ShapeProfile open = open_dimensions(model);
  for (const NamedProfile& profile : profiles) {
    EPHOST_ASSIGN_OR_RETURN(bridge::ShapeProfile one, resolve(open, profile));
    resolved.push_back(std::move(one));
  }
  return resolved;
}

std::vector<bridge::ShapeProfile> keep_open(const graph::Model& model,
                                            std::span<const bridge::ShapeProfile> profiles) {
  const bridge::ShapeProfile open = open_dimensions(model);
  std::vector<bridge::ShapeProfile> kept;
  bool is_any_open = false;
  for (const bridge::ShapeProfile& profile : profiles) {
    bridge::ShapeProfile& of_profile = kept.emplace_back();
    for (const bridge::ExtentRange& range : profile) {
      const bool is_open = std::ranges::any_of(
          open, [&](const bridge::ExtentRange& other) { return is_same_place(other, range); });
      if (is_open) of_profile.push_back(range);
      is_any_open = is_any_open || (is_open && !range.is_value);
    }
  }
  if (!is_any_open) kept.clear();
  return kept;
}

}  // namespace ephost::session
