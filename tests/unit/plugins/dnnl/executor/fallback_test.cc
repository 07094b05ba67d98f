// How a partition handles failures of the library, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <set>
#include <thread>

#include "tests/unit/plugins/dnnl/failing_library.h"
#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::fallback_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool is_product(const Execution& execution) {
  return execution.kind == dnnl_matmul || execution.kind == dnnl_convolution;
}

// A convolution with a post-op, then a product, each with constants in a layout of its own.
class DnnlFallback : public ::testing::Test {
 protected:
  DnnlFallback() {
    const uint32_t x = net_.conv(net_.input({1, 16, 6, 6}), 16, 3);
    net_.output(net_.linear(net_.add("Flatten", {net_.add("Relu", {x})}), 20));
  }
  Partition& compile() {
    partitions_ = session_.compile(net_.graph());
    return *partitions_.at(0);
  }

  Net net_;
  ProviderSession session_{1};
  std::vector<std::unique_ptr<Partition>> partitions_;
};

TEST_F(DnnlFallback, ComputesWithOtherPrimitivesWhereSomeFail) {
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::sse41) {
    GTEST_SKIP() << "on SSE4.1 nothing is fused with this convolution";
  }
  Partition& partition = compile();
  std::set<std::string> first;
  {
    FailingLibrary library([&](const Execution& execution) {
      return is_product(execution) && first.size() < 2 &&
             first.insert(execution.implementation).second;
    });
    expect_reference(net_, partition);
    EXPECT_EQ(library.failures(), 2);
  }
  EXPECT_THAT(session_.log(), Contains(HasSubstr("oneDNN failed to run Convolution")));
}

// The packed weights of integers carry sums for the zero point, which another layout may not.
TEST(DnnlFallbackOfIntegers, RepacksWeights) {
  Net net;
  const uint32_t x = net.round_trip(net.input({1, 16, 6, 6}), 0.01F, -20, EPH_ELEMENT_INT8);
  std::vector<int64_t> data(16 * 16 * 9);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int64_t>(i * 37 % 255) - 127;
  const uint32_t w =
      net.dequantized(net.integers({16, 16, 3, 3}, EPH_ELEMENT_INT8, data), {0.001F}, {0});
  net.output(net.round_trip(net.add("Conv", {x, w}), 0.05F, 7, EPH_ELEMENT_INT8));
  ProviderSession session(1);
  const auto partitions = session.compile(net.graph());
  const std::vector<float> expected = partitions.at(0)->run(net)[0];
  std::string failing;
  FailingLibrary library([&](const Execution& execution) {
    if (failing.empty() && execution.kind == dnnl_convolution) failing = execution.implementation;
    return execution.kind == dnnl_convolution && execution.implementation == failing;
  });
  const std::vector<float> result = partitions[0]->run(net)[0];
  EXPECT_GE(library.failures(), 1);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], expected[i], 0.0505);
}

TEST_F(DnnlFallback, DoesNotTryFailedPrimitivesAgain) {
  Partition& partition = compile();
  std::string failing;
  const auto fails = [&](const Execution& execution) {
    if (failing.empty() && execution.kind == dnnl_matmul) failing = execution.implementation;
    return execution.kind == dnnl_matmul && execution.implementation == failing;
  };
  FailingLibrary library(fails);
  expect_reference(net_, partition);
  const int failures = library.failures();
  EXPECT_GE(failures, 1);
  expect_reference(net_, partition);
  expect_reference(net_, partition);
  EXPECT_EQ(library.failures(), failures);
  EXPECT_EQ(session_.log().size(), static_cast<std::size_t>(failures));
}

