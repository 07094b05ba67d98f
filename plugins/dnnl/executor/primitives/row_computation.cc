#include "plugins/dnnl/executor/primitives/row_computation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "plugins/dnnl/executor/exact/exact_kernels.h"
#include "plugins/dnnl/executor/for_blocks.h"
#include "plugins/dnnl/executor/primitives/guarded_step.h"
#include "plugins/dnnl/executor/primitives/row_primitive.h"
#include "plugins/dnnl/library/invalid_watch.h"
#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

// What the input should have been and what it was.
std::string mismatch(const Port& port, int64_t depth, const eph_value* value) {
  std::string text = "was compiled for a float tensor of rank " +
                     std::to_string(port.shape.size()) + " with rows of " + std::to_string(depth) +
                     " elements and got ";
  if (value == nullptr) return text + "nothing";
  return text + "element type " + std::to_string(value->element_type) + " " +
         to_text(Dims(value->shape, value->shape + value->rank));
}

}  // namespace

// Memory objects for one run at a time.
class RowComputation::RunState : public eph::State {
 public:
  // The steps are those of the owner, fused or exact.
  RunState(const RowComputation& owner, const std::vector<Step>& steps)
      : owner_(owner), steps_(steps), stream_(owner.engine_), arguments_(steps.size()) {
    for (const Step& step : steps) {
      sources_.emplace_back();
      outputs_.emplace_back();
      dnnl::memory& scratchpad_memory = scratchpads_.emplace_back();
      if (step.scratchpad.get_size() == 0) continue;
      scratchpad_size = std::max(scratchpad_size, step.scratchpad.get_size());
      scratchpad_memory = dnnl::memory(step.scratchpad, owner.engine_, DNNL_MEMORY_NONE);
    }
    shape.reserve(kMaxRank);
  }

  // Makes the memory objects for that many rows.
  void prepare(int64_t rows) {
    if (rows_ == rows) return;
    rows_ = 0;  // in case that one can't be made
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Step& step = steps_[i];
      sources_[i] = dnnl::memory(row_major({rows, step.depth}), owner_.engine_, DNNL_MEMORY_NONE);
      outputs_[i] = dnnl::memory(row_major({rows, step.columns}), owner_.engine_, DNNL_MEMORY_NONE);
      arguments_[i] = {{DNNL_ARG_SRC, sources_[i].get()}, {DNNL_ARG_DST, outputs_[i].get()}};
      if (scratchpads_[i]) {
        arguments_[i].push_back({DNNL_ARG_SCRATCHPAD, scratchpads_[i].get()});
      }
      for (const FixedArgument& constant : step.constants) {
        arguments_[i].push_back({constant.argument, constant.memory.get()});
      }
    }
    rows_ = rows;
  }

  // Runs one step. The library takes no pointer to const; it only reads the source.
  void execute(std::size_t i, const float* source, float* output) {
    sources_[i].set_data_handle(const_cast<float*>(source));
    outputs_[i].set_data_handle(output);
    if (scratchpads_[i]) scratchpads_[i].set_data_handle(scratchpad);
    const std::vector<dnnl_exec_arg_t>& arguments = arguments_[i];
    const dnnl_status_t status =
        dnnl_primitive_execute(steps_[i].primitive.get(), stream_.get(),
                               static_cast<int>(arguments.size()), arguments.data());
    if (status != dnnl_success) {
      throw eph::Failure(EPH_EP_FAIL, "oneDNN failed to run " + steps_[i].label + " (status " +
                                          std::to_string(status) + ")");
    }
    stream_.wait();
    for (const Epilogue& epilogue : steps_[i].epilogues) {
      apply(epilogue, rows_, steps_[i].columns, output);
    }
  }

  Dims shape;                        // of the output; kept so that runs allocate nothing
  std::array<float*, 2> inner = {};  // results between products, used in turn
  void* scratchpad = nullptr;
  std::size_t scratchpad_size = 0;  // of the step that needs most

 private:
  const RowComputation& owner_;
  const std::vector<Step>& steps_;
  dnnl::stream stream_;
  int64_t rows_ = 0;
  std::vector<dnnl::memory> sources_, outputs_, scratchpads_;  // by step
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;        // by step
};

