// Which devices providers get, what they are told that they are created for, and the compatibility
// texts of payloads.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "host/context/metadata.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::ep_devices_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

constexpr const char* kDevices = "EPHOST_SCRIPTED_DEVICES";  // read by tests/fixtures/scripted
constexpr const char* kThree = "npu0/npu/1.0,sim/npu/1.0/virtual,gpu0/gpu/1.0,npu1/npu/1.0";

class EpDevices : public ::testing::Test {
 protected:
  EpDevices() { machine_has(kThree); }
  ~EpDevices() override { ::unsetenv(kDevices); }
  static void machine_has(const std::string& devices) { ::setenv(kDevices, devices.c_str(), 1); }

  [[nodiscard]] OptionList reporting(OptionList more = {}) const {
    more.emplace_back("report", report_);
    return more;
  }
  // What the providers said since the last call.
  std::vector<std::string> reports() {
    std::vector<std::string> lines;
    std::ifstream file(report_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::filesystem::remove(report_);
    return lines;
  }
  Status compile(const OptionList& options) {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = context_;
    return compile_model(scripted_environment(), scripted(options), compilation).status();
  }
  Status load() { return Session::create(scripted_environment(), context_, scripted()).status(); }

  TempDirectory dir_;
  const std::string report_ = dir_ / "report.txt";
  const std::filesystem::path model_ = test::save(dir_, test::scripted_model());
  const std::filesystem::path context_ = dir_ / "ctx.onnx";
};

TEST_F(EpDevices, AreAllThatAreNotVirtual) {
  ASSERT_THAT(Session::create(scripted_environment(), model_, scripted(reporting())), IsOk());
  const std::string directory = test::fixture_directory("scripted").native();
  EXPECT_THAT(
      reports(),
      ElementsAre("scripted: devices=npu0,gpu0,npu1 target= purpose=0 directory=" + directory));
}

TEST_F(EpDevices, MayBeNone) {
  machine_has("");
  ASSERT_THAT(Session::create(scripted_environment(), model_, scripted(reporting())), IsOk());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("devices= target=")));
}

TEST_F(EpDevices, AreRefusedWithoutAnId) {
  machine_has("/npu/1.0");
  const auto session = Session::create(scripted_environment(), model_, scripted());
  EXPECT_EQ(session.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(session.status().message(), HasSubstr("lists a device without an id"));
}

TEST_F(EpDevices, AreChosenByIdTypeAndNumber) {
  const auto devices_with = [&](const std::vector<std::string>& wanted) {
    SessionOptions options;
    options.append_execution_provider(
        {.name = "scripted", .options = reporting(), .devices = wanted});
    const auto session = Session::create(scripted_environment(), model_, options);
    if (!session.ok()) return session.status().to_string();
    const std::string line = reports().at(0);
    return line.substr(0, line.find(" target"));
  };
  EXPECT_EQ(devices_with({"npu1", "gpu"}), "scripted: devices=npu1,gpu0");
  EXPECT_EQ(devices_with({"npu:1"}), "scripted: devices=npu1");
  EXPECT_EQ(devices_with({"sim"}), "scripted: devices=sim");
  EXPECT_THAT(devices_with({"npu7"}),
              AllOf(HasSubstr("ENGINE_ERROR"), HasSubstr("no device \"npu7\" here, only: "),
                    HasSubstr("\"sim\" (npu, virtual)")));
}

TEST_F(EpDevices, AreListedByTheEnvironment) {
  const auto list = scripted_environment().devices();
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(list->failed, IsEmpty());
  std::vector<EpDevice> own;
  for (const EpDevice& device : list->devices) {
    if (device.provider_name == "scripted") own.push_back(device);
  }
  ASSERT_EQ(own.size(), 4U);
  EXPECT_EQ(own[0].provider, "ScriptedExecutionProvider");
  EXPECT_EQ(own[0].provider_vendor, "ephost tests");
  EXPECT_EQ(own[0].id, "npu0");
  EXPECT_EQ(own[0].type, "npu");
  EXPECT_EQ(own[0].vendor_id, 0x1209U);
  EXPECT_EQ(own[0].device_id, 1U);
  EXPECT_EQ(own[0].architecture, "npu");
  EXPECT_EQ(own[0].driver_version, "1.0");
  EXPECT_EQ(own[0].memory_bytes, uint64_t{1} << 30);
  EXPECT_THAT(own[0].metadata, ElementsAre(Pair("slot", "npu0")));
  EXPECT_TRUE(own[1].is_virtual);

  SessionOptions options;
  const std::vector<EpDevice> wanted = {own[3], own[0]};
  ASSERT_THAT(options.append_execution_provider_v2(wanted, reporting()), IsOk());
  ASSERT_THAT(Session::create(scripted_environment(), model_, options), IsOk());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("scripted: devices=npu1,npu0 ")));
}

