// What the layer "validate" makes of codes and messages that contradict each other, and what is
// left after a call that it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/sdk/basics.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/plugin/calls/call.h"
#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_codes_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr eph_run_config kRun = {sizeof(kRun), 7, {}, 0, nullptr, 0};

// A slot that begins or makes something, and the one that ends that.
struct Pair {
  const char* slot;
  const char* end;
  const char* made;  // as findings call it; null if nothing is returned

  friend std::ostream& operator<<(std::ostream& out, const Pair& pair) { return out << pair.slot; }
};

class ValidateCodes : public ::testing::TestWithParam<Pair> {
 protected:
  // Calls the slot with this outcome, and whether the host then has something.
  int32_t call(const std::function<int32_t(eph_error*)>& outcome) {
    Behaviour behaviour;
    behaviour.outcome = [outcome](std::string_view slot, eph_error* error) {
      return slot == GetParam().slot ? outcome(error) : EPH_OK;
    };
    behaviour.ended = [this](std::string_view slot) { ended.emplace_back(slot); };
    RawPlugin plugin(behaviour);
    const test::FakeGraph graph;
    eph_computation* const computation = plugin.compile(&graph);
    const int32_t code = call(plugin, computation, GetParam().slot);
    message = plugin.error.message;
    before_the_end = ended;
    plugin.destroy(computation);
    plugin.destroy_provider();
    plugin.close_device();
    log = plugin.log();
    return code;
  }

  std::string message;
  std::vector<std::string> log;
  std::vector<std::string> ended;
  std::vector<std::string> before_the_end;
  void* made = nullptr;

 private:
  int32_t call(RawPlugin& plugin, eph_computation* computation, std::string_view slot) {
    if (slot == "begin_run") {
      return plugin.runs().begin_run(plugin.provider(), &kRun, &plugin.error);
    }
    if (slot == "start") return plugin.profiling().start(plugin.provider(), &plugin.error);
    if (slot == "allocate") {
      return plugin.devices().allocate(plugin.device(), 1, 64, &made, &plugin.error);
    }
    if (slot == "create_state") {
      return computation->api->create_state(computation, &made, &plugin.error);
    }
    test::FakeGraph graph;
    graph.add("Relu", {graph.add_input("x", {3})}, {3});
    eph_computation* kernel = nullptr;
    const int32_t code =
        plugin.api().create_kernel(plugin.provider(), &graph, 0, &kernel, &plugin.error);
    made = kernel;
    return code;
  }
};

TEST_P(ValidateCodes, LeaveNothingBehindWhereTheyContradictAMessage) {
  EXPECT_EQ(call([](eph_error* error) {
              error->api->set_message(error, EPH_STRING("all is well"));
              return EPH_OK;
            }),
            EPH_EP_FAIL);
  EXPECT_THAT(message, AllOf(HasSubstr("succeeded and gave the message"), HasSubstr("(rule 18)")));
  EXPECT_EQ(made, nullptr);
  EXPECT_THAT(before_the_end, ElementsAre(GetParam().end));
  EXPECT_THAT(log, ElementsAre(HasSubstr("all is well"), HasSubstr("1 finding about")));
}

TEST_P(ValidateCodes, LeaveNothingBehindWhereTheySayThatACallHasFailed) {
  EXPECT_EQ(call([](eph_error* error) {
              error->api->set_message(error, EPH_STRING("not today"));
              return EPH_FAIL;
            }),
            GetParam().made == nullptr ? EPH_FAIL : EPH_EP_FAIL);
  EXPECT_EQ(made, nullptr);
  EXPECT_THAT(before_the_end, IsEmpty());
  if (GetParam().made == nullptr) {
    EXPECT_THAT(log, IsEmpty());
  } else {
    EXPECT_THAT(log, ElementsAre(AllOf(HasSubstr(std::string("failed and left a ") +
                                                 GetParam().made + " behind (rule 19)")),
                                 HasSubstr("1 finding about")));
  }
}

INSTANTIATE_TEST_SUITE_P(OfSlots, ValidateCodes,
                         ::testing::Values(Pair{"begin_run", "end_run", nullptr},
                                           Pair{"start", "stop", nullptr},
                                           Pair{"allocate", "release", "block of memory"},
                                           Pair{"create_state", "release_state", "state"},
                                           Pair{"create_kernel", "destroy", "kernel"}),
                         [](const auto& pair) { return std::string(pair.param.slot); });

TEST(ValidateRuns, ThatCannotBeBegunMayBeBegunOnceMore) {
  Behaviour throwing;
  bool throws = true;
  const eph_run_config* kept = nullptr;
  throwing.begin_run = [&](const eph_run_config* config) {
    if (!throws) return;
    kept = config;
    throw std::runtime_error("no run today");
  };
  RawPlugin plugin(throwing);
  const eph_run_provider_api& runs = plugin.runs();
  const auto begin = [&] {
    return plugin::call({"raw", "begin_run"}, runs.begin_run, plugin.provider(), &kRun,
                        static_cast<eph_error*>(&plugin.error));
  };
  EXPECT_THAT(begin().status().message(), HasSubstr("no run today"));
  EXPECT_NE(kept->run_id, kRun.run_id);  // it is overwritten, and in quarantine
  throws = false;
  EXPECT_EQ(begin().value(), EPH_OK);
  EXPECT_EQ(runs.end_run(plugin.provider(), kRun.run_id, EPH_OK, &plugin.error), EPH_OK);
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log(), IsEmpty());
}

