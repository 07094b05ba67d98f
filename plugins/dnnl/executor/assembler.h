// assembler.h: the assembler, which turns a recipe into a program: chooses a primitive for each
// operation, carries the layouts from one to the next, inserts reorders where two disagree and at
// the partition's border (row-major outside), requests constants in the layouts that the primitives
// need, and places the buffers.
//
// It is a function of the recipe, the library and the machine: the same three always give the same
// program, which is why a context binary need not store one.
#pragma once

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"

namespace ephost_dnnl {

// An input of an operation cannot be brought into the layout that its primitive needs; another
// primitive may need another one.
class OpFailed : public NoPrimitive {
 public:
  OpFailed(uint32_t failed_op, const std::string& message) : NoPrimitive(message), op(failed_op) {}
  uint32_t op;
};

// The recipe must have passed check_recipe. Primitives are not created yet. Throws OpFailed,
// NoPrimitive, and what `constants` throws.
[[nodiscard]] Program assemble(const Recipe& recipe, ConstantSource& constants,
                               const dnnl::engine& engine,
                               ChooseFunction choose = &choose_primitive);

}  // namespace ephost_dnnl