TEST_F(EpDevices, OfAProviderThatFailsAreReported) {
  machine_has("/npu/1.0");
  const auto list = scripted_environment().devices();
  ASSERT_THAT(list, IsOk());
  std::vector<std::string> failed;
  for (const UnlistedProvider& provider : list->failed) {
    failed.push_back(provider.provider);
    EXPECT_THAT(provider.reason.message(), HasSubstr("a device without an id"));
  }
  EXPECT_THAT(failed, Contains("ScriptedExecutionProvider"));
  EXPECT_THAT(list->devices, Contains(::testing::Field(&EpDevice::provider_name, "cpu")));
}

TEST_F(EpDevices, OfSeveralProvidersAreAppendedOneByOne) {
  SessionOptions options;
  const std::vector<EpDevice> mixed = {{.provider = "A", .id = "1"}, {.provider = "B", .id = "1"}};
  EXPECT_EQ(options.append_execution_provider_v2({}).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(options.append_execution_provider_v2(mixed).message(),
              HasSubstr("got devices of \"A\" and of \"B\""));
  EXPECT_THAT(options.providers(), IsEmpty());
}

TEST_F(EpDevices, AreChosenByAPolicy) {
  SessionOptions options;
  options.set_ep_selection_policy(EpDevicePolicy::kPreferNpu);
  auto session = Session::create(scripted_environment(), model_, options);
  ASSERT_THAT(session, IsOk());
  options.append_execution_provider("scripted");
  EXPECT_THAT(Session::create(scripted_environment(), model_, options).status().message(),
              HasSubstr("both the device policy PREFER_NPU and the provider \"scripted\""));
  const auto report =
      partition_model(scripted_environment(), model_,
                      SessionOptions().set_ep_selection_policy(EpDevicePolicy::kPreferNpu));
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->graphs.at(0).providers.at(0).provider, "ScriptedExecutionProvider");
}

TEST_F(EpDevices, AreIngredientsOfTheCacheKey) {
  const auto outcome_with = [&](const std::vector<std::string>& wanted) {
    SessionOptions options;
    options.append_execution_provider({.name = "scripted", .devices = wanted});
    options.add_config_entry("ep.cache_dir", dir_ / "store");
    return Session::create(scripted_environment(), model_, options)->cache_use().outcome;
  };
  EXPECT_EQ(outcome_with({"npu0"}), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome_with({"npu1"}), CacheUse::Outcome::kMiss);
  EXPECT_EQ(outcome_with({"npu:0"}), CacheUse::Outcome::kHit);
  machine_has("npu0/npu/2.0");
  EXPECT_EQ(outcome_with({"npu0"}), CacheUse::Outcome::kMiss);
  machine_has("other/npu/9.0,npu0/npu/1.0");
  EXPECT_EQ(outcome_with({"npu0"}), CacheUse::Outcome::kHit);
}

// The numbers are those of EPH_PURPOSE_*.
TEST_F(EpDevices, ComeWithThePurposeOfTheProvider) {
  const Environment environment = scripted_environment();
  const auto purpose_with = [&](const char* key, const std::string& value) {
    SessionOptions options = scripted(reporting());
    options.add_config_entry(key, value);
    EXPECT_THAT(Session::create(environment, model_, options), IsOk());
    const std::string line = reports().at(0);
    return line.substr(line.find("purpose="), 9);
  };
  EXPECT_EQ(purpose_with("ep.context_enable", "0"), "purpose=0");
  EXPECT_EQ(purpose_with("ep.context_enable", "1"), "purpose=1");
  EXPECT_EQ(purpose_with("ep.cache_dir", dir_ / "store"), "purpose=1");
  EXPECT_EQ(purpose_with("ep.share_ep_contexts", "1"), "purpose=4");
  EXPECT_EQ(purpose_with("session.profile_file", dir_ / "profile.json"), "purpose=8");
  ASSERT_THAT(compile(reporting()), IsOk());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("purpose=3 ")));
  ASSERT_THAT(partition_model(environment, model_, scripted(reporting())), IsOk());
  ASSERT_THAT(plan_model(environment, model_, scripted(reporting())), IsOk());
  // A plan says where values lie, which open devices know.
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("purpose=2 "), HasSubstr("purpose=0 ")));
}

