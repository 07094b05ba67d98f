#include "plugins/dnnl/executor/program_maker.h"

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/primitives/trial.h"

namespace ephost_dnnl {

Program make_working_program(Recipe& recipe, ConstantSource& constants, const dnnl::engine& engine,
                             int threads) {
  for (;;) {
    Program program = assemble(recipe, constants, engine);
    try {
      create_primitives(program, threads);
      try_out(recipe, program, engine);
      return program;
    } catch (const StepFailed& failure) {
      pass_over(recipe, program, failure);
    }
  }
}

void pass_over(Recipe& recipe, const Program& program, const StepFailed& failure) {
  const uint32_t op = program.steps[failure.step].op;
  if (op == kNoOp || recipe.ops[op].failed_primitives == kMaxFailedPrimitives) {
    throw NoPrimitive(failure.what());
  }
  ++recipe.ops[op].failed_primitives;
}

}  // namespace ephost_dnnl
