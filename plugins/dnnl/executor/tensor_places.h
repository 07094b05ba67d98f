// tensor_places.h: the places of the tensors of a recipe while a program is assembled. A tensor may
// lie in several buffers in different layouts, and a buffer may hold several tensors: views of the
// same bytes. Only the assembler uses it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/program_builder.h"

namespace ephost_dnnl {

struct Placement {
  uint32_t buffer = 0;
  Descriptor layout;
};

class TensorPlaces {
 public:
  TensorPlaces(const Recipe& recipe, ConstantSource& constants, ProgramBuilder& builder);

  // The tensor where it lies now: its first placement, or the model's data of a constant.
  [[nodiscard]] Operand operand(TensorId tensor) const;

  // A placement of the tensor in the layout `wanted`, whose dimensions may be another form of the
  // tensor's. Adds a reorder if there is none; `label` names its reader in messages.
  Placement require(TensorId tensor, const Descriptor& wanted, const std::string& label);

  // Every placement of the tensor.
  [[nodiscard]] const std::vector<Placement>& placements(TensorId tensor) const {
    return places_[tensor].placements;
  }

  void place(TensorId tensor, Placement placement);

  // Makes `output` a view of `input`, which is moved to row-major order first if no view is
  // possible. `view` maps a layout of the input to one of the output, or to nothing.
  template <class View>
  void alias(TensorId input, TensorId output, const View& view, const std::string& label) {
    if (try_alias(input, output, view)) return;
    const Placement plain =
        require(input, row_major(recipe_.dims(input), recipe_.type(input)), label);
    place(output, {plain.buffer, view(plain.layout).value()});
  }

  // Marks the end of one use of the tensor.
  void release(TensorId tensor) { --uses_[tensor]; }
  // Whether no use of any tensor in the buffer is left.
  [[nodiscard]] bool is_dead(uint32_t buffer) const;

 private:
  struct Constant {
    TensorId root = 0;  // the constant that has the data
    Descriptor stored;  // row-major data seen as this tensor
  };
  struct Places {
    std::vector<Placement> placements;
    std::optional<Constant> constant;  // if the tensor is a view of a constant
  };

  template <class View>
  bool try_alias(TensorId input, TensorId output, const View& view) {
    if (const std::optional<Constant>& constant = places_[input].constant) {
      if (const std::optional<Descriptor> seen = view(constant->stored)) {
        places_[output].constant = Constant{constant->root, *seen};
        return true;
      }
    }
    for (const Placement& placement : places_[input].placements) {
      if (const std::optional<Descriptor> seen = view(placement.layout)) {
        place(output, {placement.buffer, *seen});
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::optional<Placement> find(TensorId tensor, const Descriptor& wanted) const;
  // A placement of the tensor in that form; it is made row-major first if there is none.
  Placement seen_as(TensorId tensor, const Dims& form, const std::string& label);
  Placement pack(const Constant& constant, const Descriptor& stored, const Descriptor& wanted);

  const Recipe& recipe_;
  ConstantSource& constants_;
  ProgramBuilder& builder_;
  std::vector<Places> places_;                  // by tensor
  std::vector<uint32_t> uses_;                  // remaining, by tensor
  std::vector<std::vector<TensorId>> held_by_;  // by buffer
  // Packed constants by root, stored view and layout.
  std::map<std::pair<TensorId, std::string>, uint32_t> packed_;
};

}  // namespace ephost_dnnl
