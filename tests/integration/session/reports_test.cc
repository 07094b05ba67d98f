// The parts of the public API that report on plugins, models and cache stores, with the shipped
// providers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::reports_test {
namespace {

using test::IsOk;
using test::model_path;
using test::with_dnnl;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(InspectPlugin, DescribesDevicesOptionsAndKernels) {
  const auto plugin = inspect_plugin(test::environment(), "cpu");
  ASSERT_THAT(plugin, IsOk());
  EXPECT_EQ(plugin->plugin.provider, "CPUExecutionProvider");
  EXPECT_THAT(plugin->provider_status, IsOk());
  EXPECT_FALSE(plugin->compiles);
  EXPECT_THAT(plugin->devices, Not(IsEmpty()));
  EXPECT_TRUE(std::ranges::any_of(plugin->options, [](const OptionDescription& option) {
    return option.name == "num_threads" && option.type == "int";
  }));
  const auto relu = std::ranges::find(plugin->kernels, "Relu", &KernelDescription::op_type);
  ASSERT_NE(relu, plugin->kernels.end());
  EXPECT_EQ(relu->domain, "");
  EXPECT_GT(relu->since_version, 0);
}

TEST(InspectPlugin, FindsAPluginByItsManifest) {
  const auto plugin = inspect_plugin(test::environment(), EPHOST_PLUGINS "/dnnl.yaml");
  ASSERT_THAT(plugin, IsOk());
  EXPECT_EQ(plugin->plugin.name, "dnnl");
  EXPECT_TRUE(plugin->compiles);
  EXPECT_TRUE(plugin->writes_context);
}

TEST(InspectPlugin, RefusesANameThatIsNotInstalled) {
  EXPECT_EQ(inspect_plugin(test::environment(), "gpuu").status().code(), StatusCode::kNotFound);
}

TEST(EnvironmentReport, ListsPluginsWithAbiDevicesAndSources) {
  const std::vector<InstalledPlugin> plugins = test::environment().plugins();
  const auto dnnl = std::ranges::find(plugins, "dnnl", &InstalledPlugin::name);
  ASSERT_NE(dnnl, plugins.end());
  EXPECT_GE(dnnl->abi.major, 1U);
  EXPECT_THAT(dnnl->devices, Not(IsEmpty()));
  EXPECT_THAT(dnnl->context_sources, Not(IsEmpty()));
}

TEST(EnvironmentReport, SaysWhereEachSearchedDirectoryComesFrom) {
  const std::vector<SearchedDirectory> searched = test::environment().searched_directories();
  ASSERT_EQ(searched.size(), 1U);
  EXPECT_EQ(searched[0].path, EPHOST_PLUGINS);
  EXPECT_EQ(searched[0].origin, "given");
}

TEST(PartitionModel, ReportsPartitionsAndKernelNodes) {
  const auto model = partition_model(test::environment(), model_path("tiny_cnn"), with_dnnl());
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(model->coverage, IsOk());
  const GraphPartitioning& graph = model->graphs.front();
  ASSERT_THAT(graph.partitions, Not(IsEmpty()));
  const PartitionReport& partition = graph.partitions.front();
  for (const uint32_t node : partition.nodes) {
    EXPECT_EQ(graph.nodes[node].partition, partition.name);
    EXPECT_EQ(graph.nodes[node].provider, partition.provider);
  }
  EXPECT_THAT(partition.inputs, Not(IsEmpty()));
  EXPECT_EQ(graph.unassigned_nodes, 0U);
}

TEST(PartitionModel, LinksNodesToThoseThatReadTheirOutputs) {
  const auto model = partition_model(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(model, IsOk());
  size_t edges = 0;
  for (const PartitionedNode& node : model->graphs.front().nodes) edges += node.successors.size();
  EXPECT_GE(edges, model->graphs.front().nodes.size() - 1);
}

TEST(PartitionModel, PassesOnTheErrorsOfReadingTheModel) {
  EXPECT_EQ(partition_model(test::environment(), "missing.onnx").status().code(),
            StatusCode::kNoSuchFile);
}

TEST(PlanModel, PlacesValuesInBlocksWithoutExceedingTheirPeak) {
  const auto plans = plan_model(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(plans, IsOk());
  const GraphPlan& plan = plans->front();
  ASSERT_EQ(plan.blocks.size(), 1U);
  EXPECT_EQ(plan.blocks[0].memory, "host");
  EXPECT_GE(plan.blocks[0].peak_bytes, plan.blocks[0].lower_bound_bytes);
  ASSERT_THAT(plan.buffers, Not(IsEmpty()));
  for (const PlannedBuffer& buffer : plan.buffers) {
    EXPECT_LT(buffer.last_step, plan.steps.size());
    EXPECT_LE(buffer.offset + buffer.bytes, plan.blocks[0].peak_bytes);
  }
}

TEST(PlanModel, NamesTheProviderOfEachStep) {
  const auto plans = plan_model(test::environment(), model_path("tiny_cnn"), with_dnnl());
  ASSERT_THAT(plans, IsOk());
  const GraphPlan& plan = plans->front();
  EXPECT_TRUE(std::ranges::any_of(plan.steps, [&](const PlannedStep& step) {
    return !step.partition.empty() && plan.providers[step.provider] == plan.providers.front();
  }));
}

TEST(SessionReport, ListsProvidersWithTheirLibraries) {
  const auto session = Session::create(test::environment(), model_path("tiny_cnn"), with_dnnl());
  ASSERT_THAT(session, IsOk());
  const std::vector<SessionProvider> providers = session->providers();
  ASSERT_EQ(providers.size(), 2U);
  EXPECT_EQ(providers[1].name, "CPUExecutionProvider");
  EXPECT_EQ(std::filesystem::path(providers[1].library).filename(), "libephost_cpu.so");
}

TEST(SessionReport, StatesThePlannedMemory) {
  const auto session = Session::create(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(session, IsOk());
  const auto plans = plan_model(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(plans, IsOk());
  ASSERT_EQ(session->planned_memory().size(), 1U);
  EXPECT_EQ(session->planned_memory()[0].peak_bytes, plans->front().blocks[0].peak_bytes);
}

TEST(SessionReport, RefusesAnOutputFileThatIsTheModel) {
  const auto session = Session::create(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(session, IsOk());
  const Status status = session->check_output_file(model_path("tiny_cnn"), "the output");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("the output"));
}

TEST(SessionReport, AllowsAnOutputFileOfItsOwn) {
  const test::TempDirectory folder;
  const auto session = Session::create(test::environment(), model_path("tiny_cnn"));
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(session->check_output_file(folder / "y.npy", "the output"), IsOk());
}

class VerifyContext : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_path("tiny_cnn");
    compilation.output_model_path = model_;
    const auto report = compile_model(test::environment(), with_dnnl(), compilation);
    ASSERT_THAT(report, IsOk());
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = folder_ / "model_ctx.onnx";
};

TEST_F(VerifyContext, FindsNoProblemInWhatWasJustCompiled) {
  const auto report = verify_context(test::environment(), model_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->unchecked, IsEmpty());
  ASSERT_THAT(report->nodes, Not(IsEmpty()));
  EXPECT_EQ(report->nodes[0].checksum, "ok");
  ASSERT_EQ(report->sources.size(), 1U);
  EXPECT_EQ(report->sources[0].verdict, "optimal");
}

TEST_F(VerifyContext, ReportsADamagedPayloadAsAProblem) {
  const std::filesystem::path binary = folder_ / "model_dnnl.bin";
  std::string bytes = test::read(binary);
  bytes.back() = static_cast<char>(~bytes.back());
  test::write(binary, bytes);
  const auto report = verify_context(test::environment(), model_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->problems, Not(IsEmpty()));
}

TEST_F(VerifyContext, LeavesProvidersAloneWhereTheyAreToBeIgnored) {
  EnvironmentOptions none;
  none.search_default_directories = false;
  const auto report = verify_context(*Environment::create(none), model_,
                                     {.providers = VerifyContextOptions::Providers::kIgnore});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->sources, IsEmpty());
}

TEST_F(VerifyContext, RefusesAModelWithoutContext) {
  EXPECT_EQ(verify_context(test::environment(), model_path("tiny_cnn")).status().code(),
            StatusCode::kInvalidArgument);
}

class CacheMaintenance : public ::testing::Test {
 protected:
  void SetUp() override {
    SessionOptions options = with_dnnl();
    options.add_config_entry("ep.cache_dir", folder_.path().string());
    const auto session = Session::create(test::environment(), model_path("tiny_cnn"), options);
    ASSERT_THAT(session, IsOk());
    key_ = session->cache_use().key;
  }

  test::TempDirectory folder_;
  std::string key_;
};

TEST_F(CacheMaintenance, ListsAnEntryWithWhatItsKeyIsMadeOf) {
  const auto items = list_cache(folder_.path());
  ASSERT_THAT(items, IsOk());
  ASSERT_EQ(items->size(), 1U);
  EXPECT_EQ(items->front().item.key, key_);
  EXPECT_EQ(items->front().item.state, CacheItem::State::kEntry);
  EXPECT_THAT(items->front().made_of, Not(IsEmpty()));
  EXPECT_GT(items->front().partitions, 0U);
}

TEST_F(CacheMaintenance, FindsADamagedEntry) {
  const auto items = list_cache(folder_.path());
  ASSERT_THAT(items, IsOk());
  test::write(std::filesystem::path(items->front().item.folder) / "model_ctx.onnx", "damaged");
  const auto checks = verify_cache(folder_.path());
  ASSERT_THAT(checks, IsOk());
  ASSERT_EQ(checks->size(), 1U);
  EXPECT_THAT(checks->front().problems, Not(IsEmpty()));
}

TEST_F(CacheMaintenance, VerifiesNothingWhereOthersMayForge) {
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  const auto checks = verify_cache(folder_.path());
  EXPECT_EQ(checks.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(checks.status().message(), HasSubstr("has the mode 0777"));
  EXPECT_EQ(list_cache(folder_.path())->size(), 1U);
  EXPECT_THAT(clear_cache(folder_.path()), IsOk());
}

TEST_F(CacheMaintenance, PrunesWhatExceedsTheLimit) {
  const auto removal = prune_cache(folder_.path(), {.max_bytes = 1});
  ASSERT_THAT(removal, IsOk());
  ASSERT_EQ(removal->removed.size(), 1U);
  EXPECT_EQ(removal->removed[0].key, key_);
}

TEST_F(CacheMaintenance, ClearsEverythingThatIsNotInUse) {
  ASSERT_THAT(clear_cache(folder_.path()), IsOk());
  EXPECT_THAT(*list_cache(folder_.path()), IsEmpty());
}

TEST_F(CacheMaintenance, RefusesAFolderWithoutAStore) {
  EXPECT_EQ(list_cache(folder_ / "other").status().code(), StatusCode::kNoSuchFile);
}

}  // namespace
}  // namespace ephost::reports_test
