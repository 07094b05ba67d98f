// open_net.h: a model for tests whose values have open extents, with one input. Beside it, a Net
// has the same nodes with static shapes, from which the expected results come.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test {

class OpenNet {
 public:
  explicit OpenNet(uint32_t seed = 1) : net_(seed) {}

  // Extents of -1 are open. Each function returns an index that both models share.
  uint32_t input(const Shape& shape);
  uint32_t weights(const Shape& shape, double low = -0.5, double high = 0.5);
  uint32_t scalar(float value);
  uint32_t add(const std::string& op_type, const std::vector<uint32_t>& inputs,
               const FakeAttributes& attributes = {});
  uint32_t gelu(uint32_t x);
  void output(uint32_t value) { graph_.mark_output(value); }

  [[nodiscard]] FakeGraph& graph() { return graph_; }
  // The elements of a value for that input.
  [[nodiscard]] Array value_for(uint32_t value, const Array& input) const;
  // The index of a value with that name.
  [[nodiscard]] uint32_t find(const std::string& name) const;
  // An input of that shape with random elements.
  [[nodiscard]] static Array random_input(const Shape& shape, uint32_t seed);

 private:
  uint32_t add_constant(uint32_t in_net);

  Net net_;
  FakeGraph graph_;
  uint32_t input_ = 0;
  std::vector<bool> is_open_;  // by dimension of the input
};

// What one run of a computation with one input and one output gives.
struct RunResult {
  int32_t code = EPH_OK;
  std::string message;
  Shape shape;
  std::vector<float> data;
};

// A computation with a state of its own.
class ComputationState {
 public:
  explicit ComputationState(eph_computation* computation);
  ~ComputationState();
  ComputationState(const ComputationState&) = delete;
  ComputationState& operator=(const ComputationState&) = delete;

  RunResult run(const FloatTensor& input, bool cancelled = false);
  RunResult run(const Array& input);

 private:
  eph_computation* computation_;
  void* state_ = nullptr;
};

}  // namespace ephost::test
