#include "host/session/shapes/profiles.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

// Every open dimension of the inputs, with the extent 1.
bridge::ShapeProfile open_dimensions(const graph::Model& model) {
  bridge::ShapeProfile open;
  for (const graph::ValueId id : model.graph.inputs) {
    const graph::Value& value = model.graph.values[id];
    if (value.type.kind != graph::ValueKind::kTensor || !value.type.shape) continue;
    const graph::Shape& shape = *value.type.shape;
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

std::string axis_text(const bridge::ExtentRange& range) {
  return formatted("{}[{}]", range.input, range.axis);
}

bool is_same_place(const bridge::ExtentRange& a, const bridge::ExtentRange& b) {
  return a.input == b.input && a.axis == b.axis;
}

Status unknown_name(const std::string& name, const bridge::ShapeProfile& open) {
  std::vector<std::string> known;
  for (const bridge::ExtentRange& range : open) {
    std::string text = range.symbol.empty() ? axis_text(range) : range.symbol;
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
      if (range.symbol != named.name && axis_text(range) != named.name) continue;
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
                                quote(axis_text(range))));
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
    }
    is_any_open = is_any_open || !of_profile.empty();
  }
  if (!is_any_open) kept.clear();
  return kept;
}

}  // namespace ephost::session
