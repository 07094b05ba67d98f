// The layer "trace" over the scripted fixture: what passes through it stays what it was, and each
// call is written.
#include "host/layers/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "host/base/profiler.h"
#include "host/layers/decorate/decorator.h"
#include "host/layers/trace/trace_file.h"
#include "host/plugin/calls/call.h"
#include "host/plugin/registry.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::layers::trace_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Trace : public ::testing::Test {
 protected:
  ~Trace() override {
    for (eph_computation* one : made_) one->api->destroy(one);
    if (provider_ != nullptr) api().destroy(provider_);
  }

  void start(std::vector<std::pair<std::string, std::string>> options = {},
             TraceFormat format = TraceFormat::kText, bool graph_reads = false) {
    plugin::Registry registry;
    const auto loaded = registry.load(find_scripted());
    ASSERT_THAT(loaded, IsOk());
    TraceOptions trace;
    trace.format = format;
    trace.graph_reads = graph_reads;
    trace.write = [this](std::string_view line) { lines.emplace_back(line); };
    const std::vector<std::shared_ptr<Layer>> layers = {make_trace(std::move(trace))};
    plugin_ = with_layers(*loaded, layers).value();
    std::vector<eph_option> given;
    for (const auto& [name, value] : options) {
      eph_option option = {};
      option.name = eph::to_abi(name);
      option.string_value = eph::to_abi(value);
      option.int_value = value == "true" ? 1 : std::atoll(value.c_str());
      given.push_back(option);
    }
    const eph_provider_config config = {sizeof(config), given.data(), given.size()};
    code = api().create(plugin_->provider_self, &host, &config, &provider_, &error);
  }

  [[nodiscard]] const eph_provider_api& api() const { return plugin_->provider; }
  [[nodiscard]] eph_provider* provider() const { return provider_; }
  [[nodiscard]] const std::vector<eph_computation*>& made() const { return made_; }

  eph_computation* compile(const eph_graph* graph, std::string_view name,
                           const eph_ep_context* context = nullptr) {
    const eph_partition partition = {sizeof(partition), graph, eph::to_abi(name), context, 0};
    eph_computation* computation = nullptr;
    code = api().compile(provider_, &partition, sizeof(partition), 1, &computation, &error);
    if (computation != nullptr) made_.push_back(computation);
    return computation;
  }

  [[nodiscard]] std::vector<std::string> lines_with(std::string_view text) const {
    std::vector<std::string> found;
    std::ranges::copy_if(lines, std::back_inserter(found),
                         [&](const std::string& line) { return line.find(text) != line.npos; });
    return found;
  }

  test::FakeHost host;
  test::FakeError error;
  int32_t code = EPH_OK;
  std::vector<std::string> lines;

 private:
  static manifest::FoundPlugin find_scripted() {
    manifest::SearchRequest request;
    request.directories = {test::fixture_directory("scripted")};
    request.use_environment = false;
    request.use_data_directories = false;
    for (const manifest::FoundPlugin& found : manifest::find_plugins(request).found) {
      if (found.manifest.provider == "ScriptedExecutionProvider") return found;
    }
    throw std::runtime_error("the scripted plugin is not there");
  }

  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  eph_provider* provider_ = nullptr;
  std::vector<eph_computation*> made_;
};

// x -> Add -> Relu -> y
std::unique_ptr<test::FakeGraph> make_graph() {
  auto graph = std::make_unique<test::FakeGraph>();
  const uint32_t x = graph->add_input("x", {2});
  const uint32_t sum = graph->add("Add", {x, x}, {2});
  graph->mark_output(graph->add("Relu", {sum}, {2}));
  return graph;
}

TEST_F(Trace, ShowsEachCallInBothDirections) {
  start();
  const auto graph = make_graph();
  test::FakeClaims claims;
  ASSERT_EQ(api().get_capability(provider(), graph.get(), &claims, &error), EPH_OK);
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(lines_with("-> scripted get_capability"),
              ElementsAre(AllOf(HasSubstr("\"nodes\":2"), HasSubstr("\"inputs\":1"))));
  EXPECT_THAT(lines_with("<- scripted claim_fused"), ElementsAre(HasSubstr("\"nodes\":[0,1]")));
  EXPECT_THAT(lines_with("<= scripted claim_fused"), ElementsAre(HasSubstr("= OK")));
  EXPECT_THAT(lines_with("=> scripted get_capability"), ElementsAre(HasSubstr("= OK")));
}

