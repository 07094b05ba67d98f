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
  } catch (const OpFailed&) {
    throw;
  } catch (const NoPrimitive& error) {
    if (failed == kNoOp) throw;
    throw NoWorkingPrimitive(recipe.ops[failed], error.what());
  }
}

}  // namespace

Program make_working_program(Recipe& recipe, ConstantSource& constants, const dnnl::engine& engine,
                             int threads, ChooseFunction choose) {
  uint32_t failed = kNoOp;
  const auto fail = [&](uint32_t op, const std::exception& failure) {
    failed = op;
    pass_over(recipe, op, failure.what());
  };
  for (;;) {
    try {
      Program program = assemble_but(recipe, failed, constants, engine, choose);
      try {
        create_primitives(program, threads);
        try_out(recipe, program, engine);
        return program;
      } catch (const StepFailed& failure) {
        fail(program.steps[failure.step].op, failure);
      }
    } catch (const OpFailed& failure) {
      fail(failure.op, failure);
    }
  }
}

void pass_over(Recipe& recipe, uint32_t failed_op, const std::string& reason) {
  if (failed_op == kNoOp || recipe.ops[failed_op].failed_primitives == kMaxFailedPrimitives) {
    throw NoPrimitive(reason);
  }
  ++recipe.ops[failed_op].failed_primitives;
}

}  // namespace ephost_dnnl
