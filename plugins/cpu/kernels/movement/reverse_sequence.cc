// ReverseSequence: reverses the first sequence_lens[b] elements of each sequence b of a batch.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/element_mover.h"

namespace ephost_cpu {
namespace {

class ReverseSequence final : public Kernel {
 public:
  explicit ReverseSequence(const NodeContext& context)
      : Kernel(context),
        time_axis_(context.node().get_int("time_axis", 0)),
        batch_axis_(context.node().get_int("batch_axis", 1)) {
    if ((time_axis_ != 0 && time_axis_ != 1) || batch_axis_ != 1 - time_axis_) {
      fail("attributes time_axis=" + std::to_string(time_axis_) +
           " and batch_axis=" + std::to_string(batch_axis_) + " are not 0 and 1 or 1 and 0");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has a rank below 2");
    const int64_t steps = shape[static_cast<std::size_t>(time_axis_)];
    const int64_t batch = shape[static_cast<std::size_t>(batch_axis_)];
    const int64_t* lengths = checked_lengths(run, batch, steps);
    allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;

    const int64_t inner = element_count(shape, 2, shape.size());
    const int64_t time_stride = time_axis_ == 0 ? batch : 1;
    const int64_t batch_stride = time_axis_ == 0 ? 1 : steps;
    ElementMover mover(run);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t source = t < lengths[b] ? lengths[b] - 1 - t : t;
        mover.copy((t * time_stride + b * batch_stride) * inner,
                   (source * time_stride + b * batch_stride) * inner, inner);
      }
    }
  }

 private:
  static const int64_t* checked_lengths(const eph::Run& run, int64_t batch, int64_t steps) {
    const eph_value& value = *run.input(1);
    if (value.rank != 1 || value.shape[0] != batch) {
      fail("sequence_lens of shape " + to_string(eph::shape_of(value)) + " do not fit a batch of " +
           std::to_string(batch));
    }
    const auto* lengths = run.input_data<int64_t>(1);
    for (int64_t b = 0; b < batch; ++b) {
      if (lengths[b] >= 0 && lengths[b] <= steps) continue;
      fail("a sequence length is " + std::to_string(lengths[b]) + ", but there are " +
           std::to_string(steps) + " steps");
    }
    return lengths;
  }

  int64_t time_axis_, batch_axis_;
};

constexpr KernelEntry kReverseSequenceKernels[] = {
    {"ReverseSequence", 10, kNewest, kTwoInputs, kInputTypes<kAny, kInt64>, &make<ReverseSequence>},
};

}  // namespace

Table reverse_sequence_kernels() { return kReverseSequenceKernels; }

}  // namespace ephost_cpu
