#include "plugins/dnnl/executor/compiler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/primitives/row_computation.h"
#include "plugins/dnnl/executor/primitives/row_primitive.h"
#include "plugins/dnnl/executor/program_maker.h"
#include "plugins/dnnl/library/failure_code.h"
#include "plugins/dnnl/library/threads.h"
#include "plugins/dnnl/lowering/lowering.h"
#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

bool has_fast_primitive(const Recipe& recipe, const Op& op, const dnnl::engine& engine) {
  std::vector<bool> is_constant(recipe.tensors.size(), false);
  for (const TensorId constant : recipe.constants) is_constant[constant] = true;
  try {
    return !choose_primitive(plain_request(recipe, op, is_constant), engine).is_reference;
  } catch (const NoPrimitive&) {
    return false;
  }
}

// Whether both are the same operation with the same fused with it.
bool is_same_fusion(const Op& a, const Op& b) {
  const auto is_like = [](const PostOp& one, const PostOp& other) {
    return one.kind == other.kind && one.eltwise.function == other.eltwise.function &&
           one.binary.function == other.binary.function;
  };
  return a.name == b.name && a.parameters.index() == b.parameters.index() &&
         a.quantization.has_value() == b.quantization.has_value() &&
         std::equal(a.post_ops.begin(), a.post_ops.end(), b.post_ops.begin(), b.post_ops.end(),
                    is_like);
}

bool is_among(const std::vector<Op>& ops, const Op& op) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](const Op& other) { return is_same_fusion(op, other); });
}

// A recipe with the fusions that the library can compute, and its program.
struct Compilation {
  Recipe recipe;
  Program program;
};

Compilation compile_fused(const eph::GraphView& graph, const dnnl::engine& engine, int threads,
                          const ReleaseFunction& release) {
  std::vector<Op> unusable;
  const auto is_fast = [&](const Recipe& recipe, const Op& op) {
    return !is_among(unusable, op) && has_fast_primitive(recipe, op, engine);
  };
  for (;;) {
    LoweredPartition lowered = lower_partition(graph);
    run_passes(lowered, is_fast, has_exact_integer_products());
    check_recipe(lowered.recipe);
    PackingSource constants(lowered.constants, engine, release);
    try {
      Program program = make_working_program(lowered.recipe, constants, engine, threads);
      return {std::move(lowered.recipe), std::move(program)};
    } catch (const NoWorkingPrimitive& error) {
      // The next round leaves apart what was fused here.
      if (is_among(unusable, error.op)) throw;
      unusable.push_back(error.op);
    }
  }
}

bool has_open_extents(const eph::GraphView& graph) {
  const eph::ArrayView<uint32_t> inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](uint32_t input) { return !graph.value(input).has_static_shape(); });
}

std::unique_ptr<PartitionComputation> compile_open_rows(const eph::GraphView& graph,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads,
                                                        NanMode nan) {
  LoweredPartition lowered = lower_partition(graph, kExampleExtent);
  try {
    fuse_row_products(lowered, engine);
    BorrowingSource constants(std::move(lowered.constants));
    return std::make_unique<RowComputation>(std::move(name), std::move(lowered.recipe), constants,
                                            engine, threads, nan);
  } catch (const Unsupported& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': " + error.what());
  } catch (const NoPrimitive& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': " + error.what());
  } catch (const dnnl::error& error) {
    throw eph::Failure(failure_code(error),
                       "partition '" + name + "': oneDNN failed: " + error.what());
  }
}

}  // namespace

std::unique_ptr<PartitionComputation> compile_partition(const eph::GraphView& graph,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads,
                                                        const ReleaseFunction& release, NanMode nan,
                                                        WarnFunction warn) {
  const ThreadScope scope(threads);
  if (has_open_extents(graph)) {
    return compile_open_rows(graph, std::move(name), engine, threads, nan);
  }
  try {
    Compilation made = compile_fused(graph, engine, threads, release);
    return std::make_unique<DnnlComputation>(std::move(name), std::move(made.recipe),
                                             std::move(made.program), engine, threads, nan,
                                             std::move(warn));
  } catch (const InvalidRecipe& error) {
    throw eph::Failure(EPH_EP_FAIL,
                       "partition '" + name + "' was lowered wrongly: " + error.what());
  } catch (const NoPrimitive& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': " + error.what());
  } catch (const dnnl::error& error) {
    throw eph::Failure(failure_code(error),
                       "partition '" + name + "': oneDNN failed: " + error.what());
  }
}

std::unique_ptr<PartitionComputation> restore_partition(const LoadedPartition& loaded,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads,
                                                        NanMode nan, WarnFunction warn) {
  const ThreadScope scope(threads);
  RestoringSource constants(loaded.constants);
  if (loaded.has_open_rows) {
    auto restored = std::make_unique<RowComputation>(std::move(name), loaded.recipe, constants,
                                                     engine, threads, nan);
    constants.finish();
    return restored;
  }
  // The recipe records the primitives that failed at compilation; the others were tried then.
  Program program = assemble(loaded.recipe, constants, engine);
  constants.finish();
  create_primitives(program, threads);
  return std::make_unique<DnnlComputation>(std::move(name), loaded.recipe, std::move(program),
                                           engine, threads, nan, std::move(warn));
}

}  // namespace ephost_dnnl
