// Calls of functions that a provider claims and then fails to compile.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/function_bytes.h"
#include "tests/support/status_matchers.h"

namespace ephost::function_fallback_test {
namespace {

using graph::testing::GraphBuilder;
using test::both_scripted;
using test::IsOk;
using test::scripted;
using test::scripted_environment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDomain = "example.local";

// y = -(x + x)
graph::Function negated_twice() {
  return test::function_of_x(kDomain, "NegatedTwice",
                             {{"Add", {"x", "x"}, {"t"}}, {"Neg", {"t"}, {"y"}}});
}
graph::Function negated() {
  return test::function_of_x(kDomain, "Negated", {{"Neg", {"x"}, {"y"}}});
}

//   x --Relu--> a --call--> b --Neg--> y
graph::Model model_with_call(const graph::Function& function) {
  graph::Graph graph = GraphBuilder()
                           .input("x", test::row_type(4))
                           .node("Relu", {"x"}, {"a"})
                           .node(function.name, {"a"}, {"b"})
                           .node("Neg", {"b"}, {"y"})
                           .output("y")
                           .build();
  graph.nodes[1].domain = kDomain;
  graph::Model model = test::model_of(std::move(graph));
  model.opset_imports[kDomain] = 1;
  model.functions = {function};
  return model;
}

class FunctionFallback : public ::testing::Test {
 protected:
  void save(const graph::Function& function) {
    model_ = test::save(folder_, model_with_call(function));
    expected_ = test::expected_outputs(model_);
  }
  Result<session::PreparedModel> prepare(const SessionOptions& options) {
    return prepare_inside(scripted_environment(), model_, options, session::Stage::kCompiled);
  }
  // Each node with the short name of its owner.
  std::vector<std::string> owners(const SessionOptions& options) {
    const auto prepared = prepare(options);
    EXPECT_THAT(prepared, IsOk());
    std::vector<std::string> owners;
    if (!prepared.ok()) return owners;
    const std::vector<uint32_t>& owner = prepared->main.partitioning.owner;
    for (graph::NodeId id = 0; id < owner.size(); ++id) {
      owners.push_back(prepared->model.graph.nodes[id].op_type + " " +
                       prepared->providers[owner[id]]->short_name());
    }
    return owners;
  }
  void expect_runs(const SessionOptions& options) {
    test::expect_runs(Session::create(scripted_environment(), model_, options), expected_);
  }

  test::TempDirectory folder_;
  std::filesystem::path model_;
  std::vector<Value> expected_;
};

TEST_F(FunctionFallback, TheBodyGoesToTheNextProviders) {
  save(negated_twice());
  const SessionOptions options = scripted({{"claim", "nodes:1"}, {"fail", "compile"}});
  EXPECT_THAT(owners(options), ElementsAre("Relu cpu", "Add cpu", "Neg cpu", "Neg cpu"));
  const auto prepared = prepare(options);
  ASSERT_THAT(prepared, IsOk());
  ASSERT_EQ(prepared->inlined.size(), 1U);
  EXPECT_EQ(prepared->inlined[0].call, "NegatedTwice node \"b\"");
  EXPECT_EQ(prepared->inlined[0].nodes, 2U);
  EXPECT_TRUE(prepared->model.functions.empty());
  expect_runs(options);
}

TEST_F(FunctionFallback, AProviderBehindItMayTakeTheBody) {
  save(negated_twice());
  const SessionOptions options =
      both_scripted({{"claim", "nodes:1"}, {"fail", "compile"}}, {{"claim", "fuse:Add,Neg"}});
  EXPECT_THAT(owners(options),
              ElementsAre("Relu cpu", "Add scripted_two", "Neg scripted_two", "Neg scripted_two"));
  expect_runs(options);
}

// The body's nodes are then 1 and 2, so a claim on 2 would mean another node.
TEST_F(FunctionFallback, WhatItFailedAtHoldsForTheBody) {
  save(negated_twice());
  SessionOptions options =
      scripted({{"claim", "nodes:0,1,2,3"}, {"cannot_compile", "NegatedTwice"}});
  EXPECT_THAT(owners(options), ElementsAre("Relu scripted", "Add cpu", "Neg cpu", "Neg scripted"));
  expect_runs(options);
}

TEST_F(FunctionFallback, WhatWasCompiledStaysWithItsNode) {
  save(negated_twice());
  SessionOptions options = scripted({{"claim", "nodes:0,1"}, {"cannot_compile", "NegatedTwice"}});
  size_t compiled = 0;
  options.set_progress_func([&](std::string_view provider, double, std::string_view) {
    if (provider != "ephost") ++compiled;
  });
  EXPECT_THAT(owners(options), ElementsAre("Relu scripted", "Add cpu", "Neg cpu", "Neg cpu"));
  // Both together, then each alone; Relu is not compiled again after the second partitioning.
  EXPECT_EQ(compiled, 4U);
  expect_runs(options);
}

TEST_F(FunctionFallback, ABodyOfOneNodeIsNotTakenForTheCall) {
  save(negated());
  const SessionOptions options =
      scripted({{"claim", "nodes:0,1,2"}, {"cannot_compile", "Negated"}});
  EXPECT_THAT(owners(options), ElementsAre("Relu scripted", "Neg cpu", "Neg scripted"));
  expect_runs(options);
}

TEST_F(FunctionFallback, AFusedClaimThatHoldsTheCallFallsBackAsAWhole) {
  save(negated_twice());
  const SessionOptions options =
      both_scripted({{"claim", "nodes:0+1"}, {"cannot_compile", "NegatedTwice"}});
  EXPECT_THAT(owners(options), ElementsAre("Relu scripted_two", "Add scripted_two",
                                           "Neg scripted_two", "Neg scripted_two"));
  const auto session = Session::create(scripted_environment(), model_, options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->fallbacks().size(), 1U);
  EXPECT_EQ(session->fallbacks()[0].provider, "ScriptedExecutionProvider");
  EXPECT_THAT(session->fallbacks()[0].reason.message(),
              HasSubstr("the script cannot compile NegatedTwice"));
  expect_runs(options);
}

TEST_F(FunctionFallback, TheStrictEntryMakesItAnError) {
  save(negated_twice());
  SessionOptions options = scripted({{"claim", "nodes:1"}, {"fail", "compile"}});
  options.add_config_entry("session.disable_ep_fallback", "1");
  const auto session = Session::create(scripted_environment(), model_, options);
  EXPECT_EQ(session.status().code(), StatusCode::kEpFail);
}

}  // namespace
}  // namespace ephost::function_fallback_test