TEST(ValidateRuns, ThatAreBegunTwiceEndOnce) {
  RawPlugin plugin({});
  const eph_run_provider_api& runs = plugin.runs();
  EXPECT_EQ(runs.begin_run(plugin.provider(), &kRun, &plugin.error), EPH_OK);
  EXPECT_EQ(runs.begin_run(plugin.provider(), &kRun, &plugin.error), EPH_EP_FAIL);
  EXPECT_THAT(plugin.error.message, HasSubstr("was called for run 7, which had begun"));
  EXPECT_EQ(runs.end_run(plugin.provider(), kRun.run_id, EPH_OK, &plugin.error), EPH_OK);
  plugin.destroy_provider();
  EXPECT_THAT(plugin.log(), ElementsAre(HasSubstr("had begun"), HasSubstr("1 finding about")));
}

TEST(ValidateMessages, OfTheHostAreNotThoseOfThePlugin) {
  Behaviour recovering;
  recovering.compile = [](const eph_partition* partition, eph_error* error) {
    uint32_t value = 0;
    const eph_graph* const graph = partition->graph;
    EXPECT_EQ(graph->api->find_value(graph, eph::to_abi("bias"), &value, error), EPH_NOT_FOUND);
    return EPH_OK;
  };
  recovering.compute = [](eph_run* run, eph_error* error) {
    EXPECT_NE(run->api->set_string(run, 0, 0, eph::to_abi("text"), error), EPH_OK);
    static_cast<float*>(run->outputs[0]->data)[0] = 1;
    return EPH_OK;
  };
  RawPlugin plugin(recovering);
  const test::FakeGraph graph;
  eph_computation* const computation = plugin.compile(&graph);
  ASSERT_NE(computation, nullptr) << plugin.error.message;
  test::FloatTensor input{{1}, {1}};
  test::FloatTensor output{{1}, {0}};
  test::FakeRun run({&input}, {&output}, 0);
  EXPECT_EQ(plugin.compute(computation, &run), EPH_OK) << plugin.error.message;
  plugin.destroy(computation);
  EXPECT_THAT(plugin.log(), IsEmpty());
}

// A provider whose manifest promises that it writes the same twice.
std::string message_of_writing(
    const std::function<int32_t(eph_context_writer*, eph_error*)>& write) {
  int32_t code_of_host = EPH_OK;
  Behaviour broken;
  broken.write_context = [&](eph_context_writer* writer, eph_error* error) {
    code_of_host = write(writer, error);
  };
  broken.outcome = [&](std::string_view, eph_error*) { return code_of_host; };
  RawPlugin plugin(broken, {}, true);
  test::FakeContextWriter writer;
  (void)plugin.api().get_ep_context_nodes(plugin.provider(), nullptr, 0, &writer, &plugin.error);
  EXPECT_NE(code_of_host, EPH_OK);
  EXPECT_THAT(writer.nodes, IsEmpty());
  return plugin.error.message;
}

TEST(ValidateWriting, OfBrokenContextsIsRefusedAsByTheHost) {
  EXPECT_THAT(message_of_writing([](eph_context_writer* writer, eph_error* error) {
                uint32_t payload = 0;
                return writer->api->begin_payload(writer, {nullptr, 5}, &payload, error);
              }),
              HasSubstr("compatibility"));
  EXPECT_THAT(message_of_writing([](eph_context_writer* writer, eph_error* error) {
                return writer->api->begin_payload(writer, {}, nullptr, error);
              }),
              HasSubstr("out_payload is null"));
  EXPECT_THAT(message_of_writing([](eph_context_writer* writer, eph_error* error) {
                uint32_t payload = 0;
                (void)writer->api->begin_payload(writer, {}, &payload, error);
                return writer->api->write(writer, payload, nullptr, 5, error);
              }),
              HasSubstr("has 5 entries at a null pointer"));
  EXPECT_THAT(message_of_writing([](eph_context_writer* writer, eph_error* error) {
                eph_context_node node = {};
                node.struct_size = sizeof(node);
                node.constant_count = 3;
                return writer->api->add_node(writer, &node, error);
              }),
              HasSubstr("constants"));
  EXPECT_THAT(message_of_writing([](eph_context_writer* writer, eph_error* error) {
                eph_context_node node = {};
                node.struct_size = sizeof(node);
                node.payload = 9;
                node.notes = {nullptr, 5};
                return writer->api->add_node(writer, &node, error);
              }),
              HasSubstr("there is no such payload"));
}

}  // namespace
}  // namespace ephost::layers::validate_codes_test