TEST_F(Trace, LeavesResultsAsTheyAre) {
  start();
  const auto graph = make_graph();
  eph_computation* const computation = compile(graph.get(), "part");
  ASSERT_EQ(code, EPH_OK) << error.message;
  test::FakeRun run({{{2}, {3, -4}}});
  ASSERT_EQ(computation->api->compute(computation, nullptr, &run, &error), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(6, 0));
  EXPECT_THAT(lines_with("-> scripted \"part\" compute"),
              ElementsAre(AllOf(HasSubstr("\"shape\":[2]"), HasSubstr("\"checksum\":"))));
  EXPECT_THAT(lines_with("<- scripted allocate_output"), ElementsAre(HasSubstr("\"shape\":[2]")));
}

TEST_F(Trace, HandsComputationsBackToThePluginAsItsOwn) {
  start({{"payloads", "one"}});
  const auto graph = make_graph();
  compile(graph.get(), "part");
  ASSERT_EQ(code, EPH_OK) << error.message;
  test::FakeContextWriter writer;
  ASSERT_EQ(api().get_ep_context_nodes(provider(), made().data(), 1, &writer, &error), EPH_OK)
      << error.message;
  ASSERT_THAT(writer.payloads, SizeIs(1));
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  context.payload = {writer.payloads[0].data(), writer.payloads[0].size()};
  context.partition_name = EPH_STRING("part");
  eph_computation* const restored = compile(graph.get(), "again", &context);
  ASSERT_EQ(code, EPH_OK) << error.message;
  test::FakeRun run({{{2}, {3, -4}}});
  ASSERT_EQ(restored->api->compute(restored, nullptr, &run, &error), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(6, 0));
  EXPECT_THAT(
      lines_with("-> scripted compile"),
      Contains(HasSubstr("\"context\":{\"bytes\":" + std::to_string(writer.payloads[0].size()))));
}

TEST_F(Trace, ShowsCodeAndMessageOfAFailure) {
  start({{"fail", "compile"}});
  const auto graph = make_graph();
  EXPECT_EQ(compile(graph.get(), "part"), nullptr);
  EXPECT_EQ(code, EPH_EP_FAIL);
  EXPECT_EQ(error.message, "scripted failure at compile");
  EXPECT_THAT(lines_with("=> scripted compile"),
              ElementsAre(AllOf(HasSubstr("= EP_FAIL"), HasSubstr("scripted failure at compile"))));
}

TEST_F(Trace, LeavesNothingBehindWhereCreationFails) {
  start({{"fail", "create"}});
  EXPECT_EQ(provider(), nullptr);
  EXPECT_EQ(error.message, "scripted failure at create");
}

TEST_F(Trace, ShowsReadsOfGraphsOnRequest) {
  start({}, TraceFormat::kText, true);
  const auto graph = make_graph();
  compile(graph.get(), "part");
  EXPECT_THAT(lines_with("<- scripted get_node "), Not(IsEmpty()));
}

TEST_F(Trace, LeavesOutReadsOfGraphsOtherwise) {
  start();
  const auto graph = make_graph();
  compile(graph.get(), "part");
  EXPECT_THAT(lines_with(" get_node "), IsEmpty());
}

TEST_F(Trace, LinesOfJsonAreObjects) {
  start({}, TraceFormat::kJson);
  const auto graph = make_graph();
  compile(graph.get(), "a \"name\"\n");
  EXPECT_THAT(lines, Each(AllOf(StartsWith("{\"event\":\""), ::testing::EndsWith("}\n"))));
  EXPECT_THAT(lines_with("\"slot\":\"compile\""), SizeIs(2));
  EXPECT_THAT(lines_with("a \\\"name\\\"\\u000a"), Not(IsEmpty()));
}

// A plugin with the slots that are required, which do nothing.
std::shared_ptr<plugin::LoadedPlugin> make_small_plugin() {
  auto plugin = std::make_shared<plugin::LoadedPlugin>();
  plugin->manifest.name = "small";
  eph_provider_api& table = plugin->provider;
  table.struct_size = sizeof(table);
  table.type_name = EPH_STRING("SmallExecutionProvider");
  table.name = EPH_STRING("small");
  table.vendor = EPH_STRING("tests");
  table.get_devices = [](const eph_provider_api*, const eph_host*, eph_device_list*,
                         eph_error*) noexcept -> int32_t { return EPH_OK; };
  table.create = [](const eph_provider_api*, const eph_host*, const eph_provider_config*,
                    eph_provider**, eph_error*) noexcept -> int32_t { return EPH_OK; };
  table.destroy = [](eph_provider*) noexcept {};
  plugin->provider_self = &table;
  return plugin;
}

