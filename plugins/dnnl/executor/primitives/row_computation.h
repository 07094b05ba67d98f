// row_computation.h: a chain of matrix products on any number of rows, which each run counts. One
// primitive for each product, whatever the rows; the products' results lie in scratch memory of the
// run. Constants stay where they are and are read there.
//
// If NaN may have been lost in a run, the run begins again with products that have no post-ops, and
// code of our own behind them (exact_kernels.h).
//
// A state keeps memory objects for the number of rows of its last run; with another number they are
// made again.
#pragma once

#include <ephost/plugin.hpp>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/partition_computation.h"
#include "plugins/dnnl/recipe/row_products.h"
#include "plugins/openmp/crowd.h"

namespace ephost_dnnl {

class RowComputation : public PartitionComputation {
 public:
  // The recipe has passed check_recipe. Tensors of more than `max_elements` elements are computed
  // in several blocks of rows. Each product runs once on a few numbers of rows, in guarded memory.
  // Throws InvalidRecipe, NoPrimitive, dnnl::error, and what `constants` throws.
  RowComputation(std::string name, Recipe recipe, ConstantSource& constants, dnnl::engine engine,
                 int threads, NanMode nan, int64_t max_elements = kMaxElements);

  void compute(eph::Run& run, eph::State* state) override;
  std::unique_ptr<eph::State> create_state() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const Recipe& recipe() const override { return recipe_; }
  [[nodiscard]] const std::vector<PackedConstant>& constants() const override { return constants_; }
  [[nodiscard]] bool has_open_rows() const override { return true; }

 private:
  struct FixedArgument {
    int argument = 0;  // DNNL_ARG_*
    dnnl::memory memory;
  };
  // A post-op that is computed behind a product.
  struct Epilogue {
    PostOp op;
    const float* operand = nullptr;
    bool is_row = false;  // the operand has an element for each column
  };
  struct Step {
    dnnl::primitive primitive;
    int64_t depth = 0, columns = 0;  // of a row of the input and of the output
    std::vector<FixedArgument> constants;
    dnnl::memory::desc scratchpad;
    std::vector<Epilogue> epilogues;
    std::string label;  // for messages
  };
  class RunState;

  [[nodiscard]] Step make_step(const RowProduct& product, ConstantSource& source);
  // The same product on the constants of a step, with its post-ops as epilogues.
  [[nodiscard]] Step make_exact_step(const RowProduct& product, const Step& fused) const;
  // Made when they are first wanted. Throws Failure if they can't be.
  const std::vector<Step>& exact_steps();
  static void apply(const Epilogue& epilogue, int64_t rows, int64_t columns, float* data);
  // Throws NoPrimitive if it reads or writes beyond its arguments.
  void try_out(const Step& step) const;
  // The number of rows of the input. Throws Failure unless it is a tensor of such rows.
  [[nodiscard]] int64_t count_rows(const eph_value* input) const;
  void compute_rows(eph::Run& run, RunState& state, int64_t rows, const float* input,
                    float* output) const;
  // Computes at most block_rows_ rows.
  void compute_block(eph::Run& run, RunState& state, const float* input, float* output) const;

  std::string name_;
  Recipe recipe_;
  dnnl::engine engine_;
  int threads_;
  NanMode nan_;
  const std::shared_ptr<ephost_openmp::Crowd> crowd_ = ephost_openmp::Crowd::shared();
  std::vector<PackedConstant> constants_;
  std::vector<Step> steps_;
  std::mutex mutex_;  // guards the exact steps
  std::vector<Step> exact_steps_;
  int64_t block_rows_ = 0;
  int64_t inner_width_ = 0;  // of the widest result between two products
};

}  // namespace ephost_dnnl
