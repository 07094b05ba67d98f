#include "host/bridge/provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "host/bridge/claim_source.h"
#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/bridge/collect/recording_sink.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::provider_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::RecordingSink;

// What the plugin does next; each test sets what it needs.
struct PluginBehaviour {
  std::function<void(const eph::GraphView&, eph::Claims&)> capability;
  std::function<void(eph::ContextWriter&)> write_context;
  std::function<void(eph_computation_info&)> describe;
  std::string failing;                      // "create", "kernels", "compile"
  std::map<std::string, int32_t> verdicts;  // by device
  std::string configured;                   // what `create` was told
  int alive = 0;
};
PluginBehaviour& behaviour() {
  static PluginBehaviour current;
  return current;
}

class ObedientComputation : public eph::Computation {
 public:
  ObedientComputation() { ++behaviour().alive; }
  ~ObedientComputation() override { --behaviour().alive; }
  void compute(eph::Run&, eph::State*) override {}
  void describe(eph_computation_info& info) override {
    if (behaviour().describe) behaviour().describe(info);
  }
};

class ObedientProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ObedientExecutionProvider";
  static constexpr std::string_view kName = "obedient";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("toy-0");
    device.type = EPH_DEVICE_NPU;
    device.name = EPH_STRING("toy");
    list.add(device);
  }
  static std::string describe_config(const eph::Config& config) {
    std::string text;
    for (std::size_t i = 0; i < config.devices().size(); ++i) {
      const eph_device& device = config.devices()[i];
      text += std::string(eph::view(device.id)) + " on " +
              std::string(eph::metadata_of(device, "slot")) + ", ";
    }
    if (config.target() != nullptr) {
      text += "target " + std::string(eph::view(config.target()->id)) + ", ";
    }
    if (config.is_for(EPH_PURPOSE_COMPILE_ONLY)) text += "compile only, ";
    if (config.is_for(EPH_PURPOSE_SHARED)) text += "shared, ";
    return text + std::string(config.directory());
  }
  static std::unique_ptr<ObedientProvider> create(eph::Host host, const eph::Config& options) {
    behaviour().configured = describe_config(options);
    if (behaviour().failing == "create") throw eph::Failure(EPH_ENGINE_ERROR, "no device");
    host.log(EPH_LOG_INFO, "threads=" + std::to_string(options.get_int("threads", -1)) +
                               " fast=" + std::to_string(options.get_bool("fast", false)) +
                               " mode=" + std::string(options.get_string("mode", "")));
    return std::make_unique<ObedientProvider>();
  }
  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    behaviour().capability(graph, claims);
  }
  eph::ArrayView<eph_kernel_def> kernels() {
    static const eph_kernel_def kernel = {EPH_STRING("Relu"), {}, 1, 100, nullptr, 0};
    return {&kernel, 1};
  }
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView&, uint32_t) {
    return std::make_unique<ObedientComputation>();
  }
  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions) {
    std::vector<std::unique_ptr<eph::Computation>> made;
    for (size_t i = 0; i < partitions.size(); ++i) {
      if (behaviour().failing == "compile" && i == 1) throw std::runtime_error("out of registers");
      made.push_back(std::make_unique<ObedientComputation>());
    }
    return made;
  }
  void get_ep_context_nodes(eph::ArrayView<eph::Computation*>, eph::ContextWriter& writer) {
    behaviour().write_context(writer);
  }
  std::string_view compatibility() { return "v1"; }
  static int32_t validate(eph::Host, const eph_device& device, std::string_view) {
    return behaviour().verdicts.at(std::string(eph::view(device.id)));
  }
  static void list_targets(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("toy-next");
    device.flags = EPH_DEVICE_VIRTUAL;
    list.add(device);
  }
};

graph::Model two_nodes() {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"a"}).node("Other", {"a"}, {"y"}).output("y");
  graph::Model model;
  model.graph = builder.build();
  return model;
}

