// What the layer "validate" says about a host that does not keep the order of calls.
#include <ephost/ext/run.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "host/layers/validate/lifecycle.h"
#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_order_test {
namespace {

using test::RawPlugin;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string what(const std::optional<Finding>& finding) {
  return finding ? finding->what : "nothing";
}

TEST(ValidateOrder, HasComputationsDestroyedBeforeTheirProvider) {
  RawPlugin plugin({});
  test::FakeGraph graph;
  eph_computation* const computation = plugin.compile(&graph);
  void* state = nullptr;
  ASSERT_EQ(computation->api->create_state(computation, &state, &plugin.error), EPH_OK);
  const auto destroy_all = [&](bool in_order) {
    if (in_order) computation->api->release_state(computation, state);
    plugin.destroy(computation);
  };
  destroy_all(false);
  EXPECT_THAT(plugin.log(),
              ElementsAre(AllOf(HasSubstr("validation: destroy of RawExecutionProvider of "
                                          "\"conv1\" was called while 1 state of it lived"),
                                HasSubstr("\"Lifecycles\""), HasSubstr("defect of the host"))));
  delete static_cast<int*>(state);
}

TEST(ValidateOrder, HasRunsEndedBeforeTheProviderIs) {
  RawPlugin plugin({});
  const eph_run_config config = {sizeof(config), 7, {}, 0, nullptr, 0};
  const eph_run_provider_api& runs = plugin.runs();
  ASSERT_EQ(runs.begin_run(plugin.provider(), &config, &plugin.error), EPH_OK);
  ASSERT_EQ(runs.end_run(plugin.provider(), 7, EPH_OK, &plugin.error), EPH_OK);
  EXPECT_THAT(plugin.log(), IsEmpty());
  EXPECT_EQ(runs.end_run(plugin.provider(), 7, EPH_OK, &plugin.error), EPH_EP_FAIL);
  EXPECT_THAT(plugin.error.message, HasSubstr("was called for run 7, which had not begun"));
  ASSERT_EQ(runs.begin_run(plugin.provider(), &config, &plugin.error), EPH_OK);
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log(),
              ElementsAre(HasSubstr("end_run of RawExecutionProvider"),
                          HasSubstr("destroy of RawExecutionProvider was called before 1 run"),
                          HasSubstr("2 findings")));
}

TEST(ValidateOrder, HasOneCallOfAProviderAtATime) {
  RawPlugin* running = nullptr;
  test::FakeGraph graph;
  test::Behaviour nested;
  int32_t inner_code = EPH_OK;
  nested.get_capability = [&](const eph_graph*, eph_claims*) {
    test::FakeError error;
    const eph_provider_api& api = running->api();
    test::FakeContextWriter writer;
    inner_code = api.get_ep_context_nodes(running->provider(), nullptr, 0, &writer, &error);
    EXPECT_THAT(error.message, AllOf(HasSubstr("was called while get_capability was running"),
                                     HasSubstr("(rule 22)")));
  };
  RawPlugin plugin(nested);
  running = &plugin;
  test::FakeClaims claims;
  EXPECT_EQ(plugin.api().get_capability(plugin.provider(), &graph, &claims, &plugin.error), EPH_OK);
  EXPECT_EQ(inner_code, EPH_EP_FAIL);
}

TEST(ValidateOrder, HasNoMoreComputationsAtATimeThanTheProviderAllows) {
  ProviderOrder order;
  EXPECT_EQ(what(order.begin_compute()), "nothing");
  EXPECT_EQ(what(order.begin_compute()), "was called while 1 other ran: max_concurrent is 1");
  order.end_compute();
  order.end_compute();
  order.set_max_concurrent(UINT32_MAX);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(what(order.begin_compute()), "nothing");
}

TEST(ValidateOrder, HasOneComputationOfAStateAtATime) {
  ComputationOrder order;
  const int state = 0;
  EXPECT_THAT(what(order.begin_compute(&state)), HasSubstr("not the computation's"));
  order.add_state(&state);
  EXPECT_EQ(what(order.begin_compute(&state)), "nothing");
  EXPECT_THAT(what(order.begin_compute(&state)), HasSubstr("another call of it was using"));
  EXPECT_THAT(what(order.remove_state(&state)), HasSubstr("while a call of `compute`"));
  EXPECT_THAT(what(order.remove_state(&state)), HasSubstr("not the computation's"));
  EXPECT_EQ(what(order.begin_compute(nullptr)), "nothing");
  EXPECT_EQ(what(order.begin_compute(nullptr)), "nothing");
}

TEST(ValidateOrder, DestroysNothingThatIsRunning) {
  ComputationOrder computation;
  (void)computation.begin_compute(nullptr);
  ASSERT_THAT(computation.leftovers(), SizeIs(1));
  EXPECT_EQ(computation.leftovers()[0].what, "was called while 1 call of `compute` ran");
  computation.end_compute(nullptr);
  EXPECT_THAT(computation.leftovers(), IsEmpty());
  ProviderOrder provider;
  (void)provider.begin_owner_call("compile");
  ASSERT_THAT(provider.leftovers(), SizeIs(1));
  EXPECT_EQ(provider.leftovers()[0].what, "was called while compile was running");
  provider.end_owner_call();
  EXPECT_THAT(provider.leftovers(), IsEmpty());
}

TEST(ValidateOrder, DescribesOnceAndBeforeTheFirstRun) {
  ComputationOrder order;
  EXPECT_EQ(what(order.describe()), "nothing");
  EXPECT_EQ(what(order.describe()), "was called twice");
  (void)order.begin_compute(nullptr);
  EXPECT_EQ(what(order.describe()), "was called after the first run");
}

TEST(ValidateOrder, HasBlocksReleasedOnceAndBeforeTheDeviceIsClosed) {
  DeviceOrder order;
  const int block = 0;
  order.add_block(1, &block);
  EXPECT_THAT(what(order.remove_block(2, &block)), HasSubstr("`allocate` had not given"));
  ASSERT_THAT(order.leftovers(), SizeIs(1));
  EXPECT_EQ(order.leftovers()[0].rule, 38);
  EXPECT_EQ(what(order.remove_block(1, &block)), "nothing");
  EXPECT_THAT(order.leftovers(), IsEmpty());
}

TEST(ValidateOrder, HasProfilesStartedAndStoppedInTurn) {
  ProviderOrder order;
  EXPECT_THAT(what(order.stop_profiling()), HasSubstr("without `start`"));
  EXPECT_EQ(what(order.start_profiling()), "nothing");
  EXPECT_THAT(what(order.start_profiling()), HasSubstr("twice"));
  EXPECT_EQ(what(order.stop_profiling()), "nothing");
}

}  // namespace
}  // namespace ephost::layers::validate_order_test
