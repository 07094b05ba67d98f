// The layer "validate" over a provider that breaks one rule at a time: what it lends, watches and
// compares.
#include "host/layers/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <ephost/sdk/basics.hpp>
#include <thread>

#include "host/layers/validate/signature.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/crash_handler.h"
#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// x -> Relu -> y, with a constant beside it.
std::unique_ptr<test::FakeGraph> make_graph() {
  auto graph = std::make_unique<test::FakeGraph>();
  const uint32_t x = graph->add_input("x", {3});
  const uint32_t w = graph->add_constant("w", {3}, {1, 2, 3});
  graph->mark_output(graph->add("Add", {x, w}, {3}));
  return graph;
}

void read_all(const eph_graph* graph) {
  test::FakeError error;
  eph_graph_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(graph->api->get_graph(graph, &info, &error), EPH_OK);
  for (uint32_t i = 0; i < info.node_count; ++i) {
    eph_node_info node = {};
    node.struct_size = sizeof(node);
    ASSERT_EQ(graph->api->get_node(graph, i, &node, &error), EPH_OK);
  }
}

eph_value_info value_info(const eph_graph* graph, uint32_t value) {
  test::FakeError error;
  eph_value_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(graph->api->get_value(graph, value, &info, &error), EPH_OK);
  return info;
}

TEST(Validate, FindsNothingWhereAllIsRight) {
  Behaviour good;
  good.get_capability = [](const eph_graph* graph, eph_claims* claims) {
    test::FakeError error;
    read_all(graph);
    EXPECT_EQ(claims->api->claim_node(claims, 0, &error), EPH_OK);
  };
  good.compile = [](const eph_partition* partition, eph_error*) {
    read_all(partition->graph);
    return EPH_OK;
  };
  good.compute = [](eph_run* run, eph_error*) {
    for (int i = 0; i < 3; ++i) {
      static_cast<float*>(run->outputs[0]->data)[i] =
          2 * static_cast<const float*>(run->inputs[0]->data)[i];
    }
    return EPH_OK;
  };
  RawPlugin plugin(good);
  const auto graph = make_graph();
  test::FakeClaims claims;
  ASSERT_EQ(plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error),
            EPH_OK);
  EXPECT_THAT(claims.nodes, ElementsAre(0));
  eph_computation* const computation = plugin.compile(graph.get());
  test::FloatTensor input{{3}, {1, 2, 3}};
  test::FloatTensor output{{3}, {0, 0, 0}};
  test::FakeRun run({&input}, {&output}, 0);
  EXPECT_EQ(plugin.compute(computation, &run), EPH_OK) << plugin.error.message;
  EXPECT_THAT(output.values(), ElementsAre(2, 4, 6));
  plugin.destroy(computation);
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log(), IsEmpty());
}

TEST(Validate, ReportsGraphsAndClaimsThatAreUsedTooLate) {
  const eph_graph* graph_of_before = nullptr;
  eph_claims* claims_of_before = nullptr;
  Behaviour late;
  late.get_capability = [&](const eph_graph* graph, eph_claims* claims) {
    test::FakeError error;
    if (graph_of_before == nullptr) {
      graph_of_before = graph;
      claims_of_before = claims;
      return;
    }
    EXPECT_EQ(graph_of_before->api->get_opset(graph_of_before, EPH_STRING("")), 0);
    EXPECT_EQ(claims_of_before->api->claim_node(claims_of_before, 0, &error), EPH_INVALID_ARGUMENT);
  };
  RawPlugin plugin(late);
  const auto graph = make_graph();
  test::FakeClaims claims;
  for (int i = 0; i < 2; ++i) {
    (void)plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error);
  }
  EXPECT_THAT(claims.nodes, IsEmpty());
  EXPECT_THAT(plugin.log(),
              ElementsAre(AllOf(HasSubstr("validation: get_capability of RawExecutionProvider used "
                                          "the eph_graph of a call that had returned"),
                                HasSubstr("get_opset"), HasSubstr("(rule 20)")),
                          HasSubstr("claim_node")));
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log().back(), HasSubstr("validation: 2 findings about RawExecutionProvider"));
}

TEST(Validate, ReportsTheHostThatIsUsedAfterTheProvider) {
  const eph_host* kept = nullptr;
  Behaviour late;
  late.create = [&](const eph_host* host, const eph_provider_config*) { kept = host; };
  RawPlugin plugin(late);
  kept->api->log(kept, EPH_LOG_INFO, EPH_STRING("in time"));
  EXPECT_THAT(plugin.log(), IsEmpty());
  plugin.destroy_provider();
  kept->api->log(kept, EPH_LOG_INFO, EPH_STRING("too late"));
  EXPECT_THAT(plugin.log(), ElementsAre(AllOf(HasSubstr("destroy of RawExecutionProvider used the "
                                                        "eph_host of a call that had returned"),
                                              HasSubstr("(rule 20)"))));
}

