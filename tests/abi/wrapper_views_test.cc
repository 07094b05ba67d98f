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

TEST(GraphView, FindsValuesByName) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {2});
  const uint32_t w = graph.add_constant("w", {2}, {1, 2});
  const eph::GraphView view(&graph);
  EXPECT_EQ(view.find_value("x"), x);
  EXPECT_EQ(view.find_value("w"), w);
  EXPECT_EQ(view.find_value("absent"), uint32_t{EPH_NONE});
}

// A host that knows all there is to know, and one that fails.
int32_t get_all(const eph_graph*, eph_graph_info* out, eph_error*) noexcept {
  static constexpr uint32_t kIds[] = {3};
  static constexpr eph_opset kOpsets[] = {{EPH_STRING(""), 17}, {EPH_STRING("com.example"), 2}};
  static constexpr eph_key_value kMetadata[] = {{EPH_STRING("author"), EPH_STRING("nobody")}};
  out->inputs = kIds;
  out->input_count = 1;
  out->flags = EPH_GRAPH_BODY;
  out->ir_version = 10;
  out->opsets = kOpsets;
  out->opset_count = 2;
  out->metadata = kMetadata;
  out->metadata_count = 1;
  return EPH_OK;
}
int32_t get_all_of_node(const eph_graph*, uint32_t, eph_node_info* out, eph_error*) noexcept {
  static constexpr eph_key_value kMetadata[] = {{EPH_STRING("origin"), EPH_STRING("layer")}};
  static constexpr uint32_t kOuter[] = {5, 6};
  out->overload = EPH_STRING("fast");
  out->implicit_inputs = kOuter;
  out->implicit_input_count = 2;
  out->metadata = kMetadata;
  out->metadata_count = 1;
  return EPH_OK;
}
int32_t get_sequence(const eph_graph*, uint32_t, eph_value_info* out, eph_error*) noexcept {
  static constexpr int64_t kShape[] = {2, -1};
  static constexpr eph_type kContent = {EPH_KIND_TENSOR, EPH_ELEMENT_FLOAT, 2,      0,
                                        kShape,          nullptr,           nullptr};
  out->kind = EPH_KIND_SEQUENCE;
  out->flags = EPH_VALUE_OUTER_SCOPE;
  out->content = &kContent;
  return EPH_OK;
}
int32_t fail_to_find(const eph_graph*, eph_string, uint32_t*, eph_error* error) noexcept {
  error->api->set_message(error, EPH_STRING("out of memory"));
  return EPH_FAIL;
}
int32_t get_onnx(const eph_graph*, uint64_t outside_bytes, eph_bytes* out, eph_error*) noexcept {
  *out = {outside_bytes == 0 ? "inside" : "outside", outside_bytes == 0 ? 6U : 7U};
  return EPH_OK;
}

TEST(GraphView, OffersAllThatTheHostTells) {
  const eph_graph_api api = {sizeof(api),   &get_all, &get_all_of_node, &get_sequence,
                             &fail_to_find, nullptr,  &get_onnx};
  const eph_graph graph = {&api};
  const eph::GraphView view(&graph);
  EXPECT_THAT(view.inputs().to_vector(), ElementsAre(3));
  EXPECT_TRUE(view.is_body());
  EXPECT_EQ(view.ir_version(), 10);
  ASSERT_EQ(view.opsets().size(), 2U);
  EXPECT_EQ(eph::view(view.opsets()[1].domain), "com.example");
  EXPECT_EQ(eph::view(*eph::find_entry(view.metadata(), "author")), "nobody");
  EXPECT_EQ(eph::find_entry(view.metadata(), "title"), nullptr);
  EXPECT_EQ(view.node(0).overload(), "fast");
  EXPECT_THAT(view.node(0).implicit_inputs().to_vector(), ElementsAre(5, 6));
  EXPECT_EQ(eph::view(*eph::find_entry(view.node(0).metadata(), "origin")), "layer");
  const eph::ValueView value = view.value(0);
  EXPECT_TRUE(value.is_outer());
  ASSERT_NE(value.content(), nullptr);
  EXPECT_THAT(eph::shape_of(*value.content()).to_vector(), ElementsAre(2, -1));
  EXPECT_EQ(view.onnx(), "inside");
  EXPECT_EQ(view.onnx(1), "outside");
  EXPECT_THROW(static_cast<void>(view.find_value("x")), eph::Failure);
}

TEST(OutsideConstants, AreThoseOfTheContext) {
  const FloatTensor tensor({2}, {1, 2});
  const eph_named_value named[] = {{EPH_STRING("w"), &tensor.value}};
  eph_ep_context context = {};
  EXPECT_TRUE(eph::outside_constants(context).empty());
  context.constants = named;
  context.constant_count = 1;
  ASSERT_EQ(eph::outside_constants(context).size(), 1U);
  EXPECT_EQ(eph::view(eph::outside_constants(context)[0].name), "w");
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
