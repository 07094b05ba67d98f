#include "plugins/dnnl/executor/primitives/nan_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "plugins/dnnl/executor/workspace_plan.h"
#include "plugins/dnnl/library/invalid_watch.h"

namespace ephost_dnnl {
namespace {

constexpr int kNanByte = 0xFF;  // four of them are NaN

// NaN to the power of 0 is 1.
bool is_constant_power(const Eltwise& op) {
  return op.function == EltwiseFunction::kPow && op.beta == 0;
}

bool makes_numbers_of_nan(const Recipe& recipe, const Step& step) {
  if (step.op == kNoOp) return false;
  const Op& op = recipe.ops[step.op];
  const auto* eltwise = get_if<Eltwise>(op);
  return (eltwise != nullptr && is_constant_power(*eltwise)) ||
         std::any_of(op.post_ops.begin(), op.post_ops.end(), [](const PostOp& post_op) {
           return post_op.kind == PostOpKind::kEltwise && is_constant_power(post_op.eltwise);
         });
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The arguments of one step: constants and parameters where they are, NaN as the source, and zeros
// elsewhere.
class NanArguments {
 public:
  NanArguments(const Program& program, const Step& step, const dnnl::engine& engine)
      : engine_(engine) {
    for (const StepArgument& argument : step.arguments) {
      const View& view = program.views[argument.view];
      sizes_[view.buffer] = std::max(sizes_[view.buffer], view.layout.get_size());
    }
    for (const StepArgument& argument : step.arguments) {
      const View& view = program.views[argument.view];
      void* const fixed = fixed_memory(program, program.buffers[view.buffer]);
      void* const data = fixed != nullptr ? fixed : memory_of(view.buffer);
      memories_.emplace_back(view.layout, engine, data);
      if (argument.argument == DNNL_ARG_SRC && fixed == nullptr) {
        has_floats_ = type_of(view.layout) == ElementType::kF32;
        source_ = memories_.size() - 1;
      }
      if (argument.argument == DNNL_ARG_DST) output_ = memories_.size() - 1;
      arguments_.push_back({argument.argument, memories_.back().get()});
    }
  }

  [[nodiscard]] bool has_floats() const { return has_floats_; }

  // Whether NaN is lost and nothing shows it. A watch costs more than most primitives that are
  // tried, and is needed only if numbers come out.
  bool are_lost_by(const dnnl::primitive& primitive) {
    dnnl::stream stream(engine_);
    execute(primitive, stream);
    if (is_output_nan(stream)) return false;
    const InvalidWatch watch;
    execute(primitive, stream);
    return !watch.has_seen_any() && !is_output_nan(stream);
  }

 private:
  // On a source of NaN, which may be what the output is computed in.
  void execute(const dnnl::primitive& primitive, dnnl::stream& stream) {
    fill(output_, 0);
    if (source_) fill(*source_, kNanByte);
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data());
    stream.wait();
    if (status != dnnl_success) throw dnnl::error(status, "a primitive failed to run on NaN");
  }

  void fill(std::size_t argument, int byte) {
    dnnl::memory& memory = memories_[argument];
    std::memset(memory.get_data_handle(), byte, memory.get_desc().get_size());
  }

  void* memory_of(uint32_t buffer) {
    auto& memory = owned_[buffer];
    if (memory == nullptr) {
      const std::size_t bytes = aligned(std::max<std::size_t>(sizes_[buffer], 1));
      memory.reset(std::aligned_alloc(kBufferAlignment, bytes));
      if (memory == nullptr) throw std::bad_alloc();
      std::memset(memory.get(), 0, bytes);
    }
    return memory.get();
  }

  [[nodiscard]] bool is_output_nan(dnnl::stream& stream) {
    const Descriptor layout = memories_[output_].get_desc();
    if (type_of(layout) != ElementType::kF32) return false;
    const Descriptor plain = row_major(dims_of(layout));
    dnnl::memory numbers(plain, engine_);
    dnnl::reorder(memories_[output_], numbers).execute(stream, memories_[output_], numbers);
    stream.wait();
    const auto* first = static_cast<const float*>(numbers.get_data_handle());
    return std::all_of(first, first + plain.get_size() / sizeof(float),
                       [](float number) { return std::isnan(number); });
  }

  const dnnl::engine& engine_;
  std::map<uint32_t, std::size_t> sizes_;                  // by buffer
  std::map<uint32_t, std::unique_ptr<void, Free>> owned_;  // by buffer
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::size_t output_ = 0;
  std::optional<std::size_t> source_;  // where it is not a constant
  bool has_floats_ = false;
};

}  // namespace

bool hides_nan(const Recipe& recipe, const Program& program, std::size_t step,
               const dnnl::engine& engine) {
  const Step& tried = program.steps[step];
  if (makes_numbers_of_nan(recipe, tried)) return false;
  NanArguments arguments(program, tried, engine);
  return arguments.has_floats() && arguments.are_lost_by(tried.primitive);
}

}  // namespace ephost_dnnl