class ProviderTest : public ::testing::Test {
 protected:
  // First, so that the provider is created with a behaviour of its own.
  PluginBehaviour& behaviour_ = behaviour() = PluginBehaviour();
  std::shared_ptr<Provider> provider_ = test::create_in_process<ObedientProvider>();
  graph::Model model_ = two_nodes();
  GraphView view_{model_.graph, model_};

  Result<std::vector<Computation>> compile_two() {
    const std::vector<CompileRequest> requests = {{&view_, "a", nullptr}, {&view_, "b", nullptr}};
    return provider_->compile(requests);
  }
};

TEST_F(ProviderTest, HandsOverTypedOptionsAndLogs) {
  std::vector<std::string> lines;
  const std::vector<manifest::TypedOption> options = {
      {"threads", int64_t{4}, "4"}, {"fast", true, "true"}, {"mode", std::string("best"), "best"}};
  const auto provider = test::create_in_process<ObedientProvider>(
      options, [&](Severity, std::string_view who, std::string_view message) {
        lines.push_back(std::string(who) + ": " + std::string(message));
      });
  EXPECT_EQ(lines,
            (std::vector<std::string>{"ObedientExecutionProvider: threads=4 fast=1 mode=best"}));
}

TEST_F(ProviderTest, PassesOnWhyItCannotBeCreated) {
  behaviour().failing = "create";
  auto services =
      std::make_unique<HostServices>("ObedientExecutionProvider", PluginLog(), ProgressHooks());
  const auto provider =
      Provider::create(test::in_process_plugin<ObedientProvider>(), {}, std::move(services));
  EXPECT_EQ(provider.status().code(), StatusCode::kEngineError);
  EXPECT_EQ(provider.status().message(),
            "ObedientExecutionProvider failed creating the provider: no device");
}

TEST_F(ProviderTest, ListsDevices) {
  const HostServices services("x", {}, {});
  const auto devices = list_devices(*test::in_process_plugin<ObedientProvider>(), services);
  ASSERT_THAT(devices, IsOk());
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices.value()[0].id, "toy-0");
  EXPECT_EQ(devices.value()[0].name, "toy");
  EXPECT_EQ(devices.value()[0].type, EPH_DEVICE_NPU);
}

TEST_F(ProviderTest, CollectsClaimsAndDeclines) {
  behaviour().capability = [](const eph::GraphView&, eph::Claims& claims) {
    EXPECT_TRUE(claims.has_kernel(0));
    EXPECT_FALSE(claims.has_kernel(1));
    EXPECT_FALSE(claims.has_kernel(99));
    claims.claim_node(0);
    claims.claim_fused(std::vector<uint32_t>{1}, "mine", EPH_CLAIM_DROP_CONSTANTS, UINT64_MAX);
    claims.decline(1, "too small");
    claims.decline(99, "not there");
  };
  const auto capability = provider_->capability(view_, {});
  ASSERT_THAT(capability, IsOk());
  ASSERT_EQ(capability->claims.size(), 2U);
  EXPECT_FALSE(capability->claims[0].fused);
  EXPECT_TRUE(capability->claims[1].fused);
  EXPECT_EQ(capability->claims[1].name, "mine");
  EXPECT_TRUE(capability->claims[1].drop_constants);
  EXPECT_EQ(capability->claims[1].token, UINT64_MAX);
  ASSERT_EQ(capability->declines.size(), 1U);
  EXPECT_EQ(capability->declines[0].reason, "too small");
}

TEST_F(ProviderTest, CutsAClaimThatIsLongerThanTheGraph) {
  behaviour().capability = [](const eph::GraphView&, eph::Claims& claims) {
    claims.claim_fused(std::vector<uint32_t>(1000, 0));
  };
  EXPECT_EQ(provider_->capability(view_, {})->claims[0].nodes.size(), 3U);
}

TEST_F(ProviderTest, CompilesAllPartitionsInOneCall) {
  const auto computations = compile_two();
  ASSERT_THAT(computations, IsOk());
  EXPECT_EQ(computations->size(), 2U);
  EXPECT_EQ(behaviour().alive, 2);
}

