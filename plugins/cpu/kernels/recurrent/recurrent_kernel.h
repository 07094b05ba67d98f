// Recurrent<Cell>: the kernel of RNN, GRU and LSTM. The cell defines the gates, the parts in which
// they are multiplied, and what one step computes from the products:
//
//   struct Cell {
//     static constexpr int64_t kGates;
//     static constexpr std::array<int64_t, N> kParts;   // gates of each part
//     static std::vector<std::string_view> activations();  // defaults for one direction
//     explicit Cell(const eph::NodeView& node);
//     bool adds_recurrent_bias(std::size_t part) const;  // with the bias of the input
//     bool quantizes_state() const;  // to bytes before it is multiplied; if so, leaves `temporary`
//     template <class T, class Multiply>
//     void step(const RecurrentStep<T>& step, const Multiply& multiply) const;
//   };
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/quantized/quantization.h"
#include "plugins/cpu/kernels/recurrent/recurrent.h"

namespace ephost_cpu {

template <class T>
struct RecurrentStep {
  int64_t index = 0, batch = 0, hidden = 0;
  std::array<T*, 2> gates = {};  // the step's rows of each part: products of X, later all sums
  T* h = nullptr;                // batch x hidden, like the next two
  T* c = nullptr;
  T* temporary = nullptr;
  const T* peepholes = nullptr;       // of this direction, or null
  const T* recurrent_bias = nullptr;  // Rb of the last gate, or null
  const RecurrentActivation* activations = nullptr;
  const StepOrder* order = nullptr;
  T clip = 0;

  void activate_gate(std::size_t which, T* x) const {
    if (clip > 0) {
      for (int64_t i = 0; i < hidden; ++i) x[i] = std::clamp(x[i], -clip, clip);
    }
    activate(activations[which], x, hidden);
  }

  // Calls body(b) for the members of the batch whose sequences haven't ended.
  template <class Body>
  void for_each_active(const Body& body) const {
    parallel_for(batch, 6.0 * static_cast<double>(hidden), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (order->is_active(index, b)) body(b);
      }
    });
  }
};

template <class Cell>
class Recurrent final : public Kernel {
 public:
  explicit Recurrent(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node(), Cell::kGates, Cell::activations()),
        cell_(context.node()) {
    for (std::size_t d = 0; d < attributes_.directions; ++d) {
      for (const uint32_t input : {1U, 2U}) {
        for (std::size_t part = 0; part < kPartCount; ++part) {
          products_.push_back(
              std::make_unique<GateProducts>(context, find_constant(context, input, d, part)));
        }
      }
    }
    plan_memory(context);
  }