TEST(Validate, ReportsErrorsThatAreUsedTooLate) {
  eph_error* kept = nullptr;
  Behaviour late;
  late.compile = [&](const eph_partition*, eph_error* error) {
    kept = error;
    return EPH_OK;
  };
  RawPlugin plugin(late);
  const auto graph = make_graph();
  eph_computation* const computation = plugin.compile(graph.get());
  kept->api->set_message(kept, EPH_STRING("too late"));
  EXPECT_THAT(plugin.log(), ElementsAre(HasSubstr("used the eph_error of a call")));
  EXPECT_EQ(plugin.error.message, "");
  plugin.destroy(computation);
}

TEST(Validate, OverwritesTextsThatAreReadTooLate) {
  eph_string name = {};
  eph_string directory = {};
  std::string seen;
  Behaviour late;
  late.create = [&](const eph_host*, const eph_provider_config* config) {
    directory = config->directory;
    EXPECT_EQ(eph::view(directory), "/opt/plugins");
  };
  late.get_capability = [&](const eph_graph* graph, eph_claims*) {
    name = value_info(graph, 0).name;
    seen = eph::view(name);
  };
  RawPlugin plugin(late);
  const auto graph = make_graph();
  test::FakeClaims claims;
  (void)plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error);
  EXPECT_EQ(seen, "x");
  EXPECT_NE(eph::view(name), "x");
  EXPECT_NE(eph::view(directory), "/opt/plugins");
  EXPECT_THAT(plugin.log(), IsEmpty());
}

TEST(ValidateDeathTest, MakesTextsUnreadableWithPages) {
  eph_string name = {};
  Behaviour late;
  late.get_capability = [&](const eph_graph* graph, eph_claims*) {
    name = value_info(graph, 0).name;
  };
  RawPlugin plugin(late, {.guard = Guard::kPages});
  const auto graph = make_graph();
  test::FakeClaims claims;
  (void)plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error);
  EXPECT_DEATH(
      {
        const plugin::CrashHandler handler;
        const plugin::CallScope scope({"RawExecutionProvider", "compute"});
        volatile char first = name.data[0];
        (void)first;
      },
      "which is what the graph of get_capability of RawExecutionProvider told, which had "
      "returned \\(rule 20\\)");
}

TEST(Validate, ReportsConstantsThatChange) {
  Behaviour writing;
  writing.compile = [](const eph_partition* partition, eph_error*) {
    const eph_value_info info = value_info(partition->graph, 1);
    static_cast<float*>(info.constant->data)[0] = 7;
    return EPH_OK;
  };
  RawPlugin plugin(writing);
  const auto graph = make_graph();
  eph_computation* const computation = plugin.compile(graph.get());
  EXPECT_THAT(plugin.error.message,
              AllOf(HasSubstr("changed the constant \"w\""), HasSubstr("(rule 20)")));
  plugin.destroy(computation);
}

TEST(Validate, ReportsFunctionsThatAreCalledOnAnotherThread) {
  Behaviour threads;
  threads.get_capability = [](const eph_graph* graph, eph_claims* claims) {
    std::thread([=] {
      test::FakeError error;
      EXPECT_EQ(graph->api->get_opset(graph, EPH_STRING("")), 17);
      EXPECT_EQ(claims->api->claim_node(claims, 0, &error), EPH_INVALID_ARGUMENT);
    }).join();
  };
  RawPlugin plugin(threads);
  const auto graph = make_graph();
  test::FakeClaims claims;
  (void)plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error);
  EXPECT_THAT(claims.nodes, IsEmpty());
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log(),
              ElementsAre(AllOf(HasSubstr("called claim_node of the eph_claims on another thread"),
                                HasSubstr("(rule 22)")),
                          HasSubstr("validation: 1 finding about")));
}

TEST(Validate, ReportsFunctionsThatAreCalledInTheBodyOfALoop) {
  Behaviour looping;
  const eph_host* host = nullptr;
  looping.create = [&](const eph_host* given, const eph_provider_config*) { host = given; };
  looping.get_capability = [&](const eph_graph*, eph_claims* claims) {
    const auto* const pool = static_cast<const eph_thread_pool_api*>(
        host->api->get_extension(host, EPH_STRING(EPH_EXT_THREAD_POOL)));
    const auto body = [](void* context, uint64_t, uint64_t) noexcept {
      auto* const of_host = static_cast<eph_claims*>(context);
      test::FakeError error;
      EXPECT_EQ(of_host->api->claim_node(of_host, 0, &error), EPH_INVALID_ARGUMENT);
    };
    pool->parallel_for(host, 1, 1, body, claims);
  };
  RawPlugin plugin(looping);
  const auto graph = make_graph();
  test::FakeClaims claims;
  (void)plugin.api().get_capability(plugin.provider(), graph.get(), &claims, &plugin.error);
  EXPECT_THAT(claims.nodes, IsEmpty());
  EXPECT_THAT(plugin.log(),
              ElementsAre(AllOf(HasSubstr("called claim_node of the eph_claims in the "
                                          "body of a loop"),
                                HasSubstr("(rule 36)"))));
}

