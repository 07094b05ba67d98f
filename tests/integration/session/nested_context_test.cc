// The EP context cache with partitions inside bodies of control flow, with the scripted provider.
#include <gmock/gmock.h>

#include <set>

#include "host/context/ep_context_node.h"
#include "host/onnx_io/import/import.h"
#include "tests/integration/session/flow_models.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::nested_context_test {
namespace {

using test::IsOk;
using test::nested_flow;
using test::nested_flow_inputs;
using test::write_model;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Environment scripted_environment() {
  EnvironmentOptions options;
  options.plugin_directories = {EPHOST_PLUGINS, EPHOST_SCRIPTED};
  options.search_default_directories = false;
  auto created = Environment::create(options);
  EXPECT_THAT(created, IsOk());
  return std::move(created).value();
}

SessionOptions scripted(const std::string& claim = "fuse:*") {
  SessionOptions options;
  options.append_execution_provider("scripted", {{"claim", claim}});
  return options;
}

// Both providers claim nodes in every graph.
SessionOptions two_providers() {
  SessionOptions options = scripted("fuse:Mul,Neg");
  options.append_execution_provider("scripted_two", {{"claim", "fuse:Relu,Add,Sub"}});
  return options;
}

std::filesystem::path compile(const test::TempDirectory& folder, const SessionOptions& session,
                              bool embed) {
  ModelCompilationOptions options;
  options.input_model_path = write_model(folder / "model.onnx", nested_flow());
  options.output_model_path = folder / "model_ctx.onnx";
  options.ep_context_embed_mode = embed;
  const auto report = compile_model(scripted_environment(), session, options);
  EXPECT_THAT(report, IsOk());
  return options.output_model_path;
}

void expect_runs(const std::filesystem::path& model, const SessionOptions& options) {
  auto session = Session::create(scripted_environment(), model, options);
  ASSERT_THAT(session, IsOk());
  for (const bool condition : {true, false}) {
    const std::vector<float> x = {0.5F, -1.25F};
    const auto outputs = session->run(nested_flow_inputs(4, condition, x));
    ASSERT_THAT(outputs, IsOk());
    test::expect_nested_flow(*outputs, 4, condition, x);
  }
}

struct FoundNodes {
  std::set<std::string> partitions;
  std::set<std::string> graphs;
  size_t primaries = 0;
  size_t count = 0;
};

FoundNodes find_nodes(const std::filesystem::path& file) {
  const auto model = onnx_io::import_model(file);
  EXPECT_THAT(model, IsOk());
  FoundNodes found;
  for (const context::NodePlace& place : context::find_ep_context_nodes(model->graph)) {
    const auto node = context::read_ep_context_node(*place.graph, place.node);
    EXPECT_THAT(node, IsOk());
    found.partitions.insert(node->partition_name);
    found.graphs.insert(std::to_string(reinterpret_cast<uintptr_t>(place.graph)));
    if (node->main_context) ++found.primaries;
    ++found.count;
  }
  return found;
}

TEST(NestedContext, PartitionsInBodiesRunWithoutACache) {
  const test::TempDirectory folder;
  const auto model = write_model(folder / "model.onnx", nested_flow());
  expect_runs(model, scripted());
  expect_runs(model, two_providers());
}

TEST(NestedContext, WhatFailsInABodyGoesToTheNextProviderThere) {
  const test::TempDirectory folder;
  const auto model = write_model(folder / "model.onnx", nested_flow());
  SessionOptions options;
  options.append_execution_provider("scripted", {{"cannot_compile", "Sub"}});
  const auto session = Session::create(scripted_environment(), model, options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->fallbacks().size(), 1U);
  EXPECT_EQ(session->fallbacks()[0].provider, "ScriptedExecutionProvider");
  EXPECT_EQ(session->fallbacks()[0].nodes, 1U);
  expect_runs(model, options);
  // All graphs in one call.
  SessionOptions nothing;
  nothing.append_execution_provider("scripted", {{"fail", "compile"}});
  expect_runs(model, nothing);
}

TEST(NestedContext, WritesPartitionsIntoTheirBodiesAndLoadsThem) {
  for (const bool embed : {false, true}) {
    const test::TempDirectory folder;
    const auto context = compile(folder, scripted(), embed);
    std::filesystem::remove(folder / "model.onnx");
    const FoundNodes found = find_nodes(context);
    // Neg and Relu of the main graph, Identity of the body, one in each branch.
    EXPECT_EQ(found.count, 5U);
    EXPECT_EQ(found.partitions.size(), 5U);
    EXPECT_EQ(found.graphs.size(), 4U);
    EXPECT_EQ(found.primaries, 1U);
    EXPECT_EQ(std::filesystem::exists(folder / "model_scripted.bin"), !embed);
    expect_runs(context, scripted());
  }
}

TEST(NestedContext, KeepsProvidersApartInBodies) {
  for (const bool embed : {false, true}) {
    const test::TempDirectory folder;
    const auto context = compile(folder, two_providers(), embed);
    const FoundNodes found = find_nodes(context);
    EXPECT_EQ(found.primaries, 2U);
    EXPECT_EQ(found.partitions.size(), found.count);
    EXPECT_EQ(found.graphs.size(), 3U);
    expect_runs(context, two_providers());
  }
}

TEST(NestedContext, ASessionWritesPartitionsOfBodies) {
  const test::TempDirectory folder;
  const auto model = write_model(folder / "model.onnx", nested_flow());
  SessionOptions options = scripted();
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_node_name_prefix", "first_");
  expect_runs(model, options);
  for (const std::string& name : find_nodes(folder / "model_ctx.onnx").partitions) {
    EXPECT_THAT(name, StartsWith("first_"));
  }
  expect_runs(folder / "model_ctx.onnx", scripted());
}

TEST(NestedContext, CompilesNothingWhenPartitionsOfBodiesAreLoaded) {
  const test::TempDirectory folder;
  SessionOptions options = scripted();
  options.add_config_entry("session.disable_model_compile", "1");
  const auto context = compile(folder, scripted(), false);
  expect_runs(context, options);
  const auto refused = Session::create(scripted_environment(), folder / "model.onnx", options);
  EXPECT_EQ(refused.status().code(), StatusCode::kModelRequiresCompilation);
}

TEST(NestedContext, WritesTheSameBytesForTheSameBodies) {
  const test::TempDirectory one;
  const test::TempDirectory two;
  EXPECT_EQ(test::read(compile(one, two_providers(), true)),
            test::read(compile(two, two_providers(), true)));
}

TEST(NestedContext, NamesTheSourceOfAnUnclaimedNodeInABody) {
  const test::TempDirectory folder;
  const auto session =
      Session::create(scripted_environment(), compile(folder, scripted(), false), {});
  EXPECT_EQ(session.status().code(), StatusCode::kNotImplemented);
  EXPECT_THAT(session.status().message(), HasSubstr("ScriptedExecutionProvider"));
}

TEST(NestedContext, AProviderMayClaimAWholeControlFlowNode) {
  const test::TempDirectory folder;
  const auto prepared =
      prepare_inside(scripted_environment(), write_model(folder / "model.onnx", nested_flow()),
                     scripted("nodes:1"), session::Stage::kPartitioned);
  ASSERT_THAT(prepared, IsOk());
  EXPECT_EQ(prepared->main.partitioning.owner[1], 0U);
  EXPECT_TRUE(prepared->main.bodies.empty());
}

}  // namespace
}  // namespace ephost::nested_context_test