TEST_F(ProviderTest, DestroysComputationsWithTheirOwner) {
  { const auto computations = compile_two(); }
  EXPECT_EQ(behaviour().alive, 0);
}

TEST_F(ProviderTest, LeavesNothingBehindWhenCompilationFails) {
  behaviour().failing = "compile";
  const auto computations = compile_two();
  EXPECT_EQ(computations.status().message(),
            "ObedientExecutionProvider failed compiling 2 partitions: out of registers");
  EXPECT_EQ(behaviour().alive, 0);
}

// What must share does so in no other way.
TEST_F(ProviderTest, ReadsWhatAComputationChangesWhereItIs) {
  static const eph_slot_pair kPairs[] = {{0, 0}, {1, 1}};
  static const eph_slot_pair kMust[] = {{1, 0}};
  static const eph_slot_part kParts[] = {{0, 0, 0}, {0, 1, 64}};
  behaviour().describe = [](eph_computation_info& info) {
    info.may_inplace = kPairs;
    info.may_inplace_count = 2;
    info.aliases = kPairs;
    info.alias_count = 2;
    info.output_parts = kParts;
    info.output_part_count = 2;
    info.must_share = kMust;
    info.must_share_count = 1;
  };
  const auto kernel = provider_->create_kernel(view_, 0);
  ASSERT_THAT(kernel, IsOk());
  const plan::StepTraits traits = kernel->traits();
  ASSERT_EQ(traits.may_inplace.size(), 2U);
  EXPECT_EQ(traits.may_inplace[0].input, 1U);
  EXPECT_EQ(traits.may_inplace[1].output, 0U);
  ASSERT_EQ(traits.must_share.size(), 1U);
  EXPECT_EQ(traits.must_share[0].input, 1U);
  ASSERT_EQ(traits.aliases.size(), 1U);
  EXPECT_EQ(traits.aliases[0].output, 1U);
  ASSERT_EQ(traits.output_parts.size(), 1U);
  EXPECT_EQ(traits.output_parts[0].output, 1U);

  for (const eph_slot_pair again : {eph_slot_pair{1, 3}, eph_slot_pair{2, 0}}) {
    static eph_slot_pair pairs[2];
    pairs[0] = kMust[0];
    pairs[1] = again;
    behaviour().describe = [](eph_computation_info& info) {
      info.must_share = pairs;
      info.must_share_count = 2;
    };
    const Status status = provider_->create_kernel(view_, 0).status();
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), ::testing::HasSubstr("in must_share, and one of them before"));
  }
}

TEST_F(ProviderTest, ReadsWhatAComputationDeclares) {
  static const eph_slot_pair kPairs[] = {{0, 0}, {1, 0}};
  static const eph_slot_part kParts[] = {{0, 0, 0}, {0, 1, 64}};
  behaviour().describe = [](eph_computation_info& info) {
    info.workspace_bytes = 4096;
    info.host_alignment = 4096;
    info.may_inplace = kPairs;
    info.may_inplace_count = 2;
    info.input_parts = kParts;
    info.input_part_count = 1;
    info.output_parts = kParts;
    info.output_part_count = 2;
  };
  const auto kernel = provider_->create_kernel(view_, 0);
  ASSERT_THAT(kernel, IsOk());
  EXPECT_EQ(kernel->workspace_bytes(), 4096U);
  EXPECT_EQ(kernel->host_alignment(), 4096U);
  EXPECT_EQ(kernel->traits().host_alignment, 4096U);
  ASSERT_EQ(kernel->traits().may_inplace.size(), 2U);
  EXPECT_EQ(kernel->traits().may_inplace[1].input, 1U);
  EXPECT_EQ(kernel->traits().input_parts.size(), 1U);
  ASSERT_EQ(kernel->traits().output_parts.size(), 2U);
  EXPECT_EQ(kernel->traits().output_parts[1].output, 1U);
  EXPECT_EQ(kernel->traits().output_parts[1].offset, 64U);
}

