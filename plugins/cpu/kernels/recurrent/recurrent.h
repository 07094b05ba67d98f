// The common part of RNN, GRU and LSTM: the shapes of their inputs, the order of time steps in
// both directions, sequences of different lengths, and the matrix products.
//
// The products of the whole input with W come first, as one matrix product; each step then adds the
// product of the state with R. Step s works on row block s of these products, in which the rows are
// the members of the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/kernels/recurrent/recurrent_activation.h"

namespace ephost_cpu {

struct RecurrentShape {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;
  std::size_t directions = 1;
};

struct RecurrentAttributes {
  // `activations` are the defaults for one direction.
  RecurrentAttributes(const eph::NodeView& node, int64_t gates,
                      const std::vector<std::string_view>& activations);

  // Throws if the shapes of X, W and R are incompatible.
  [[nodiscard]] RecurrentShape check(const Dims& x, const Dims& w, const Dims& r) const;
  // Throws if one of the other inputs that are given does not match the shape.
  void check_optional(const eph::Run& run, const RecurrentShape& shape) const;

  std::size_t directions = 1;
  bool first_is_reverse = false;
  bool batch_first = false;  // layout 1
  int64_t gates = 1;
  int64_t hidden_size = 0;  // 0: not stated
  float clip = 0;           // 0: none
  std::vector<RecurrentActivation> activations;
};

// An attribute, of LSTM as a part of another operator alone: the state is quantised to bytes, as
// DynamicQuantizeLinear does it, before it is multiplied.
inline constexpr std::string_view kQuantizesState = "ephost.quantizes_state";

// Y = A * B^T (+ bias) (+ Y), with A of m x k and B of n x k.
void multiply_rows(const ProductShape& shape, const double* a, const double* b, const double* bias,
                   double* y);

// The matrix products with one part of W or R of one direction: some neighbouring gates.
class GateProducts {
 public:
  // `constant` is null, or the elements of that part.
  GateProducts(const NodeContext& context, const float* constant)
      : products_(context.settings().onednn, constant) {}

  // Scratch memory that `multiply` needs.
  [[nodiscard]] uint64_t prepare(const ProductShape& shape) { return products_.prepare(shape); }
  [[nodiscard]] std::unique_ptr<eph::State> create_state() const {
    return products_.create_state();
  }

  void multiply(eph::Run& run, eph::State* state, const ProductShape& shape, const float* a,
                const float* b, const float* bias, float* y, void* scratch) {
    products_.multiply(run, state, shape, a, b, bias, y, scratch);
  }
  void multiply(eph::Run&, eph::State*, const ProductShape& shape, const double* a, const double* b,
                const double* bias, double* y, void*) {
    multiply_rows(shape, a, b, bias, y);
  }

 private:
  Products products_;
};

// The order of steps in one direction. `lengths` is null, or has the length of each sequence.
class StepOrder {
 public:
  StepOrder(const RecurrentShape& shape, bool reverse, bool batch_first, const int32_t* lengths)
      : shape_(shape), reverse_(reverse), batch_first_(batch_first), lengths_(lengths) {}

  // Whether X has to be copied to make the rows of a step adjacent.
  [[nodiscard]] bool copies_input() const {
    return batch_first_ || (reverse_ && lengths_ != nullptr);
  }
  [[nodiscard]] int64_t length(int64_t b) const {
    return lengths_ != nullptr ? lengths_[b] : shape_.steps;
  }
  [[nodiscard]] bool is_active(int64_t step, int64_t b) const { return step < length(b); }
  // The time that the step is at, for a member of the batch for which it is active.
  [[nodiscard]] int64_t time(int64_t step, int64_t b) const {
    return reverse_ ? length(b) - 1 - step : step;
  }
  // The row block of the step.
  [[nodiscard]] int64_t block(int64_t step) const {
    return reverse_ && !copies_input() ? shape_.steps - 1 - step : step;
  }
  // The row of X, or of Y without directions, of a time.
  [[nodiscard]] int64_t row(int64_t time, int64_t b) const {
    return batch_first_ ? b * shape_.steps + time : time * shape_.batch + b;
  }

 private:
  RecurrentShape shape_;
  bool reverse_, batch_first_;
  const int32_t* lengths_;
};

}  // namespace ephost_cpu