TEST(TraceOfExceptions, EndsTheLineOfTheCall) {
  std::vector<std::string> lines;
  const auto broken = make_small_plugin();
  eph_provider_api& table = broken->provider;
  table.get_devices = as_slot<decltype(table.get_devices)>(
      +[](const eph_provider_api*, const eph_host*, eph_device_list*, eph_error*) -> int32_t {
        throw std::runtime_error("no devices today");
      });
  TraceOptions trace;
  trace.write = [&](std::string_view line) { lines.emplace_back(line); };
  const std::vector<std::shared_ptr<Layer>> layers = {make_trace(std::move(trace))};
  const auto traced = with_layers(broken, layers).value();
  test::FakeHost host;
  test::FakeDeviceList list;
  test::FakeError error;
  const auto result = plugin::call({"small", "get_devices"}, traced->provider.get_devices,
                                   traced->provider_self, &host, &list, &error);
  EXPECT_THAT(result.status().message(), HasSubstr("no devices today"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("-> small get_devices"),
                                 HasSubstr("=> small get_devices = exception")));
}

TEST(TraceInProfiles, HasArgumentsAndResults) {
  const auto plugin = make_small_plugin();
  plugin->provider.get_compatibility = [](eph_provider*, eph_string*,
                                          eph_error*) noexcept -> int32_t { return EPH_OK; };
  plugin->provider.validate = [](const eph_provider_api*, const eph_host*, const eph_device*,
                                 eph_string, int32_t* verdict, eph_error*) noexcept -> int32_t {
    *verdict = EPH_COMPATIBILITY_OPTIMAL;
    return EPH_OK;
  };
  TraceOptions trace;
  trace.write = [](std::string_view) {};
  trace.profiler = std::make_shared<Profiler>("profile.json");
  const auto profiler = trace.profiler;
  const std::vector<std::shared_ptr<Layer>> layers = {make_trace(std::move(trace))};
  const auto traced = with_layers(plugin, layers).value();
  test::FakeHost host;
  test::FakeError error;
  int32_t verdict = 0;
  EXPECT_EQ(traced->provider.validate(traced->provider_self, &host, nullptr,
                                      EPH_STRING("version 3"), &verdict, &error),
            EPH_OK);
  EXPECT_THAT(profiler->to_json(), AllOf(HasSubstr(R"(\"text\":\"version 3\"}","result":"OK")"),
                                         HasSubstr(R"("results":"{\"out_verdict\":1}")")));
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(TraceUntilCrashDeathTest, HasEveryLine) {
  const test::TempDirectory folder;
  const auto crash = [&](const std::string& name, bool until_crash) {
    const auto crashing = make_small_plugin();
    crashing->provider.get_devices = [](const eph_provider_api*, const eph_host*, eph_device_list*,
                                        eph_error*) noexcept -> int32_t {
      std::raise(SIGKILL);
      return EPH_OK;
    };
    TraceOptions trace;
    trace.write = open_trace(folder.path() / name, until_crash).value();
    const std::vector<std::shared_ptr<Layer>> layers = {make_trace(std::move(trace))};
    const auto traced = with_layers(crashing, layers).value();
    test::FakeHost host;
    test::FakeDeviceList list;
    test::FakeError error;
    (void)traced->provider.get_devices(traced->provider_self, &host, &list, &error);
  };
  EXPECT_EXIT(crash("every_line", true), ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_THAT(content_of(folder.path() / "every_line"), HasSubstr("-> small get_devices {}\n"));
  EXPECT_EXIT(crash("collected", false), ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(content_of(folder.path() / "collected"), "");
}

TEST(WithLayers, GivesThePluginItselfWhereThereAreNone) {
  const std::shared_ptr<const plugin::LoadedPlugin> plugin = make_small_plugin();
  EXPECT_EQ(with_layers(plugin, {}).value(), plugin);
}

}  // namespace
}  // namespace ephost::layers::trace_test
