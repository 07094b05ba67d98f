#include "plugins/dnnl/executor/program_maker.h"

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/trial.h"

namespace ephost_dnnl {
namespace {

// Assembles a recipe after the last primitive of an operation has failed, if that is given.
Program assemble_but(const Recipe& recipe, uint32_t failed, ConstantSource& constants,
                     const dnnl::engine& engine, ChooseFunction choose) {
  try {
    return assemble(recipe, constants, engine, choose);
  } catch (const NoPrimitive& error) {
    if (failed == kNoOp) throw;
    throw NoWorkingPrimitive(recipe.ops[failed], error.what());
  }
}

}  // namespace

Program make_working_program(Recipe& recipe, ConstantSource& constants, const dnnl::engine& engine,
                             int threads, ChooseFunction choose) {
  uint32_t failed = kNoOp;
  for (;;) {
    Program program = assemble_but(recipe, failed, constants, engine, choose);
    try {
      create_primitives(program, threads);
      try_out(recipe, program, engine);
      return program;
    } catch (const StepFailed& failure) {
      failed = program.steps[failure.step].op;
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
