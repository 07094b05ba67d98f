#include "tests/primitives/sweep.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/guarded_step.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/program_maker.h"
#include "plugins/dnnl/library/threads.h"
#include "tests/primitives/random_primitive.h"
#include "tests/primitives/random_recipe.h"

namespace ephost_dnnl::test {
namespace {

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

std::string implementation(const dnnl::primitive& primitive) {
  dnnl::primitive_desc_base descriptor;
  descriptor.reset(const_cast<dnnl_primitive_desc_t>(primitive.get_primitive_desc()), true);
  return descriptor.impl_info_str();
}

std::string post_ops_text(const Op& op) {
  std::string text;
  for (const PostOp& post_op : op.post_ops) {
    text += post_op.kind == PostOpKind::kSum      ? "+sum"
            : post_op.kind == PostOpKind::kBinary ? "+binary"
                                                  : "+eltwise";
  }
  return text;
}

void count(const std::string& kind, const dnnl::primitive& primitive, const std::string& post_ops,
           const std::optional<StepTouch>& touch, uint64_t seed, Sweep& sweep) {
  SweepCounts& counts = sweep.by_kind[kind];
  ++counts.configurations;
  if (!touch) return;
  ++(touch->touch.is_write ? counts.writes : counts.reads);
  const std::string what = kind + ", " + implementation(primitive) + post_ops +
                           (touch->touch.is_write ? ", writes" : ", reads") + " around argument " +
                           std::to_string(touch->argument);
  const auto [entry, is_new] = sweep.touching.try_emplace(what, 0, seed);
  ++entry->second.first;
}

// Runs the steps that are the tested operation or, if it is the first primitive for that, all.
void run_steps(const Program& program, const Recipe& recipe, const RandomRecipe& made,
               uint64_t seed, Sweep& sweep) {
  const Op& tested = recipe.ops[made.tested];
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const bool is_tested = step.op == made.tested;
    if (step.own != nullptr || (!is_tested && tested.failed_primitives > 0)) continue;
    const std::string other = step.op == kNoOp ? "reorder" : "source of a layout";
    try {
      const std::optional<StepTouch> touch = find_touch(program, i, step.primitive, engine());
      count(is_tested ? made.kind : other, step.primitive, is_tested ? post_ops_text(tested) : "",
            touch, seed, sweep);
    } catch (const StepFailed&) {
      ++sweep.by_kind[made.kind].refused;
    }
  }
}

void check_choice(const RandomRecipe& made, Sweep& sweep) {
  Recipe recipe = made.partition.recipe;
  PackingSource constants(made.partition.constants, engine(), [](const void*, uint64_t) {});
  try {
    const Program program = make_working_program(recipe, constants, engine(), 1);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (step.own == nullptr && find_touch(program, i, step.primitive, engine())) {
        ++sweep.by_kind[made.kind].left;
      }
    }
  } catch (const NoPrimitive&) {
    // The provider would compute it in another way.
  }
}

void sweep_recipe(uint64_t seed, Sweep& sweep) {
  const RandomRecipe made = make_random_recipe(seed);
  Recipe recipe = made.partition.recipe;
  Op& tested = recipe.ops[made.tested];
  ++sweep.by_kind[made.kind].recipes;
  for (; tested.failed_primitives < kMaxFailedPrimitives; ++tested.failed_primitives) {
    PackingSource constants(made.partition.constants, engine(), [](const void*, uint64_t) {});
    try {
      Program program = assemble(recipe, constants, engine());
      create_primitives(program, 1);
      run_steps(program, recipe, made, seed, sweep);
    } catch (const NoPrimitive&) {
      break;
    } catch (const StepFailed&) {
      continue;
    } catch (const dnnl::error&) {
      break;
    }
  }
  check_choice(made, sweep);
}

void sweep_primitive(uint64_t seed, Sweep& sweep) {
  const RandomPrimitive made(seed, engine());
  ++sweep.by_kind[made.kind()].recipes;
  for (std::size_t i = 0; i < kMaxFailedPrimitives; ++i) {
    try {
      const auto [primitive, arguments] = made.implementation(i);
      const std::optional<StepTouch> touch = find_touch(primitive, arguments, engine());
      count(made.kind(), primitive, made.post_ops_text(), touch, seed, sweep);
    } catch (const dnnl::error&) {
      break;  // there are no more
    }
  }
}

}  // namespace

void sweep_one(uint64_t seed, Sweep& sweep) {
  const ThreadScope scope(static_cast<int>(1 + seed % 3));
  sweep_recipe(seed, sweep);
  sweep_primitive(seed, sweep);
}

}  // namespace ephost_dnnl::test
