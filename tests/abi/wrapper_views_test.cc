// The parts of the C++ wrapper that work without a plugin's tables: views of the host's data, its
// threads, and computations that are called directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>

#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/tensor_memory.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeGraph;
using ephost::test::FakeHost;
using ephost::test::FloatTensor;
using ::testing::ElementsAre;

// Does nothing if it has inputs, and fails if it has none.
class FastWithInputs : public eph::Computation {
 public:
  FastWithInputs() { compute_directly<&FastWithInputs::call>(); }
  void compute(eph::Run&, eph::State*) override { throw eph::Failure(EPH_ENGINE_ERROR, "slow"); }

 private:
  static int32_t call(eph_computation* handle, void* state, eph_run* run,
                      eph_error* error) noexcept {
    return run->input_count != 0 ? int32_t{EPH_OK} : do_compute(handle, state, run, error);
  }
};

TEST(WrapperComputation, MayBeCalledDirectlyAndFallBack) {
  FastWithInputs computation;
  eph_run run = {};
  FakeError error;
  run.input_count = 1;
  EXPECT_EQ(computation.api->compute(&computation, nullptr, &run, &error), EPH_OK);
  run.input_count = 0;
  EXPECT_EQ(computation.api->compute(&computation, nullptr, &run, &error), EPH_ENGINE_ERROR);
  EXPECT_EQ(error.message, "slow");
}

TEST(WrapperThreads, AreTheCallingOneWithoutAHostThatOffersMore) {
  FakeHost host;
  const eph::ThreadPool pool{eph::Host(&host)};
  EXPECT_EQ(pool.thread_count(), 1U);
  EXPECT_EQ(pool.library_thread_count(), 0U);
  std::vector<uint64_t> ranges;
  pool.parallel_for(10, 3, [&](uint64_t begin, uint64_t end) {
    ranges.push_back(begin);
    ranges.push_back(end);
  });
  pool.parallel_for(0, 3, [&](uint64_t, uint64_t) { ranges.push_back(99); });
  EXPECT_EQ(ranges, (std::vector<uint64_t>{0, 10}));
}

TEST(WrapperThreads, AreTheHostsWhereItOffersThem) {
  eph_thread_pool_api threads = ephost::test::kFakeThreadPool;
  threads.get_library_thread_count = [](const eph_host*) noexcept { return uint32_t{2}; };
  const FakeHost host({{EPH_EXT_THREAD_POOL, &threads}});
  const eph::ThreadPool pool{eph::Host(&host)};
  EXPECT_EQ(pool.thread_count(), 4U);
  EXPECT_EQ(pool.library_thread_count(), 2U);
  std::vector<uint64_t> ends;
  pool.parallel_for(10, 4, [&](uint64_t, uint64_t end) { ends.push_back(end); });
  EXPECT_EQ(ends, (std::vector<uint64_t>{10, 8, 4}));
}

TEST(GraphView, ThrowsForIndicesOutOfRange) {
  FakeGraph graph;
  const eph::GraphView view(&graph);
  EXPECT_THROW(static_cast<void>(view.node(0)), eph::Failure);
  EXPECT_THROW(static_cast<void>(view.value(0)), eph::Failure);
  EXPECT_THROW(static_cast<void>(view.onnx()), eph::Failure);
}

TEST(GraphView, ReadsNodesValuesAndConstants) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {2, -1});
  const uint32_t w = graph.add_constant("w", {2}, {1, 2});
  graph.mark_output(graph.add("Add", {x, w, EPH_NONE}, {2, 2}));
  const eph::GraphView view(&graph);
  const eph::NodeView node = view.node(0);
  EXPECT_EQ(node.op_type(), "Add");
  EXPECT_EQ(node.input(2), EPH_NONE);
  EXPECT_EQ(node.input(3), EPH_NONE);
  EXPECT_EQ(view.constant_input(node, 0), nullptr);
  ASSERT_NE(view.constant_input(node, 1), nullptr);
  EXPECT_EQ(view.constant_input(node, 2), nullptr);
  EXPECT_THAT(eph::elements<float>(*view.constant_input(node, 1)).to_vector(), ElementsAre(1, 2));
  EXPECT_FALSE(view.value(x).has_static_shape());
  EXPECT_TRUE(view.value(w).has_static_shape());
  EXPECT_EQ(view.opset(""), 17);
}

TEST(NodeView, ThrowsForAnAttributeOfAnotherKind) {
  FakeGraph graph;
  graph.add_node("Concat", {}, {}, {{"axis", int64_t{-1}}});
  const eph::NodeView node = eph::GraphView(&graph).node(0);
  EXPECT_EQ(node.get_int("axis", 7), -1);
  EXPECT_EQ(node.get_int("absent", 7), 7);
  EXPECT_THROW(static_cast<void>(node.get_float("axis", 0)), eph::Failure);
}

TEST(Elements, ThrowsForAnotherElementType) {
  const FloatTensor tensor({2}, {1, 2});
  EXPECT_THROW(static_cast<void>(eph::elements<int64_t>(tensor.value)), eph::Failure);
}

}  // namespace
