// Exceptions that leave a plugin's functions: none may end the process, and the error or the log
// names the provider and the slot.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <cfenv>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "host/bridge/extensions/operator_definitions.h"
#include "host/bridge/provider.h"
#include "host/plugin/slots.h"
#include "host/session/creation/pipeline.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::plugin_faults_test {
namespace {

using test::IsOk;
using test::LogCapture;
using test::scripted;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kFault = "EPHOST_FAULT";  // read by tests/fixtures/faulty

// Makes the plugin commit a fault while this object exists.
class Fault {
 public:
  explicit Fault(const std::string& fault) { ::setenv(kFault, fault.c_str(), 1); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { ::unsetenv(kFault); }
};

Environment faulty_environment() {
  return test::scripted_environment(test::fixture_directory("faulty"));
}

// Calls everything that a host calls of a provider, and collects the failures.
class WholeLife {
 public:
  std::string live() {
    test::save(folder_, test::scripted_model());
    for (const char* claim : {"fuse:*", "kernels:Add,Mul"}) run(model(), claim);
    list_devices();
    compile();
    run(context_model(), "fuse:*");
    share();
    specialize();
    explain();
    return errors_;
  }

 private:
  [[nodiscard]] std::filesystem::path model() const { return folder_ / "model.onnx"; }
  [[nodiscard]] std::filesystem::path context_model() const { return folder_ / "ctx.onnx"; }

  void note(const Status& status) {
    if (!status.ok()) errors_ += status.to_string() + "\n";
  }
  static SessionOptions options(const char* claim) {
    return scripted({{"claim", claim}, {"keep_state", "true"}});
  }
  void run(const std::filesystem::path& path, const char* claim) {
    SessionOptions profiled = options(claim);
    profiled.enable_profiling(folder_ / "trace.json");
    auto session = Session::create(faulty_environment(), path, profiled);
    note(session.status());
    if (!session.ok()) return;
    note(test::run(*session).status());
    note(session->set_ep_dynamic_options({{"ep.scripted.offset", "0"}}));
    note(session->end_profiling().status());
  }
  void list_devices() {
    const manifest::FoundPlugin found = test::find_plugin_in(test::fixture_directory("faulty"));
    plugin::Registry registry;
    const auto plugin = registry.load(found);
    note(plugin.status());
    if (!plugin.ok()) return;
    const bridge::HostServices services(found.manifest.provider, session::plugin_log(), {});
    note(bridge::list_devices(**plugin, services).status());
    note(bridge::list_targets(**plugin, services).status());
    note(bridge::read_operators(*plugin).status());
  }
  void compile() {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model();
    compilation.output_model_path = context_model();
    note(compile_model(faulty_environment(), options("fuse:*"), compilation).status());
  }
  void share() {
    SessionOptions shared = options("fuse:*");
    shared.add_config_entry("ep.share_ep_contexts", "1");
    note(Session::create(faulty_environment(), context_model(), shared).status());
  }

  // A model with open extents, for which the session has a profile.
  void specialize() {
    const std::filesystem::path file = test::save(folder_, test::open_model(), "open.onnx");
    SessionOptions profiled = scripted({{"claim", "fuse:*"}, {"fixed", "*"}});
    profiled.add_config_entry("session.shapes.profiles", "batch=2,seq=3");
    note(Session::create(faulty_environment(), file, profiled).status());
  }

  // A node of an operator that the plugin defines, and that no provider takes.
  void explain() {
    graph::Model defined = test::model_of(graph::testing::GraphBuilder()
                                              .input("x", test::row_type(4))
                                              .node("Op", {"x"}, {"y"})
                                              .output("y")
                                              .build());
    defined.graph.nodes[0].domain = "com.faulty";
    defined.opset_imports["com.faulty"] = 1;
    const std::filesystem::path file = test::save(folder_, defined, "defined.onnx");
    note(partition_model(faulty_environment(), file, options("fuse:*")).status());
  }

