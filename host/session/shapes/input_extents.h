// The extents of a model's inputs that a session fixes in its specialisations, and those of one
// run. Called once when a session is created, and then by each run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/onnx_io/overrides/dimension_overrides.h"
#include "host/runtime/values/value.h"
#include "host/session/model/shape_wishes.h"

namespace ephost::session {

class InputExtents {
 public:
  InputExtents() = default;
  // The open extents of the model's inputs that are wished for. Dimensions of one name count as
  // one. Inputs with a default keep what the model declares.
  InputExtents(const graph::Model& model, const ShapeWishes& wishes);

  // How many extents there are; 0: there is nothing to fix.
  [[nodiscard]] size_t size() const { return keys_.size(); }

  // Writes the extents of a run's inputs, by graph input, to `out`, which has size() elements.
  // False if there is no specialisation for them: an input is missing or has another type or rank,
  // dimensions of one name differ, or an extent is 0.
  [[nodiscard]] bool read(std::span<const runtime::Value* const> inputs,
                          std::span<int64_t> out) const;

  // Looks the extents up by input and axis with `find(input name, symbol, axis)`, which returns a
  // pointer to one or null. Returns the name of the first one that is missing; empty if none is.
  template <class Find>
  [[nodiscard]] std::string fill(std::span<int64_t> out, const Find& find) const {
    for (const Place& place : places_) {
      const int64_t* const extent = find(place.input_name, place.symbol, place.axis);
      if (extent == nullptr) return names_[place.key];
      out[place.key] = *extent;
    }
    return {};
  }

  // Adds the extents to those that a session fixes, by input.
  void add_overrides(std::span<const int64_t> extents,
                     onnx_io::DimensionOverrides& overrides) const;

  // The name of an extent: of its dimension, or its place, e.g. "x[0]".
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // For example "batch=8, x[1]=3".
  [[nodiscard]] std::string describe(std::span<const int64_t> extents) const;

 private:
  // One dimension of an input.
  struct Place {
    size_t input = 0;  // among the graph's inputs
    uint32_t axis = 0;
    uint32_t rank = 0;
    uint32_t key = 0;  // the extent that it has
    ElementType element = ElementType::kUndefined;
    std::string input_name;
    std::string symbol;  // empty if it has no name
  };

  std::vector<Place> places_;
  std::vector<uint32_t> keys_;  // by extent: its first place
  std::vector<std::string> names_;
};

}  // namespace ephost::session
