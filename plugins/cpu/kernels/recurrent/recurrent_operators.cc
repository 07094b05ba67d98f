// RNN, GRU and LSTM. X, the previous state H and the weights are multiplied by recurrent_kernel.h;
// this file defines what a step computes from the sums.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/recurrent/recurrent_kernel.h"

namespace ephost_cpu {
namespace {

// H = f(X W + H R + b)
struct RnnCell {
  static constexpr int64_t kGates = 1;
  static constexpr std::array<int64_t, 1> kParts = {1};
  static std::vector<std::string_view> activations() { return {"Tanh"}; }

  explicit RnnCell(const eph::NodeView&) {}
  [[nodiscard]] bool adds_recurrent_bias(std::size_t) const { return true; }
  [[nodiscard]] static bool quantizes_state() { return false; }

  template <class T, class Multiply>
  void step(const RecurrentStep<T>& step, const Multiply& multiply) const {
    multiply(0, step.h, step.gates[0]);
    step.for_each_active([&](int64_t b) {
      T* gate = step.gates[0] + b * step.hidden;
      step.activate_gate(0, gate);
      std::copy_n(gate, step.hidden, step.h + b * step.hidden);
    });
  }
};

// z, r = f(X W + H R + b)
// h = g(X W + (r H) R + b), or g(X W + r (H R + Rb) + Wb) if linear_before_reset
// H = (1 - z) h + z H
struct GruCell {
  static constexpr int64_t kGates = 3;
  static constexpr std::array<int64_t, 2> kParts = {2, 1};
  static std::vector<std::string_view> activations() { return {"Sigmoid", "Tanh"}; }

  explicit GruCell(const eph::NodeView& node)
      : linear_before_reset(node.get_int("linear_before_reset", 0) != 0) {}
  [[nodiscard]] bool adds_recurrent_bias(std::size_t part) const {
    return part == 0 || !linear_before_reset;
  }
  [[nodiscard]] static bool quantizes_state() { return false; }

  template <class T, class Multiply>
  void step(const RecurrentStep<T>& step, const Multiply& multiply) const {
    const int64_t hidden = step.hidden;
    const auto z_of = [&](int64_t b) { return step.gates[0] + b * 2 * hidden; };
    multiply(0, step.h, step.gates[0]);
    step.for_each_active([&](int64_t b) {
      step.activate_gate(0, z_of(b));
      step.activate_gate(0, z_of(b) + hidden);
    });
    if (linear_before_reset) {
      multiply(1, step.h, step.temporary);
    } else {
      // Rows of ended sequences are not used, but must hold numbers.
      for (int64_t b = 0; b < step.batch; ++b) reset(z_of(b) + hidden, step.h, b, hidden, step);
      multiply(1, step.temporary, step.gates[1]);
    }
    step.for_each_active([&](int64_t b) {
      const T* z = z_of(b);
      const T* r = z + hidden;
      const T* linear = step.temporary + b * hidden;
      T* candidate = step.gates[1] + b * hidden;
      T* h = step.h + b * hidden;
      if (linear_before_reset) {
        for (int64_t i = 0; i < hidden; ++i) candidate[i] += r[i] * linear[i];
      }
      step.activate_gate(1, candidate);
      for (int64_t i = 0; i < hidden; ++i) h[i] = (1 - z[i]) * candidate[i] + z[i] * h[i];
    });
  }

  template <class T>
  static void reset(const T* r, const T* h, int64_t b, int64_t hidden,
                    const RecurrentStep<T>& step) {
    T* to = step.temporary + b * hidden;
    for (int64_t i = 0; i < hidden; ++i) to[i] = r[i] * h[b * hidden + i];
  }

  bool linear_before_reset;
};

// i, o, f = f(X W + H R + P C + b), c = g(X W + H R + b)
// C = f C + i c, H = o h(C); o uses the new C. What is clipped is "the input of activations", as
// ONNX says: sums with peepholes, and C for h alone, where ONNX Runtime does not clip.
struct LstmCell {
  static constexpr int64_t kGates = 4;
  static constexpr std::array<int64_t, 1> kParts = {4};
  static std::vector<std::string_view> activations() { return {"Sigmoid", "Tanh", "Tanh"}; }

  explicit LstmCell(const eph::NodeView& node)
      : couples_forget(node.get_int("input_forget", 0) != 0),
        quantizes(node.get_int(kQuantizesState, 0) != 0) {}
  [[nodiscard]] bool adds_recurrent_bias(std::size_t) const { return true; }
  [[nodiscard]] bool quantizes_state() const { return quantizes; }

  template <class T, class Multiply>
  void step(const RecurrentStep<T>& step, const Multiply& multiply) const {
    multiply(0, step.h, step.gates[0]);
    step.for_each_active([&](int64_t b) {
      compute(step, step.gates[0] + b * 4 * step.hidden, step.h + b * step.hidden,
              step.c + b * step.hidden);
    });
  }

  template <class T>
  void compute(const RecurrentStep<T>& step, T* i, T* h, T* c) const {
    const int64_t hidden = step.hidden;
    T* o = i + hidden;
    T* f = o + hidden;
    T* g = f + hidden;
    const auto peep = [&](T* gate, int64_t which) {
      if (step.peepholes == nullptr) return;
      const T* p = step.peepholes + which * hidden;
      for (int64_t j = 0; j < hidden; ++j) gate[j] += p[j] * c[j];
    };
    peep(i, 0);
    step.activate_gate(0, i);
    if (couples_forget) {
      for (int64_t j = 0; j < hidden; ++j) f[j] = 1 - i[j];
    } else {
      peep(f, 2);
      step.activate_gate(0, f);
    }
    step.activate_gate(1, g);
    for (int64_t j = 0; j < hidden; ++j) c[j] = f[j] * c[j] + i[j] * g[j];
    peep(o, 1);
    step.activate_gate(0, o);
    std::copy_n(c, hidden, h);
    step.activate_gate(2, h);
    for (int64_t j = 0; j < hidden; ++j) h[j] *= o[j];
  }

  bool couples_forget, quantizes;
};

constexpr uint64_t kLengths = kTypeSet<EPH_ELEMENT_INT32>;
constexpr auto& kSix = kInputTypes<kFloat, kFloat, kFloat, kFloat, kLengths, kFloat>;
constexpr auto& kEight =
    kInputTypes<kFloat, kFloat, kFloat, kFloat, kLengths, kFloat, kFloat, kFloat>;
constexpr Inputs kRecurrentInputs = {.required = 3, .same_type = 0b11101111};

constexpr KernelEntry kRecurrentKernels[] = {
    {"RNN", 7, kNewest, kRecurrentInputs, kSix, &make<Recurrent<RnnCell>>},
    {"GRU", 7, kNewest, kRecurrentInputs, kSix, &make<Recurrent<GruCell>>},
    {"LSTM", 7, kNewest, kRecurrentInputs, kEight, &make<Recurrent<LstmCell>>},
};

}  // namespace

Table recurrent_kernels() { return kRecurrentKernels; }

}  // namespace ephost_cpu
