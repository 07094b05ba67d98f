// primitive_choice.h: the choice of the oneDNN primitive for one operation and of the layouts that
// it wants. It decides from the operation and the current layouts of its inputs, and creates a
// primitive descriptor but no primitive. Called by the assembler, and by lowering and passes to ask
// what the library can do.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/own_kernel.h"
#include "plugins/dnnl/library/descriptor.h"
#include "plugins/dnnl/library/quantization.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// The library has no primitive for an operation.
class NoPrimitive : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// None of the library's primitives for an operation works.
class NoWorkingPrimitive : public NoPrimitive {
 public:
  NoWorkingPrimitive(Op unusable, const std::string& message)
      : NoPrimitive(message), op(std::move(unusable)) {}
  Op op;
};

// An input of an operation.
struct Operand {
  Dims dims;
  Descriptor layout;         // the current one
  bool is_constant = false;  // can be converted to any layout at no cost to a run
};

struct PrimitiveRequest {
  const Op* op = nullptr;  // neither Reshape nor Transpose: those have no primitive
  std::vector<Operand> inputs;
  std::vector<Operand> post_op_operands;  // one for each post-op, empty for those without
  Dims output_dims;
  ElementType output_type = ElementType::kF32;
  std::optional<Descriptor> preferred_output;  // if the consumer would benefit
  bool has_plain_layouts = false;              // data and output without blocks or padding
};

// One argument of a primitive, with the layout that it must have. The layout's dimensions may
// differ from the tensor's: it is the same elements seen in the primitive's form.
struct ChosenInput {
  int argument = 0;  // DNNL_ARG_*
  bool is_post_op_operand = false;
  std::size_t index = 0;  // of the input, or of the post-op
  Descriptor layout;
};

struct PrimitiveChoice {
  dnnl::primitive_desc_base descriptor;
  std::shared_ptr<const OwnKernel> own;  // in the place of a primitive
  std::vector<ChosenInput> inputs;  // without the operand of a sum: that is the output's memory
  std::vector<ParameterArgument> parameters;  // scales and zero points
  Descriptor output;                          // likewise in the primitive's form
  bool is_reference = false;                  // the library's slow, unspecialised implementation
};

// The first primitive, in order of preference, that has not failed (Op::failed_primitives). Throws
// NoPrimitive if the library has none, or none that is known to be correct.
[[nodiscard]] PrimitiveChoice choose_primitive(const PrimitiveRequest& request,
                                               const dnnl::engine& engine);

// How a primitive is found for each operation of a recipe.
using ChooseFunction = PrimitiveChoice (*)(const PrimitiveRequest& request,
                                           const dnnl::engine& engine);

// The layout of an operand if it has no blocks, and thus no padding; otherwise row-major.
[[nodiscard]] Descriptor without_blocks(const Operand& operand);

// The request for an operation whose inputs all lie in row-major order.
[[nodiscard]] PrimitiveRequest plain_request(const Recipe& recipe, const Op& op,
                                             const std::vector<bool>& is_constant);

}  // namespace ephost_dnnl