TEST_F(EpDevices, HaveTextsForEachPayload) {
  ASSERT_THAT(compile({{"payloads", "each"}, {"payload_compatibility", "device"}}), IsOk());
  const auto metadata = context::read_metadata(test::import_file(context_).metadata);
  ASSERT_THAT(metadata, IsOk());
  EXPECT_THAT(metadata->payload_compatibility,
              ElementsAre(Pair("scripted_0", "for npu0"), Pair("scripted_1", "for gpu0")));
  EXPECT_THAT(metadata->compatibility,
              ElementsAre(Pair("ScriptedExecutionProvider", "scripted 1")));
  EXPECT_THAT(load(), IsOk());

  machine_has("npu0/npu/1.0");
  const Status lacking = load();
  EXPECT_EQ(lacking.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(lacking.message(), HasSubstr("was made for \"for gpu0\"; ScriptedExecutionProvider "
                                           "here cannot load it"));
}

TEST_F(EpDevices, AreVerifiedForEachPayload) {
  ASSERT_THAT(compile({{"payloads", "each"}, {"payload_compatibility", "device"}}), IsOk());
  const auto verdicts = [&](const std::string& device) {
    VerifyContextOptions options;
    options.device = device;
    const auto report = verify_context(scripted_environment(), context_, options);
    std::vector<std::string> texts;
    if (!report.ok()) return std::vector{report.status().message()};
    for (const ContextSourceReport& source : report->sources) {
      texts.push_back(source.compatibility + ": " + source.verdict);
    }
    return texts;
  };
  EXPECT_THAT(verdicts(""), ElementsAre("for gpu0: optimal", "for npu0: optimal"));
  EXPECT_THAT(verdicts("npu0"), ElementsAre("for gpu0: unsupported", "for npu0: optimal"));
  EXPECT_THAT(verdicts("sim"), ElementsAre("for gpu0: unsupported", "for npu0: unsupported"));
  EXPECT_THAT(verdicts("x1"), ElementsAre("for gpu0: unsupported", "for npu0: unsupported"));
  EXPECT_THAT(verdicts("npu9"),
              ElementsAre(AllOf(HasSubstr("has a device \"npu9\"; there are: "),
                                HasSubstr("\"npu0\" of ScriptedExecutionProvider"),
                                HasSubstr("\"x2\" of ScriptedExecutionProvider"))));
}

TEST_F(EpDevices, KeepTheTextsOfPayloadsThroughTheStore) {
  SessionOptions options = scripted({{"payloads", "each"}, {"payload_compatibility", "device"}});
  options.add_config_entry("ep.cache_dir", dir_ / "store");
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = context_;
  for (const auto outcome : {CacheUse::Outcome::kMiss, CacheUse::Outcome::kHit}) {
    const auto report = compile_model(scripted_environment(), options, compilation);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->cache_use.outcome, outcome);
    const auto metadata = context::read_metadata(test::import_file(context_).metadata);
    EXPECT_THAT(metadata->payload_compatibility,
                ElementsAre(Pair("scripted_0", "for npu0"), Pair("scripted_1", "for gpu0")));
  }
}

TEST_F(EpDevices, OfOthersAreCompiledFor) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = context_;
  compilation.target = "x1";
  const SessionOptions options = scripted(reporting({{"payload_compatibility", "device"}}));
  const auto compiled = compile_model(scripted_environment(), options, compilation);
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("scripted: devices= target=x1 purpose=3 ")));
  EXPECT_THAT(load().message(), HasSubstr("was made for \"for x1\""));
  for (const auto& [device, verdict] : {std::pair("x1", "optimal"), std::pair("x2", "unsupported"),
                                        std::pair("npu0", "unsupported")}) {
    VerifyContextOptions verification;
    verification.device = device;
    const auto report = verify_context(scripted_environment(), context_, verification);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->sources.at(0).verdict, verdict) << device;
  }
}

TEST_F(EpDevices, OfOthersHaveEntriesOfTheirOwnInTheStore) {
  const auto outcome_for = [&](const std::string& target) {
    SessionOptions options = scripted();
    options.add_config_entry("ep.cache_dir", dir_ / "store");
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = context_;
    compilation.target = target;
    return compile_model(scripted_environment(), options, compilation)->cache_use.outcome;
  };
  for (const char* target : {"", "x1", "x2"}) {
    EXPECT_EQ(outcome_for(target), CacheUse::Outcome::kMiss);
    EXPECT_EQ(outcome_for(target), CacheUse::Outcome::kHit);
  }
}

