#include "plugins/dnnl/executor/compiler.h"

#include <algorithm>
#include <utility>

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/primitives/row_computation.h"
#include "plugins/dnnl/executor/primitives/row_primitive.h"
#include "plugins/dnnl/executor/program_maker.h"
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

bool has_open_extents(const eph::GraphView& graph) {
  const eph::ArrayView<uint32_t> inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](uint32_t input) { return !graph.value(input).has_static_shape(); });
}

std::unique_ptr<PartitionComputation> compile_open_rows(const eph::GraphView& graph,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads) {
  LoweredPartition lowered = lower_partition(graph, kExampleExtent);
  try {
    fuse_row_products(lowered, engine);
    BorrowingSource constants(std::move(lowered.constants));
    return std::make_unique<RowComputation>(std::move(name), std::move(lowered.recipe), constants,
                                            engine, threads);
  } catch (const Unsupported& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': " + error.what());
  } catch (const dnnl::error& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': oneDNN failed: " + error.what());
  }
}

}  // namespace

std::unique_ptr<PartitionComputation> compile_partition(const eph::GraphView& graph,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads,
                                                        ReleaseFunction release,
                                                        WarnFunction warn) {
  const ThreadScope scope(threads);
  if (has_open_extents(graph)) return compile_open_rows(graph, std::move(name), engine, threads);
  LoweredPartition lowered = lower_partition(graph);
  const auto is_fast = [&](const Recipe& recipe, const Op& op) {
    return has_fast_primitive(recipe, op, engine);
  };
  run_passes(lowered, is_fast, has_exact_integer_products());
  try {
    check_recipe(lowered.recipe);
    PackingSource constants(lowered.constants, engine, std::move(release));
    Program program = make_working_program(lowered.recipe, constants, engine, threads);
    return std::make_unique<DnnlComputation>(std::move(name), std::move(lowered.recipe),
                                             std::move(program), engine, threads, std::move(warn));
  } catch (const InvalidRecipe& error) {
    throw eph::Failure(EPH_EP_FAIL,
                       "partition '" + name + "' was lowered wrongly: " + error.what());
  } catch (const NoPrimitive& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': " + error.what());
  } catch (const dnnl::error& error) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name + "': oneDNN failed: " + error.what());
  }
}

std::unique_ptr<PartitionComputation> restore_partition(const LoadedPartition& loaded,
                                                        std::string name,
                                                        const dnnl::engine& engine, int threads,
                                                        WarnFunction warn) {
  const ThreadScope scope(threads);
  RestoringSource constants(loaded.constants);
  if (loaded.has_open_rows) {
    auto restored = std::make_unique<RowComputation>(std::move(name), loaded.recipe, constants,
                                                     engine, threads);
    constants.finish();
    return restored;
  }
  // The recipe records the primitives that failed at compilation; the others were tried then.
  Program program = assemble(loaded.recipe, constants, engine);
  constants.finish();
  create_primitives(program, threads);
  return std::make_unique<DnnlComputation>(std::move(name), loaded.recipe, std::move(program),
                                           engine, threads, std::move(warn));
}

}  // namespace ephost_dnnl