  TempDirectory folder_;
  std::string errors_;
};

// The names of faults that the faulty plugin knows: the slots of a plugin.
std::vector<std::string> all_slots() {
  std::vector<std::string> names = {"eph_plugin_preamble.get_api", "eph_plugin_api.get_extension",
                                    "eph_operators_api.get_operators", "eph_operator_def.infer"};
  const auto add = [&]<class Table>() {
    plugin::for_each_slot<Table>([&]<auto kMember>() {
      names.push_back(std::string(plugin::TableSlots<Table>::kTable) + "." +
                      std::string(plugin::kSlot<kMember>.name));
    });
  };
  plugin::ProviderTables::for_each(add);
  return names;
}

// Those that a session calls in its first run.
std::vector<std::string> called_slots() {
  std::vector<std::string> names = all_slots();
  const std::set<std::string> others = {
      "eph_device_api.query",          "eph_device_api.notify",
      "eph_device_api.begin_capture",  "eph_device_api.end_capture",
      "eph_device_api.launch",         "eph_device_api.destroy_capture",
      "eph_device_api.abandon",        "eph_device_api.import_memory",
      "eph_device_api.release_import", "eph_device_api.export_memory",
      "eph_device_api.wait_external"};
  std::erase_if(names, [&](const std::string& name) { return others.count(name) != 0; });
  return names;
}

std::string slot_of(const std::string& place) { return place.substr(place.find('.') + 1); }

class ThrowingSlotTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ThrowingSlotTest, IsNamedWithItsProviderAndTheText) {
  const Fault fault(GetParam() + ":throw");
  const LogCapture log;
  std::string errors = WholeLife().live();
  errors += log.text();
  EXPECT_THAT(errors, HasSubstr(slot_of(GetParam()) + " of ScriptedExecutionProvider"));
  EXPECT_THAT(errors, HasSubstr("threw an exception (thrown by a test)"));
}

INSTANTIATE_TEST_SUITE_P(Slots, ThrowingSlotTest, ::testing::ValuesIn(called_slots()),
                         [](const auto& slot) {
                           return std::regex_replace(slot.param, std::regex("\\."), "_");
                         });

TEST(PluginFaults, AProviderWithoutFaultsLivesItsWholeLifeWithoutAnError) {
  const LogCapture log;
  EXPECT_EQ(WholeLife().live(), "");
  EXPECT_EQ(log.text(), "");
}

// All tables that are not the host's own are tables that a plugin gives to the host; that of a
// layer has tests of its own (plugin_layers_test.cc).
TEST(PluginFaults, EverySlotOfTheAbiIsAmongThoseThatThrow) {
  const std::set<std::string> of_the_host = {
      "eph_error_api",          "eph_graph_api",        "eph_claims_api",      "eph_run_api",
      "eph_context_writer_api", "eph_host_api",         "eph_device_list_api", "eph_constants_api",
      "eph_progress_api",       "eph_thread_pool_api",  "eph_name_list_api",   "eph_event_list_api",
      "eph_inference_api",      "eph_shape_wishes_api", "eph_layer_api"};
  const std::vector<std::string> slots = all_slots();
  const std::set<std::string> known(slots.begin(), slots.end());
  std::set<std::string> found;
  const std::filesystem::path headers = EPHOST_SDK_HEADERS;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(headers)) {
    if (entry.path().extension() != ".h") continue;
    std::string table;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, std::regex("^(?:typedef )?struct (\\w+) \\{")))
        table = match[1];
      if (std::regex_search(line, match, std::regex("^  \\S.*\\(\\*(\\w+)\\)\\("))) {
        if (of_the_host.count(table) == 0) found.insert(table + "." + match[1].str());
      }
    }
  }
  EXPECT_EQ(found, known);
}

TEST(PluginFaults, AnExceptionOfAnyTypeIsCaught) {
  const Fault fault("eph_provider_api.create:throw_number");
  EXPECT_THAT(WholeLife().live(), HasSubstr("create of ScriptedExecutionProvider threw an "
                                            "exception of an unknown type"));
}

TEST(PluginFaults, AnExceptionOfTheEntryPointRefusesThePlugin) {
  const Fault fault("eph_plugin_v1:throw");
  EXPECT_THAT(WholeLife().live(),
              HasSubstr("eph_plugin_v1 of ScriptedExecutionProvider threw an exception"));
}

class FaultyRunTest : public ::testing::TestWithParam<ExecutionMode> {
 protected:
  Result<std::vector<Value>> run_with(const std::string& fault) {
    const std::filesystem::path model = test::save(folder_, test::scripted_model());
    SessionOptions options = scripted({{"claim", "kernels:*"}});
    options.set_execution_mode(GetParam());
    options.set_inter_op_num_threads(2);
    auto session = Session::create(faulty_environment(), model, options);
    EXPECT_THAT(session, IsOk());
    {
      const Fault while_it_runs(fault);
      const auto failed = test::run(*session);
      EXPECT_FALSE(failed.ok());
      error_ = failed.status().to_string();
    }
    return test::run(*session);
  }

  TempDirectory folder_;
  std::string error_;
};

TEST_P(FaultyRunTest, AComputationThatThrowsFailsOneRunByItsNode) {
  EXPECT_THAT(run_with("eph_computation_api.compute:throw"), IsOk());
  EXPECT_THAT(error_, AllOf(HasSubstr("EP_FAIL"), HasSubstr("Add"),
                            HasSubstr("compute of ScriptedExecutionProvider for Add")));
}

TEST_P(FaultyRunTest, ALoopThatThrowsFailsOneRunByItsNode) {
  EXPECT_THAT(run_with("eph_computation_api.compute:loop_throw"), IsOk());
  EXPECT_THAT(error_, AllOf(HasSubstr("EP_FAIL"), HasSubstr("(thrown in a loop)"),
                            HasSubstr("compute of ScriptedExecutionProvider for ")));
}

INSTANTIATE_TEST_SUITE_P(Modes, FaultyRunTest,
                         ::testing::Values(ExecutionMode::kSequential, ExecutionMode::kParallel));

TEST(PluginFaults, ALoopThatThrowsFailsTheCallThatItBelongsTo) {
  const Fault fault("eph_provider_api.compile:loop_throw");
  const LogCapture log;
  WholeLife().live();
  EXPECT_THAT(log.text(), HasSubstr("compile of ScriptedExecutionProvider for 2 partitions threw "
                                    "an exception (thrown in a loop)"));
}

TEST(PluginFaults, TheRoundingModeIsRestoredAfterACallThatChangesIt) {
  const Fault fault("eph_provider_api.create:rounding");
  const LogCapture log;
  WholeLife().live();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_THAT(log.text(),
              HasSubstr("create of ScriptedExecutionProvider changed the floating-point"));
}

TEST(PluginFaults, TheRoundingModeIsRestoredAfterARunThatChangesIt) {
  const Fault fault("eph_computation_api.compute:rounding");
  const LogCapture log;
  WholeLife().live();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_THAT(log.text(), HasSubstr("changed the floating-point control"));
}

}  // namespace
}  // namespace ephost::plugin_faults_test