TEST_F(ProviderTest, RefusesPairsBehindANullPointer) {
  behaviour().describe = [](eph_computation_info& info) { info.alias_count = 3; };
  const auto kernel = provider_->create_kernel(view_, 0);
  EXPECT_EQ(kernel.status().code(), StatusCode::kEpFail);
  EXPECT_NE(kernel.status().message().find("aliases has 3 entries at a null pointer"),
            std::string::npos);
  EXPECT_EQ(behaviour().alive, 0);
}

TEST_F(ProviderTest, StreamsTheContextToTheSink) {
  behaviour().write_context = [](eph::ContextWriter& writer) {
    const uint32_t payload = writer.begin_payload();
    writer.write(payload, "abc", 3);
    for (uint32_t i = 0; i < 2; ++i) {
      eph_context_node node = {};
      node.computation = i;
      node.payload = payload;
      writer.add_node(node);
    }
  };
  const auto computations = compile_two();
  const std::vector<const Computation*> both = {&computations.value()[0], &computations.value()[1]};
  RecordingSink sink;
  EXPECT_THAT(provider_->write_context(both, sink), IsOk());
  EXPECT_EQ(sink.size, 3U);
  EXPECT_EQ(sink.nodes, (std::vector<uint32_t>{0, 1}));
}

TEST_F(ProviderTest, RefusesAContextThatLeavesOutAPartition) {
  behaviour().write_context = [](eph::ContextWriter& writer) { (void)writer.begin_payload(); };
  const auto computations = compile_two();
  const std::vector<const Computation*> one = {&computations.value()[0]};
  RecordingSink sink;
  const Status status = provider_->write_context(one, sink);
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_NE(status.message().find("wrote no context node"), std::string::npos);
}

TEST_F(ProviderTest, RefusesAContextNodeForAnUnknownComputation) {
  behaviour().write_context = [](eph::ContextWriter& writer) {
    eph_context_node node = {};
    node.computation = 5;
    writer.add_node(node);
  };
  const auto computations = compile_two();
  const std::vector<const Computation*> one = {&computations.value()[0]};
  RecordingSink sink;
  EXPECT_NE(provider_->write_context(one, sink).message().find("computation 5"), std::string::npos);
}

TEST_F(ProviderTest, KeepsTheSinksOwnError) {
  behaviour().write_context = [](eph::ContextWriter& writer) {
    try {
      writer.write(writer.begin_payload(), "abc", 3);
    } catch (const eph::Failure&) {
      throw eph::Failure(EPH_ENGINE_ERROR, "the plugin's own words");
    }
  };
  const auto computations = compile_two();
  const std::vector<const Computation*> one = {&computations.value()[0]};
  RecordingSink sink;
  sink.refusal = Status(StatusCode::kFail, "the disk is full");
  EXPECT_EQ(provider_->write_context(one, sink).message(), "the disk is full");
}

TEST_F(ProviderTest, JudgesCompatibility) {
  EXPECT_EQ(*provider_->compatibility(), "v1");
  const auto plugin = test::in_process_plugin<ObedientProvider>();
  const HostServices services("x", {}, {});
  const auto judge = [&](int32_t verdict) {
    behaviour().verdicts["a"] = verdict;
    return *validate(*plugin, services, std::vector{DeviceInfo{.id = "a"}}, "v1");
  };
  EXPECT_EQ(judge(EPH_COMPATIBILITY_NOT_APPLICABLE), Compatibility::kNotApplicable);
  EXPECT_EQ(judge(EPH_COMPATIBILITY_OPTIMAL), Compatibility::kOptimal);
  EXPECT_EQ(judge(EPH_COMPATIBILITY_PREFER_RECOMPILATION), Compatibility::kPreferRecompilation);
  EXPECT_EQ(judge(EPH_COMPATIBILITY_UNSUPPORTED), Compatibility::kUnsupported);
  EXPECT_EQ(judge(99), Compatibility::kUnsupported);
}

