// primitive_attempt.h: one attempt at a primitive: builds attributes and descriptors for an
// operation under one assumption about layouts. Internal to primitive_choice; one overload of
// `make` for each kind of operation, spread over the attempt_*.cc files.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/library/primitives.h"

namespace ephost_dnnl {

struct Assumption {
  bool inputs_as_they_lie = true;  // else in row-major order
  bool preferred_output = false;   // write what the request prefers
  std::size_t implementation = 0;  // index in the library's list
};

class Attempt {
 public:
  Attempt(const PrimitiveRequest& request, Assumption assumption, const dnnl::engine& engine)
      : request_(request), assumption_(assumption), engine_(engine) {}

  // Throw dnnl::error or NoPrimitive if the library refuses.
  PrimitiveChoice make(const Convolution& op) const;
  PrimitiveChoice make(const MatMul& op) const;
  PrimitiveChoice make(const Pooling& op) const;
  PrimitiveChoice make(const BatchNormalization& op) const;
  PrimitiveChoice make(const LayerNormalization& op) const;
  PrimitiveChoice make(const Lrn& op) const;
  PrimitiveChoice make(const Softmax& op) const;
  PrimitiveChoice make(const Eltwise& op) const;
  PrimitiveChoice make(const Binary& op) const;
  PrimitiveChoice make(const Reduction& op) const;
  PrimitiveChoice make(const Concat& op) const;
  PrimitiveChoice make(const Reshape& op) const;
  PrimitiveChoice make(const Transpose& op) const;
  PrimitiveChoice make(const Conversion& op) const;

 private:
  [[nodiscard]] const Operand& input(std::size_t i) const { return request_.inputs[i]; }
  [[nodiscard]] bool has_input(std::size_t i) const { return i < request_.inputs.size(); }
  [[nodiscard]] ElementType type(std::size_t i) const { return type_of(input(i).layout); }

  // With the assumption's implementation.
  [[nodiscard]] PrimitiveSettings settings(const dnnl::primitive_attr& attributes) const {
    return {engine_, attributes, assumption_.implementation};
  }

  // Layout of input i under the assumption.
  [[nodiscard]] Descriptor layout_of(std::size_t i) const;

  // Quantises or requantises with code of the provider's own.
  [[nodiscard]] PrimitiveChoice quantization(const Conversion& op) const;

  // Attributes with a scratchpad that the caller provides and the post-ops, whose operands are seen
  // in the form of the primitive's output.
  [[nodiscard]] dnnl::primitive_attr attributes(const Dims& output_form) const;

  // Tells a product its scales and zero points, if it has any.
  void add_scales(QuantizationAttributes& attributes, int output_channel, int weights_mask) const;

  // The choice made from a primitive descriptor: the inputs as these arguments (DNNL_ARG_*), each
  // with the layout that the descriptor gives for it, then the post-op operands.
  [[nodiscard]] PrimitiveChoice choice(const dnnl::primitive_desc_base& descriptor,
                                       const std::vector<int>& arguments) const;

  const PrimitiveRequest& request_;
  Assumption assumption_;
  const dnnl::engine& engine_;
};

// The operand of a post-op in the form of a primitive whose output has other dimensions than the
// operation's. Throws NoPrimitive if it has no such form.
[[nodiscard]] Dims operand_form(const Dims& operand, const Dims& output, const Dims& output_form);

[[nodiscard]] dnnl::algorithm to_library(EltwiseFunction function);
[[nodiscard]] dnnl::algorithm to_library(BinaryFunction function);

}  // namespace ephost_dnnl
