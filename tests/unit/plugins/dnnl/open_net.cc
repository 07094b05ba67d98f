#include "tests/unit/plugins/dnnl/open_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cassert>
#include <random>

#include "tests/unit/plugins/dnnl/guarded_library.h"

namespace ephost::test {
namespace {

// Stands for an open extent in the net with static shapes.
constexpr int64_t kExtent = 3;

// An operator's version in operator set 17 where the provider knows no other.
int32_t version_of(const std::string& op_type) {
  if (op_type == "Elu") return 6;
  return op_type == "HardSwish" ? 14 : 13;
}

}  // namespace

uint32_t OpenNet::input(const Shape& shape) {
  Shape example = shape;
  for (int64_t& extent : example) {
    is_open_.push_back(extent < 0);
    if (extent < 0) extent = kExtent;
  }
  input_ = net_.input(example);
  const uint32_t index = graph_.add_input(net_.graph().value_name(input_), shape);
  assert(index == input_);
  return index;
}

uint32_t OpenNet::add_constant(uint32_t in_net) {
  const uint32_t index = graph_.add_constant(net_.graph().value_name(in_net), net_.shape(in_net),
                                             to_floats(net_.value(in_net)));
  assert(index == in_net);
  return index;
}

uint32_t OpenNet::weights(const Shape& shape, double low, double high) {
  return add_constant(net_.weights(shape, low, high));
}

uint32_t OpenNet::scalar(float value) { return add_constant(net_.scalar(value)); }

uint32_t OpenNet::add(const std::string& op_type, const std::vector<uint32_t>& inputs,
                      const FakeAttributes& attributes) {
  const uint32_t index = net_.add(op_type, inputs, attributes);
  Shape shape = net_.shape(index);
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    if (is_open_[i]) shape[i] = -1;
  }
  const uint32_t value = graph_.add_value(net_.graph().value_name(index), shape);
  assert(value == index);
  graph_.add_node(op_type, inputs, {value}, attributes, version_of(op_type));
  return value;
}

uint32_t OpenNet::gelu(uint32_t x) {
  const uint32_t erf = add("Erf", {add("Div", {x, scalar(1.41421356F)})});
  return add("Mul", {add("Mul", {x, add("Add", {erf, scalar(1)})}), scalar(0.5F)});
}

Array OpenNet::value_for(uint32_t value, const Array& input) const {
  if (!input.data.empty()) return net_.value_if(value, input_, input);
  // The reference does not compute empty arrays.
  Array empty = {input.shape, {}};
  empty.shape.back() = net_.shape(value).back();
  return empty;
}

uint32_t OpenNet::find(const std::string& name) const {
  uint32_t index = 0;
  while (graph_.value_name(index) != name) ++index;
  return index;
}

Array OpenNet::random_input(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Array array = {shape, std::vector<double>(count(shape))};
  for (double& element : array.data) {
    element = static_cast<float>(static_cast<double>(random()) / 2147483648.0 - 1);
  }
  return array;
}

ComputationState::ComputationState(eph_computation* computation) : computation_(computation) {
  FakeError error;
  EXPECT_EQ(computation->api->create_state(computation, &state_, &error), EPH_OK) << error.message;
}

ComputationState::~ComputationState() { computation_->api->release_state(computation_, state_); }

RunResult ComputationState::run(const FloatTensor& input, bool cancelled) {
  FakeRun run({input});
  run.cancelled = cancelled;
  FakeError error;
  RunResult result;
  const GuardedLibrary library;
  result.code = computation_->api->compute(computation_, state_, &run, &error);
  EXPECT_THAT(library.touches(), ::testing::IsEmpty());
  result.message = error.message;
  result.shape = run.result_shape();
  result.data = run.result();
  return result;
}

RunResult ComputationState::run(const Array& input) {
  return run(FloatTensor(input.shape, to_floats(input)));
}

}  // namespace ephost::test