RowComputation::RowComputation(std::string name, Recipe recipe, ConstantSource& constants,
                               dnnl::engine engine, int threads, NanMode nan, int64_t max_elements)
    : name_(std::move(name)),
      recipe_(std::move(recipe)),
      engine_(std::move(engine)),
      threads_(threads),
      nan_(nan) {
  int64_t widest = 1;
  for (const RowProduct& product : row_products(recipe_)) {
    if (!steps_.empty()) inner_width_ = std::max(inner_width_, product.depth);
    widest = std::max({widest, product.depth, product.columns});
    steps_.push_back(make_step(product, constants));
    try_out(steps_.back());
  }
  block_rows_ = std::max<int64_t>(max_elements / widest, 1);
}

RowComputation::Step RowComputation::make_step(const RowProduct& product, ConstantSource& source) {
  const PrimitiveChoice choice =
      choose_row_primitive(recipe_, *product.op, product.is_transposed, engine_);
  Step step;
  step.primitive = dnnl::primitive(choice.descriptor.get());
  step.depth = product.depth;
  step.columns = product.columns;
  step.scratchpad = choice.descriptor.query_md(dnnl::query::scratchpad_md, 0);
  step.label = ephost_dnnl::describe(*product.op);
  for (const ChosenInput& input : choice.inputs) {
    TensorId tensor = product.weights;
    if (input.argument == DNNL_ARG_SRC) continue;
    if (input.argument == DNNL_ARG_BIAS) tensor = *product.bias;
    if (input.is_post_op_operand) tensor = product.operands[input.index];
    PackedConstant constant = source.get(tensor, input.layout, input.layout);
    // The library takes no pointer to const; primitives only read from it.
    step.constants.push_back(
        {input.argument, dnnl::memory(input.layout, engine_, const_cast<void*>(constant.data))});
    constants_.push_back(std::move(constant));
  }
  return step;
}

RowComputation::Step RowComputation::make_exact_step(const RowProduct& product,
                                                     const Step& fused) const {
  Op plain = *product.op;
  plain.post_ops.clear();
  plain.failed_primitives = 0;
  const PrimitiveChoice choice =
      choose_row_primitive(recipe_, plain, product.is_transposed, engine_);
  Step step;
  step.primitive = dnnl::primitive(choice.descriptor.get());
  step.depth = product.depth;
  step.columns = product.columns;
  step.scratchpad = choice.descriptor.query_md(dnnl::query::scratchpad_md, 0);
  step.label = fused.label;
  for (const FixedArgument& constant : fused.constants) {
    const bool is_factor =
        constant.argument == DNNL_ARG_WEIGHTS || constant.argument == DNNL_ARG_BIAS;
    if (is_factor) step.constants.push_back(constant);
  }
  for (std::size_t i = 0; i < product.op->post_ops.size(); ++i) {
    Epilogue& epilogue = step.epilogues.emplace_back();
    epilogue.op = product.op->post_ops[i];
    if (!epilogue.op.has_operand()) continue;
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    const auto operand =
        std::find_if(fused.constants.begin(), fused.constants.end(),
                     [&](const FixedArgument& constant) { return constant.argument == argument; });
    epilogue.operand = static_cast<const float*>(operand->memory.get_data_handle());
    epilogue.is_row = element_count(recipe_.dims(product.operands[i])) > 1;
  }
  return step;
}

const std::vector<RowComputation::Step>& RowComputation::exact_steps() {
  const std::lock_guard lock(mutex_);
  if (!exact_steps_.empty()) return exact_steps_;
  const auto give_up = [&](const std::string& reason) {
    throw eph::Failure(EPH_EP_FAIL, "partition '" + name_ +
                                        "' met NaN, and can't be computed so that NaN is kept: " +
                                        reason + "; set session.nan=library to do without");
  };
  try {
    std::vector<Step> steps;
    for (const RowProduct& product : row_products(recipe_)) {
      steps.push_back(make_exact_step(product, steps_[steps.size()]));
      try_out(steps.back());
    }
    exact_steps_ = std::move(steps);
  } catch (const NoPrimitive& error) {
    give_up(error.what());
  } catch (const dnnl::error& error) {
    give_up(error.what());
  }
  return exact_steps_;
}

void RowComputation::apply(const Epilogue& epilogue, int64_t rows, int64_t columns, float* data) {
  for_blocks(rows * columns, [&](int64_t first, int64_t count) {
    float* const block = data + first;
    if (epilogue.operand == nullptr) {
      compute_exactly(epilogue.op.eltwise, block, count, block);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const float other = epilogue.operand[epilogue.is_row ? (first + i) % columns : 0];
      block[i] = compute_exactly(epilogue.op.binary.function, block[i], other);
    }
  });
}