  std::unique_ptr<eph::State> create_state() override {
    auto state = std::make_unique<States>();
    for (const auto& product : products_) state->all.push_back(product->create_state());
    return state;
  }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const RecurrentShape shape =
        attributes_.check(dims_of(x), dims_of(*run.input(1)), dims_of(*run.input(2)));
    attributes_.check_optional(run, shape);
    dispatch_compute_type(x.element_type, [&](auto tag) {
      compute_all<typename decltype(tag)::type>(run, *static_cast<States*>(state), shape);
    });
  }

 private:
  static constexpr std::size_t kPartCount = Cell::kParts.size();

  struct States : eph::State {
    std::vector<std::unique_ptr<eph::State>> all;  // one of each of the products
  };

  template <class T>
  struct Tensors {
    const T *x, *w, *r, *b, *h, *c, *p;
    const int32_t* lengths;
    T *y, *y_h, *y_c;
  };

  template <class T>
  struct Memory {
    T* x = nullptr;
    std::array<T*, 2> gates = {}, biases = {};
    T *h = nullptr, *c = nullptr, *temporary = nullptr;
    void* scratch = nullptr;
  };

  static int64_t first_gate(std::size_t part) { return part == 0 ? 0 : Cell::kParts[0]; }
  static std::size_t product_index(std::size_t direction, bool recurrent, std::size_t part) {
    return (direction * 2 + (recurrent ? 1 : 0)) * kPartCount + part;
  }

  // Where W or R (`input`) of that direction and part begins.
  template <class T>
  static const T* part_of(const T* all, std::size_t direction, std::size_t part, int64_t hidden,
                          int64_t columns) {
    const int64_t gate = static_cast<int64_t>(direction) * Cell::kGates + first_gate(part);
    return all + gate * hidden * columns;
  }

  [[nodiscard]] const float* find_constant(const NodeContext& context, uint32_t input,
                                           std::size_t direction, std::size_t part) const {
    const eph_value* value = context.constant(input);
    if (value == nullptr || value->element_type != EPH_ELEMENT_FLOAT || value->rank != 3) {
      return nullptr;
    }
    const Dims shape = dims_of(*value);
    const auto directions = static_cast<int64_t>(attributes_.directions);
    if (shape[0] != directions || shape[1] % Cell::kGates != 0 || element_count(shape) == 0) {
      return nullptr;
    }
    return part_of(data<const float>(*value), direction, part, shape[1] / Cell::kGates, shape[2]);
  }

  [[nodiscard]] ProductShape input_product(const RecurrentShape& shape, std::size_t part,
                                           bool has_bias) const {
    return {.m = shape.steps * shape.batch,
            .k = shape.input,
            .n = Cell::kParts[part] * shape.hidden,
            .transpose_b = true,
            .has_bias = has_bias};
  }

  // Added to the input's products, or to the bias of that part's last gate.
  [[nodiscard]] ProductShape recurrent_product(const RecurrentShape& shape, std::size_t part,
                                               bool has_bias) const {
    const bool adds = cell_.adds_recurrent_bias(part);
    return {.m = shape.batch,
            .k = shape.hidden,
            .n = Cell::kParts[part] * shape.hidden,
            .transpose_b = true,
            .has_bias = has_bias && !adds,
            .accumulates = adds};
  }

  template <class T>
  Memory<T> take_memory(WorkArea& area, const RecurrentShape& shape, bool copies, bool has_bias) {
    Memory<T> memory;
    const int64_t rows = checked_multiply(shape.steps, shape.batch);
    if (copies) memory.x = area.take<T>(checked_multiply(rows, shape.input));
    uint64_t scratch = 0;
    for (std::size_t part = 0; part < kPartCount; ++part) {
      const int64_t width = checked_multiply(Cell::kParts[part], shape.hidden);
      memory.gates[part] = area.take<T>(checked_multiply(rows, width));
      memory.biases[part] = area.take<T>(width);
      if (!std::is_same_v<T, float> || rows == 0) continue;
      for (std::size_t d = 0; d < shape.directions; ++d) {
        if (shape.input > 0) {
          scratch = std::max(scratch, products_[product_index(d, false, part)]->prepare(
                                          input_product(shape, part, has_bias)));
        }
        scratch = std::max(scratch, products_[product_index(d, true, part)]->prepare(
                                        recurrent_product(shape, part, has_bias)));
      }
    }
    const int64_t state = checked_multiply(shape.batch, shape.hidden);
    memory.h = area.take<T>(state);
    memory.c = area.take<T>(state);
    memory.temporary = area.take<T>(state);
    memory.scratch = area.take_bytes(static_cast<int64_t>(scratch));
    return memory;
  }

  [[nodiscard]] bool copies_input(bool has_lengths) const {
    const bool reverses = attributes_.first_is_reverse || attributes_.directions == 2;
    return attributes_.batch_first || (reverses && has_lengths);
  }

  void plan_memory(const NodeContext& context) {
    const std::optional<Dims> x = context.input_shape(0);
    const std::optional<Dims> w = context.input_shape(1);
    const std::optional<Dims> r = context.input_shape(2);
    const int32_t type = context.input_type(0);
    if (!x || !w || !r || type == EPH_ELEMENT_UNDEFINED || type == EPH_ELEMENT_DOUBLE) return;
    const RecurrentShape shape = attributes_.check(*x, *w, *r);
    if (shape.batch == 0 || shape.hidden == 0) return;
    WorkArea area;
    take_memory<float>(area, shape, copies_input(context.has_input(4)), context.has_input(3));
    workspace_bytes_ = area.used();
    set_workspace(workspace_bytes_);
  }

  template <class T>
  void compute_all(eph::Run& run, States& states, const RecurrentShape& shape) {
    FloatArguments arguments(run);
    const int32_t type = run.input(0)->element_type;
    const auto directions = static_cast<int64_t>(shape.directions);
    const bool first = attributes_.batch_first;
    const Dims y = first ? Dims{shape.batch, shape.steps, directions, shape.hidden}
                         : Dims{shape.steps, directions, shape.batch, shape.hidden};
    const Dims last = first ? Dims{shape.batch, directions, shape.hidden}
                            : Dims{directions, shape.batch, shape.hidden};
    const auto* lengths = run.input(4) != nullptr ? run.input_data<int32_t>(4) : nullptr;
    const Tensors<T> tensors = {arguments.input<T>(0),
                                arguments.input<T>(1),
                                arguments.input<T>(2),
                                arguments.input<T>(3),
                                arguments.input<T>(5),
                                arguments.input<T>(6),
                                arguments.input<T>(7),
                                lengths,
                                arguments.optional_output<T>(0, type, y),
                                arguments.optional_output<T>(1, type, last),
                                arguments.optional_output<T>(2, type, last)};
    if (shape.batch == 0 || shape.hidden == 0) return;
    // Positions beyond the end of a sequence are 0.
    if (tensors.y != nullptr && lengths != nullptr) {
      std::fill_n(tensors.y, element_count(y), T{0});
    }
    const bool copies = copies_input(lengths != nullptr);
    WorkArea needed;
    take_memory<T>(needed, shape, copies, tensors.b != nullptr);
    WorkArea area(run, needed.used(), workspace_bytes_);
    const Memory<T> memory = take_memory<T>(area, shape, copies, tensors.b != nullptr);
    for (std::size_t d = 0; d < shape.directions; ++d) {
      run_direction(run, states, shape, tensors, memory, d);
    }
    arguments.finish();
  }

  template <class T>
  void run_direction(eph::Run& run, States& states, const RecurrentShape& shape,
                     const Tensors<T>& tensors, const Memory<T>& memory, std::size_t d) {
    const StepOrder order(shape, d == 1 || attributes_.first_is_reverse, attributes_.batch_first,
                          tensors.lengths);
    const T* x = order.copies_input() ? copy_input(shape, order, tensors.x, memory.x) : tensors.x;
    for (std::size_t part = 0; part < kPartCount; ++part) {
      multiply_input(run, states, shape, tensors, memory, x, d, part);
    }
    load_state(shape, tensors.h, d, memory.h);
    load_state(shape, tensors.c, d, memory.c);
    RecurrentStep<T> step;
    step.batch = shape.batch;
    step.hidden = shape.hidden;
    step.h = memory.h;
    step.c = memory.c;
    step.temporary = memory.temporary;
    if (tensors.p != nullptr)
      step.peepholes = tensors.p + static_cast<int64_t>(d) * 3 * shape.hidden;
    if (tensors.b != nullptr) {
      step.recurrent_bias =
          tensors.b + (static_cast<int64_t>(d + 1) * 2 * Cell::kGates - 1) * shape.hidden;
    }
    step.activations =
        attributes_.activations.data() + d * attributes_.activations.size() / shape.directions;
    step.order = &order;
    step.clip = static_cast<T>(attributes_.clip);
    const auto multiply = [&](std::size_t part, const T* from, T* to) {
      if constexpr (std::is_same_v<T, float>) {
        if (cell_.quantizes_state()) {
          pass_through_bytes(from, memory.temporary, shape.batch * shape.hidden);
          from = memory.temporary;
        }
      }
      const std::size_t index = product_index(d, true, part);
      const ProductShape product = recurrent_product(shape, part, tensors.b != nullptr);
      products_[index]->multiply(run, states.all[index].get(), product, from,
                                 part_of(tensors.r, d, part, shape.hidden, shape.hidden),
                                 product.has_bias ? step.recurrent_bias : nullptr, to,
                                 memory.scratch);
    };
    for (int64_t s = 0; s < shape.steps; ++s) {
      step.index = s;
      for (std::size_t part = 0; part < kPartCount; ++part) {
        const int64_t size = shape.batch * Cell::kParts[part] * shape.hidden;
        step.gates[part] = memory.gates[part] + order.block(s) * size;
      }
      cell_.step(step, multiply);
      if (tensors.y != nullptr) store_step(shape, order, s, d, memory.h, tensors.y);
    }
    store_state(shape, memory.h, d, tensors.y_h);
    store_state(shape, memory.c, d, tensors.y_c);
  }

  // The rows of X in the order of steps; zeros beyond the end of a sequence.
  template <class T>
  static const T* copy_input(const RecurrentShape& shape, const StepOrder& order, const T* x,
                             T* copy) {
    for (int64_t s = 0; s < shape.steps; ++s) {
      for (int64_t b = 0; b < shape.batch; ++b) {
        T* to = copy + (s * shape.batch + b) * shape.input;
        if (order.is_active(s, b)) {
          std::copy_n(x + order.row(order.time(s, b), b) * shape.input, shape.input, to);
        } else {
          std::fill_n(to, shape.input, T{0});
        }
      }
    }
    return copy;
  }

  template <class T>
  void multiply_input(eph::Run& run, States& states, const RecurrentShape& shape,
                      const Tensors<T>& tensors, const Memory<T>& memory, const T* x, std::size_t d,
                      std::size_t part) {
    const int64_t width = Cell::kParts[part] * shape.hidden;
    T* bias = memory.biases[part];
    if (tensors.b != nullptr) {
      const T* w_bias =
          tensors.b +
          (static_cast<int64_t>(d) * 2 * Cell::kGates + first_gate(part)) * shape.hidden;
      const T* r_bias = w_bias + Cell::kGates * shape.hidden;
      const bool adds = cell_.adds_recurrent_bias(part);
      for (int64_t i = 0; i < width; ++i) bias[i] = w_bias[i] + (adds ? r_bias[i] : T{0});
    }
    const ProductShape product = input_product(shape, part, tensors.b != nullptr);
    if (product.m == 0) return;
    if (product.k == 0) {
      for (int64_t row = 0; row < product.m; ++row) {
        T* to = memory.gates[part] + row * width;
        if (product.has_bias) {
          std::copy_n(bias, width, to);
        } else {
          std::fill_n(to, width, T{0});
        }
      }
      return;
    }
    const std::size_t index = product_index(d, false, part);
    products_[index]->multiply(run, states.all[index].get(), product, x,
                               part_of(tensors.w, d, part, shape.hidden, shape.input),
                               product.has_bias ? bias : nullptr, memory.gates[part],
                               memory.scratch);
  }

  // The row of a state of shape [directions, batch, hidden], or [batch, directions, hidden].
  [[nodiscard]] int64_t state_row(const RecurrentShape& shape, std::size_t d, int64_t b) const {
    const auto direction = static_cast<int64_t>(d);
    return attributes_.batch_first ? b * static_cast<int64_t>(shape.directions) + direction
                                   : direction * shape.batch + b;
  }

  template <class T>
  void load_state(const RecurrentShape& shape, const T* from, std::size_t d, T* state) const {
    if (from == nullptr) {
      std::fill_n(state, shape.batch * shape.hidden, T{0});
      return;
    }
    for (int64_t b = 0; b < shape.batch; ++b) {
      std::copy_n(from + state_row(shape, d, b) * shape.hidden, shape.hidden,
                  state + b * shape.hidden);
    }
  }

  template <class T>
  void store_state(const RecurrentShape& shape, const T* state, std::size_t d, T* to) const {
    for (int64_t b = 0; to != nullptr && b < shape.batch; ++b) {
      std::copy_n(state + b * shape.hidden, shape.hidden,
                  to + state_row(shape, d, b) * shape.hidden);
    }
  }

  template <class T>
  void store_step(const RecurrentShape& shape, const StepOrder& order, int64_t s, std::size_t d,
                  const T* h, T* y) const {
    const auto directions = static_cast<int64_t>(shape.directions);
    const auto direction = static_cast<int64_t>(d);
    for (int64_t b = 0; b < shape.batch; ++b) {
      if (!order.is_active(s, b)) continue;
      const int64_t time = order.time(s, b);
      const int64_t row = attributes_.batch_first
                              ? order.row(time, b) * directions + direction
                              : (time * directions + direction) * shape.batch + b;
      std::copy_n(h + b * shape.hidden, shape.hidden, y + row * shape.hidden);
    }
  }

  RecurrentAttributes attributes_;
  Cell cell_;
  std::vector<std::unique_ptr<GateProducts>> products_;  // by product_index
  uint64_t workspace_bytes_ = 0;
};

}  // namespace ephost_cpu