TEST_F(DnnlFallback, ReplacesAPrimitiveOnceForRunsInSeveralThreads) {
  Partition& partition = compile();
  const std::vector<std::vector<float>> expected = partition.run(net_);
  std::string failing;
  std::mutex mutex;
  FailingLibrary library([&](const Execution& execution) {
    const std::lock_guard lock(mutex);
    if (failing.empty() && execution.kind == dnnl_convolution) failing = execution.implementation;
    return execution.kind == dnnl_convolution && execution.implementation == failing;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      FakeError error;
      void* state = nullptr;
      const eph_computation_api* api = partition.computation->api;
      ASSERT_EQ(api->create_state(partition.computation, &state, &error), EPH_OK);
      const Array& array = net_.value(partition.graph->inputs()[0]);
      FloatTensor input(array.shape, {array.data.begin(), array.data.end()});
      for (int round = 0; round < 5; ++round) {
        FloatTensor output(partition.graph->value_shape(partition.graph->outputs()[0]));
        FakeRun run({&input}, {&output}, partition.info.workspace_bytes);
        ASSERT_EQ(api->compute(partition.computation, state, &run, &error), EPH_OK)
            << error.message;
        for (std::size_t k = 0; k < expected[0].size(); ++k) {
          ASSERT_NEAR(output.values()[k], expected[0][k], 1e-4);
        }
      }
      api->release_state(partition.computation, state);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session_.log().size(), 1U);
}

TEST_F(DnnlFallback, FailsARunWithoutAlternativesAndRecovers) {
  Partition& partition = compile();
  const Array& array = net_.value(partition.graph->inputs()[0]);
  FloatTensor input(array.shape, {array.data.begin(), array.data.end()});
  FloatTensor output(partition.graph->value_shape(partition.graph->outputs()[0]));
  {
    FailingLibrary library(
        [](const Execution& execution) { return execution.kind == dnnl_matmul; });
    FakeError error;
    EXPECT_EQ(partition.run_with({&input}, {&output}, error), EPH_EP_FAIL);
    EXPECT_THAT(error.message, HasSubstr("oneDNN failed to run MatMul"));
    EXPECT_THAT(error.message, HasSubstr("status 5"));
  }
  expect_reference(net_, partition);
}

TEST_F(DnnlFallback, TriesCheapStepsBeforeItAcceptsThem) {
  std::set<std::string> failing;
  FailingLibrary library([&](const Execution& execution) {
    if (is_product(execution) && failing.empty()) failing.insert(execution.implementation);
    return failing.count(execution.implementation) > 0;
  });
  Partition& partition = compile();
  const int failures = library.failures();
  EXPECT_GE(failures, 1);
  expect_reference(net_, partition);
  EXPECT_EQ(library.failures(), failures);
  EXPECT_THAT(session_.log(), IsEmpty());
}

TEST_F(DnnlFallback, RemembersInContextsWhatHasFailed) {
  std::string failing;
  FailingLibrary library([&](const Execution& execution) {
    if (execution.kind == dnnl_matmul && failing.empty()) failing = execution.implementation;
    return execution.kind == dnnl_matmul && execution.implementation == failing;
  });
  compile();
  const int failures = library.failures();
  const AlignedBytes payload(session_.write(partitions_).payloads.at(0));
  ProviderSession later(1);
  FakeError error;
  int32_t code = EPH_OK;
  const auto restored = later.restore(payload, "part0", *partitions_[0]->graph, error, code);
  ASSERT_NE(restored, nullptr) << error.message;
  expect_reference(net_, *restored);
  EXPECT_EQ(library.failures(), failures);
}

TEST(DnnlFallbacks, LeaveExpensiveStepsUntriedUntilTheyRun) {
  Net net;
  net.output(net.linear(net.input({520, 512}), 1024, false));  // more than 2^28 products
  int products = 0;
  FailingLibrary library([&](const Execution& execution) {
    products += execution.kind == dnnl_matmul ? 1 : 0;
    return false;
  });
  ProviderSession session(1);
  const auto partitions = session.compile(net.graph());
  EXPECT_EQ(products, 0);
  partitions.at(0)->run(net);
  EXPECT_EQ(products, 1);
}

TEST(DnnlFallbacks, RefuseAPartitionThatNoPrimitiveCanCompute) {
  Net net;
  net.output(net.linear(net.input({4, 8}), 8, false));
  FailingLibrary library([](const Execution& execution) { return is_product(execution); });
  ProviderSession session(1);
  FakeError error;
  int32_t code = EPH_OK;
  EXPECT_THAT(session.compile(net.graph(), error, code), IsEmpty());
  EXPECT_EQ(code, EPH_EP_FAIL);
  EXPECT_THAT(error.message, HasSubstr("oneDNN has no primitive for MatMul"));
}

}  // namespace
}  // namespace ephost::test::fallback_test
