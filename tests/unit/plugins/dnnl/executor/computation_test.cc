// Running compiled partitions, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::computation_test {
namespace {

using ::testing::HasSubstr;

class DnnlComputation : public ::testing::Test {
 protected:
  DnnlComputation() {
    uint32_t x = net_.conv(net_.input({1, 3, 8, 8}), 8, 3);
    x = net_.add("Add", {x, net_.add("Tanh", {x})});
    net_.output(net_.conv(x, 4, 1));
    partitions_ = session_.compile(net_.graph());
  }
  Partition& partition() { return *partitions_.at(0); }

  Net net_;
  ProviderSession session_{1};
  std::vector<std::unique_ptr<Partition>> partitions_;
};

TEST_F(DnnlComputation, AsksForItsWorkspace) { EXPECT_GT(partition().info.workspace_bytes, 0U); }

TEST_F(DnnlComputation, GivesTheSameResultsInSeveralThreadsAtOnce) {
  const std::vector<std::vector<float>> expected = partition().run(net_);
  eph_computation* computation = partition().computation;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      FakeError error;
      void* state = nullptr;
      ASSERT_EQ(computation->api->create_state(computation, &state, &error), EPH_OK);
      const Array& array = net_.value(partition().graph->inputs()[0]);
      FloatTensor input(array.shape, {array.data.begin(), array.data.end()});
      for (int round = 0; round < 20; ++round) {
        FloatTensor output(partition().graph->value_shape(partition().graph->outputs()[0]));
        FakeRun run({&input}, {&output}, partition().info.workspace_bytes);
        ASSERT_EQ(computation->api->compute(computation, state, &run, &error), EPH_OK);
        ASSERT_EQ(output.values(), expected[0]);
      }
      computation->api->release_state(computation, state);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DnnlComputation, RefusesInputsOfAnotherShapeOrTypeOrNone) {
  const Shape out_shape = partition().graph->value_shape(partition().graph->outputs()[0]);
  FloatTensor wrong({1, 3, 8, 9}), integers({1, 3, 8, 8}), output(out_shape);
  integers.value.element_type = EPH_ELEMENT_INT32;
  FakeError error;
  EXPECT_EQ(partition().run_with({&wrong}, {&output}, error), EPH_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("was compiled for float [1, 3, 8, 8] as input 0"));
  EXPECT_EQ(partition().run_with({&integers}, {&output}, error), EPH_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("got element type 6"));
  EXPECT_EQ(partition().run_with({nullptr}, {&output}, error), EPH_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("got nothing"));
}

TEST_F(DnnlComputation, RunsWithoutOutputsThatAreNotWanted) {
  FloatTensor input({1, 3, 8, 8});
  FakeError error;
  EXPECT_EQ(partition().run_with({&input}, {nullptr}, error), EPH_OK) << error.message;
}

TEST_F(DnnlComputation, StopsWhenTheRunIsCancelled) {
  FloatTensor input({1, 3, 8, 8});
  FloatTensor output(partition().graph->value_shape(partition().graph->outputs()[0]));
  FakeError error;
  EXPECT_EQ(partition().run_with({&input}, {&output}, error, true), EPH_CANCELLED);
  EXPECT_EQ(error.message, "the run was cancelled");
}

TEST(DnnlComputations, DeliverInputsConstantsAndRepeatedOutputs) {
  Net net;
  const uint32_t x = net.input({2, 3, 4, 4});
  const uint32_t same = net.add("Identity", {x});
  const uint32_t conv = net.conv(same, 6, 1);
  const uint32_t flat = net.add("Flatten", {conv});
  net.output(same);
  net.output(conv);
  net.output(flat);
  net.output(net.add("Identity", {conv}));
  expect_one_partition(net);
}

// y = (x - 3) / 2 in int8, times a matrix: the integers are an input and an output of the
// partition.
TEST(DnnlComputations, ReadAndWriteIntegers) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {2, 2}, EPH_ELEMENT_INT8);
  const uint32_t scale = graph.add_constant("scale", {}, {0.5F});
  const uint32_t zero_point = graph.add_int8("zero_point", {}, {3});
  const uint32_t y = graph.add("DequantizeLinear", {x, scale, zero_point}, {2, 2});
  const uint32_t w = graph.add_constant("w", {2, 1}, {1, 10});
  const uint32_t product = graph.add("MatMul", {y, w}, {2, 1});
  const uint32_t stored = graph.add_value("stored", {2, 1}, EPH_ELEMENT_INT8);
  graph.add_node("QuantizeLinear", {product, scale, zero_point}, {stored});
  graph.mark_output(stored);
  ProviderSession session(1);
  const auto partitions = session.compile(graph);
  ASSERT_EQ(partitions.size(), 1U);

  // The memory of float tensors is large enough for the integers.
  FloatTensor input({2, 2}), output({2, 1}), floats({2, 2});
  for (FloatTensor* tensor : {&input, &output}) {
    tensor->value.element_type = EPH_ELEMENT_INT8;
    tensor->value.byte_size /= sizeof(float);
  }
  const int8_t integers[] = {3, 5, 7, 4};
  std::copy(std::begin(integers), std::end(integers), static_cast<int8_t*>(input.value.data));
  FakeError error;
  ASSERT_EQ(partitions[0]->run_with({&input}, {&output}, error), EPH_OK) << error.message;
  const auto* result = static_cast<const int8_t*>(output.value.data);
  EXPECT_EQ(result[0], 23);  // 0 * 1 + 1 * 10 in steps of a half, above 3
  EXPECT_EQ(result[1], 17);  // 2 * 1 + 0.5 * 10
  EXPECT_EQ(partitions[0]->run_with({&floats}, {&output}, error), EPH_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("was compiled for int8 [2, 2] as input 0"));
}

TEST(DnnlComputations, KeepTensorsThatAreReadAfterASumInPlace) {
  Net net;
  const uint32_t x = net.conv(net.input({1, 8, 6, 6}), 8, 1);
  const uint32_t y = net.conv(x, 8, 1);
  const uint32_t z = net.add("Add", {y, x});
  net.output(net.add("Add", {net.conv(z, 8, 1), x}));
  net.output(z);
  expect_one_partition(net);
}

TEST(DnnlComputations, AddTheInputOfThePartitionWithoutChangingIt) {
  Net net;
  const uint32_t x = net.input({1, 8, 6, 6});
  net.output(net.add("Relu", {net.add("Add", {net.conv(x, 8, 1), x})}));
  expect_one_partition(net);
}

TEST(DnnlComputations, UseSeveralThreads) {
  for (const int64_t threads : {0, 2, 3}) {
    Net net;
    const uint32_t x = net.conv(net.input({1, 8, 14, 14}), 16, 3);
    net.output(net.linear(net.add("Flatten", {net.add("Relu", {x})}), 30));
    expect_one_partition(net, threads);
  }
}

}  // namespace
}  // namespace ephost::test::computation_test