TEST_F(EpDevices, OfOthersMustBeKnownToAProvider) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = context_;
  compilation.target = "npu0";  // it is here, and not a target
  const auto compiled = compile_model(scripted_environment(), scripted(), compilation);
  EXPECT_EQ(compiled.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(compiled.status().message(),
              HasSubstr("compiles for a target \"npu0\"; there are: \"x1\" of "
                        "ScriptedExecutionProvider, \"x2\" of"));
  EXPECT_FALSE(std::filesystem::exists(context_));
}

TEST_F(EpDevices, OfOthersAreListedByTheEnvironment) {
  const auto list = scripted_environment().targets();
  ASSERT_THAT(list, IsOk());
  std::vector<std::string> ids;
  for (const EpDevice& device : list->devices)
    ids.push_back(device.provider_name + " " + device.id);
  EXPECT_THAT(ids, ElementsAre("scripted x1", "scripted x2", "scripted_forgetful x1",
                               "scripted_forgetful x2", "scripted_two x1", "scripted_two x2"));
}

// The manifest accepts the source, and yet the provider disowns the text.
TEST_F(EpDevices, AreNotAskedToLoadATextOfAnotherProvider) {
  ASSERT_THAT(compile({{"compatibility", "another provider's"}}), IsOk());
  const Status status = load();
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(),
              HasSubstr("ScriptedExecutionProvider does not know this text as one of its own"));
  const auto report = verify_context(scripted_environment(), context_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->sources.at(0).verdict, "not applicable");
  EXPECT_THAT(report->problems, ElementsAre(HasSubstr("does not know \"another provider's\"")));
}

TEST_F(EpDevices, MayPreferARecompilation) {
  ASSERT_THAT(compile({{"compatibility", "prefer_recompilation"}}), IsOk());
  const test::LogCapture log;
  EXPECT_THAT(load(), IsOk());
  EXPECT_THAT(log.text(), HasSubstr("would do better with a new one"));
  SessionOptions strict = scripted();
  strict.add_config_entry("session.fail_on_suboptimal_compiled_model", "1");
  EXPECT_EQ(Session::create(scripted_environment(), context_, strict).status().code(),
            StatusCode::kInvalidGraph);
}

// One set of functions serves two tables, and `self` tells which.
class EpLayer : public EpDevices {
 protected:
  static Environment layered() { return scripted_environment(test::fixture_directory("layer")); }
  Result<Session> create(OptionList options = {}) {
    return Session::create(layered(), model_,
                           test::both_scripted(reporting({{"claim", "fuse:Add,Relu"}}),
                                               reporting(std::move(options))));
  }
};

TEST_F(EpLayer, KnowsWhomItDecorates) {
  auto session = create();
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("scripted: devices=layered:npu0,layered:gpu0"),
                                     HasSubstr("scripted_two: devices=layered:npu0")));
  test::expect_runs(std::move(session), test::expected_outputs(model_));
}

TEST_F(EpLayer, HidesExtensionsThatItDoesNotKnow) {
  const auto wishes_and_sharing = [&](const Environment& environment) {
    auto options = scripted({{"keep", "Relu"}});
    options.add_config_entry("ep.share_ep_contexts", "1");
    options.add_config_entry("ep.context_enable", "1");
    options.add_config_entry("ep.context_file_path", dir_ / "group_ctx.onnx");
    return Session::create(environment, model_, options).status();
  };
  // It passes sharing on, which generating in a group needs.
  EXPECT_THAT(wishes_and_sharing(layered()), IsOk());
  for (const auto& [folder, is_kept] : {std::pair("scripted", true), std::pair("layer", false)}) {
    const std::filesystem::path model =
        test::save(dir_, test::model_of(graph::testing::GraphBuilder()
                                            .input("x", test::row_type(4))
                                            .constant("w", test::row(4, 1))
                                            .node("Relu", {"w"}, {"a"})
                                            .node("Add", {"x", "a"}, {"y"})
                                            .output("y")
                                            .build()));
    const auto report = partition_model(scripted_environment(test::fixture_directory(folder)),
                                        model, scripted({{"keep", "Relu"}}));
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->folded_nodes == 0, is_kept);
  }
}

}  // namespace
}  // namespace ephost::ep_devices_test