// A provider may use any of its session's devices.
TEST_F(ProviderTest, TakesTheBestVerdictOfItsDevices) {
  const auto plugin = test::in_process_plugin<ObedientProvider>();
  const HostServices services("x", {}, {});
  const std::vector<DeviceInfo> devices = {{.id = "a"}, {.id = "b"}};
  const auto judge = [&](int32_t a, int32_t b) {
    behaviour().verdicts = {{"a", a}, {"b", b}};
    return *validate(*plugin, services, devices, "v1");
  };
  EXPECT_EQ(judge(EPH_COMPATIBILITY_UNSUPPORTED, EPH_COMPATIBILITY_OPTIMAL),
            Compatibility::kOptimal);
  EXPECT_EQ(judge(EPH_COMPATIBILITY_PREFER_RECOMPILATION, EPH_COMPATIBILITY_NOT_APPLICABLE),
            Compatibility::kPreferRecompilation);
  EXPECT_EQ(judge(EPH_COMPATIBILITY_NOT_APPLICABLE, EPH_COMPATIBILITY_UNSUPPORTED),
            Compatibility::kUnsupported);
  EXPECT_EQ(*validate(*plugin, services, {}, "v1"), Compatibility::kOptimal);
}

TEST_F(ProviderTest, ListsTargets) {
  const HostServices services("x", {}, {});
  const auto targets = list_targets(*test::in_process_plugin<ObedientProvider>(), services);
  ASSERT_THAT(targets, IsOk());
  ASSERT_EQ(targets->size(), 1U);
  EXPECT_EQ(targets->front().id, "toy-next");
  EXPECT_TRUE(targets->front().is_virtual());
}

TEST_F(ProviderTest, IsToldWhatItIsCreatedFor) {
  auto plugin =
      std::make_shared<plugin::LoadedPlugin>(*test::in_process_plugin<ObedientProvider>());
  plugin->manifest.file = "/opt/toy/toy.yaml";
  const auto create = [&](ProviderConfig config) {
    auto services = std::make_unique<HostServices>("x", PluginLog(), ProgressHooks());
    EXPECT_THAT(Provider::create(plugin, std::move(config), std::move(services)), IsOk());
    return behaviour().configured;
  };
  EXPECT_EQ(create({}), "/opt/toy");
  EXPECT_EQ(create({.devices = {{.id = "b", .metadata = {{"slot", "2"}}},
                                {.id = "a", .metadata = {{"slot", "1"}}}},
                    .purpose = EPH_PURPOSE_SHARED}),
            "b on 2, a on 1, shared, /opt/toy");
  EXPECT_EQ(create({.target = DeviceInfo{.id = "next"}, .purpose = EPH_PURPOSE_COMPILE_ONLY}),
            "target next, compile only, /opt/toy");
}

TEST_F(ProviderTest, KeepsWhatAComputationReadsUntilItIsDestroyed) {
  std::weak_ptr<int> watch;
  std::vector<Computation> made;
  {
    auto kept = std::make_shared<int>(1);
    watch = kept;
    const CompileRequest request = {&view_, "a", nullptr, 0, std::move(kept)};
    auto compiled = provider_->compile({&request, 1});
    ASSERT_THAT(compiled, IsOk());
    made = std::move(compiled).value();
  }
  EXPECT_FALSE(watch.expired());
  made.clear();
  EXPECT_TRUE(watch.expired());
}

TEST_F(ProviderTest, LeavesFusedClaimsOutInAContextModel) {
  behaviour().capability = [](const eph::GraphView&, eph::Claims& claims) {
    claims.claim_node(0);
    claims.claim_fused(std::vector<uint32_t>{0, 1});
  };
  const std::vector<graph::NodeId> cached = {1};
  ProviderClaims claims(*provider_, std::make_shared<ModelView>(model_), &cached);
  const auto found = claims.claims(model_.graph, {});
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_FALSE(found.value()[0].fused);
  EXPECT_EQ(found.value()[1].nodes, (std::vector<graph::NodeId>{1}));
  EXPECT_TRUE(claims.has_kernel(model_.graph, 1));
}

}  // namespace
}  // namespace ephost::bridge::provider_test