TEST(Validate, ReportsCodesWithoutMessagesAndMessagesWithoutCodes) {
  Behaviour silent;
  silent.compile = [](const eph_partition*, eph_error*) { return EPH_FAIL; };
  const auto graph = make_graph();
  {
    RawPlugin plugin(silent);
    EXPECT_EQ(plugin.compile(graph.get()), nullptr);
    EXPECT_THAT(plugin.error.message, AllOf(HasSubstr("gave no message"), HasSubstr("(rule 18)")));
  }
  Behaviour chatty;
  chatty.write_context = [](eph_context_writer*, eph_error* error) {
    error->api->set_message(error, EPH_STRING("all is well"));
  };
  RawPlugin plugin(chatty);
  test::FakeContextWriter writer;
  EXPECT_EQ(
      plugin.api().get_ep_context_nodes(plugin.provider(), nullptr, 0, &writer, &plugin.error),
      EPH_EP_FAIL);
  EXPECT_THAT(plugin.error.message, HasSubstr("succeeded and gave the message \"all is well\""));
}

Behaviour writes(std::function<std::string()> content) {
  Behaviour writing;
  writing.write_context = [content](eph_context_writer* writer, eph_error* error) {
    uint32_t payload = 0;
    const std::string bytes = content();
    ASSERT_EQ(writer->api->begin_payload(writer, {}, &payload, error), EPH_OK);
    ASSERT_EQ(writer->api->write(writer, payload, bytes.data(), bytes.size(), error), EPH_OK);
  };
  return writing;
}

TEST(Validate, ReportsContextsThatVaryWhereTheManifestPromisesOtherwise) {
  int count = 0;
  const auto varying = [&] { return "made at " + std::to_string(++count); };
  for (const bool is_deterministic : {true, false}) {
    RawPlugin plugin(writes(varying), {}, is_deterministic);
    test::FakeContextWriter writer;
    const int32_t code =
        plugin.api().get_ep_context_nodes(plugin.provider(), nullptr, 0, &writer, &plugin.error);
    EXPECT_EQ(code, is_deterministic ? EPH_EP_FAIL : EPH_OK);
    EXPECT_THAT(writer.payloads, SizeIs(1));
    EXPECT_THAT(plugin.log(), SizeIs(is_deterministic ? 1 : 0));
    if (!is_deterministic) continue;
    EXPECT_THAT(plugin.error.message,
                AllOf(HasSubstr("wrote other bytes into payload 0"), HasSubstr("(rule 28)")));
  }
  RawPlugin plugin(writes([] { return std::string("always the same"); }), {}, true);
  test::FakeContextWriter writer;
  EXPECT_EQ(
      plugin.api().get_ep_context_nodes(plugin.provider(), nullptr, 0, &writer, &plugin.error),
      EPH_OK);
  EXPECT_THAT(writer.payloads, ElementsAre("always the same"));
  EXPECT_THAT(plugin.log(), IsEmpty());
}

TEST(Validate, ReportsCallsThatDoNotReturn) {
  Behaviour slow;
  slow.compile = [](const eph_partition*, eph_error*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return EPH_OK;
  };
  RawPlugin plugin(slow, {.deadline_milliseconds = 40});
  const auto graph = make_graph();
  plugin.destroy(plugin.compile(graph.get()));
  EXPECT_THAT(plugin.log(),
              Contains(AllOf(HasSubstr("validation: compile of RawExecutionProvider has not "
                                       "returned for "),
                             HasSubstr("(rule 40)"))));
}

TEST(ValidateDeathTest, EndsTheProcessAfterSomeDeadlines) {
  Behaviour slow;
  slow.compile = [](const eph_partition*, eph_error*) {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return EPH_OK;
  };
  EXPECT_EXIT(
      {
        RawPlugin plugin(slow, {.deadline_milliseconds = 10, .abort_after = 3});
        const auto graph = make_graph();
        (void)plugin.compile(graph.get());
      },
      ::testing::KilledBySignal(SIGABRT), "");
}

TEST(ValidateSignature, FindsOneSymbolWithTwoExtents) {
  Signature signature;
  signature.inputs = {{true, {{-1, "batch"}, {3, ""}}}};
  signature.outputs = {{true, {{-1, "batch"}}}, {true, {{-1, ""}}}};
  test::FloatTensor input{{2, 3}, {1, 2, 3, 4, 5, 6}};
  test::FloatTensor right{{2}, {0, 0}};
  test::FloatTensor wrong{{5}, {0, 0, 0, 0, 0}};
  const test::FakeRun good({&input}, {&right, &wrong}, 0);
  EXPECT_THAT(signature.findings(good), IsEmpty());
  const test::FakeRun bad({&input}, {&wrong, &right}, 0);
  const auto findings = signature.findings(bad);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].rule, 62);
  EXPECT_THAT(findings[0].what,
              HasSubstr("gave axis 0 of output 0 the extent 5, where axis 0 of input 0 has 2"));
}

}  // namespace
}  // namespace ephost::layers::validate_test