void RowComputation::try_out(const Step& step) const {
  for (const int64_t rows : {1, 2, 7, 17, 64}) {
    std::vector<TrialArgument> arguments = {
        {DNNL_ARG_SRC, row_major({rows, step.depth}), 0, nullptr},
        {DNNL_ARG_DST, row_major({rows, step.columns}), 1, nullptr}};
    if (step.scratchpad.get_size() > 0) {
      arguments.push_back({DNNL_ARG_SCRATCHPAD, step.scratchpad, 2, nullptr});
    }
    for (const auto& [argument, memory] : step.constants) {
      arguments.push_back({argument, memory.get_desc(), static_cast<uint32_t>(arguments.size()),
                           memory.get_data_handle()});
    }
    if (const std::optional<StepTouch> touch = find_touch(step.primitive, arguments, engine_)) {
      throw NoPrimitive("oneDNN " + to_text(*touch) + " of " + step.label + " with " +
                        std::to_string(rows) + " rows");
    }
  }
}

int64_t RowComputation::count_rows(const eph_value* input) const {
  const Port& port = recipe_.inputs[0];
  const int64_t depth = steps_.front().depth;
  const auto refuse = [&] {
    throw eph::Failure(EPH_INVALID_ARGUMENT,
                       "partition '" + name_ + "' " + mismatch(port, depth, input));
  };
  if (input == nullptr || input->kind != EPH_KIND_TENSOR ||
      input->element_type != EPH_ELEMENT_FLOAT || input->rank != port.shape.size() ||
      input->shape[input->rank - 1] != depth) {
    refuse();
  }
  int64_t rows = 1, bytes = 0;
  for (uint32_t i = 0; i + 1 < input->rank; ++i) {
    if (input->shape[i] < 0 || __builtin_mul_overflow(rows, input->shape[i], &rows)) refuse();
  }
  const int64_t row_bytes = depth * static_cast<int64_t>(sizeof(float));
  if (__builtin_mul_overflow(rows, row_bytes, &bytes) ||
      input->byte_size < static_cast<uint64_t>(bytes) || (rows > 0 && input->data == nullptr)) {
    refuse();
  }
  return rows;
}

void RowComputation::compute(eph::Run& run, eph::State* state) {
  const eph_value* input = run.input(0);
  const int64_t rows = count_rows(input);
  if (run.output(0) == nullptr) return;
  auto& own = static_cast<RunState&>(*state);
  own.shape.assign(input->shape, input->shape + input->rank);
  own.shape.back() = steps_.back().columns;
  const auto* from = static_cast<const float*>(input->data);
  auto* to = static_cast<float*>(run.allocate(0, own.shape, EPH_ELEMENT_FLOAT).data);
  if (rows == 0) return;
  const ephost_openmp::Crowd::Run use(*crowd_, threads_);
  const ThreadScope scope(threads_);
  if (nan_ == NanMode::kPropagate) {
    const InvalidWatch watch;
    compute_rows(run, own, rows, from, to);
    if (!watch.has_seen_any()) return;
    RunState exact(*this, exact_steps());
    compute_rows(run, exact, rows, from, to);
  } else {
    compute_rows(run, own, rows, from, to);
  }
}

void RowComputation::compute_rows(eph::Run& run, RunState& state, int64_t rows, const float* input,
                                  float* output) const {
  const auto inner_bytes =
      static_cast<uint64_t>(std::min(rows, block_rows_) * inner_width_) * sizeof(float);
  for (std::size_t i = 0; i < state.inner.size() && i + 1 < steps_.size(); ++i) {
    state.inner[i] = static_cast<float*>(run.scratch(inner_bytes));
  }
  if (state.scratchpad_size > 0) state.scratchpad = run.scratch(state.scratchpad_size);
  for (int64_t done = 0; done < rows; done += block_rows_) {
    state.prepare(std::min(rows - done, block_rows_));
    compute_block(run, state, input + done * steps_.front().depth,
                  output + done * steps_.back().columns);
  }
}

void RowComputation::compute_block(eph::Run& run, RunState& state, const float* input,
                                   float* output) const {
  const float* source = input;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (run.is_cancelled()) throw eph::Failure(EPH_CANCELLED, "the run was cancelled");
    float* const target = i + 1 == steps_.size() ? output : state.inner[i % 2];
    state.execute(i, source, target);
    source = target;
  }
}

std::unique_ptr<eph::State> RowComputation::create_state() {
  return std::make_unique<RunState>(*this, steps_);
}

}  // namespace ephost_dnnl
