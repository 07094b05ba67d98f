// Initializers that are also inputs of the model: a run may override them.
#include <gmock/gmock.h>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::overridable_initializers_test {
namespace {

using test::float_type;
using test::floats_of;
using test::GraphBuilder;
using test::IsOk;
using test::named_bool;
using test::named_floats;
using test::with_type;
using test::write_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y = relu(x + -w) with w = [1, 2] by default. If w were a constant, -w would be folded.
graph::Graph overridable(const graph::Shape& declared = {2}) {
  GraphBuilder builder;
  builder.constant("w", graph::testing::float_tensor({1, 2}));
  builder.input("x", float_type(declared)).input("w", float_type(declared));
  builder.node("Neg", {"w"}, {"n"}).node("Add", {"x", "n"}, {"a"}).node("Relu", {"a"}, {"y"});
  builder.output("y");
  return with_type(builder.build(), "y", float_type(declared));
}

// y = condition ? x * -w : x - w, where only the branches read w.
graph::Graph captured() {
  const graph::ValueType type = float_type(graph::Shape{2});
  GraphBuilder main;
  main.constant("w", graph::testing::float_tensor({1, 2}));
  main.input("condition", test::kBoolScalar).input("x", type).input("w", type);
  const auto branch = [&](const char* op, bool negates) {
    GraphBuilder body;
    body.capture("x", main.value("x")).capture("w", main.value("w"));
    if (negates) body.node("Neg", {"w"}, {"n"});
    body.node(op, {"x", negates ? "n" : "w"}, {"r"}).output("r");
    return with_type(body.build(), "r", type);
  };
  main.node("If", {"condition"}, {"y"})
      .subgraph("then_branch", branch("Mul", true))
      .subgraph("else_branch", branch("Sub", false));
  main.output("y");
  return with_type(main.build(), "y", type);
}

class OverridableInitializers : public ::testing::Test {
 protected:
  Session session_of(graph::Graph graph, const SessionOptions& options = {}) {
    auto session = Session::create(environment_,
                                   write_model(folder_ / "model.onnx", std::move(graph)), options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }

  static std::vector<float> run(Session& session, const std::vector<NamedValue>& inputs) {
    const auto outputs = session.run(inputs);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? floats_of(outputs->front()) : std::vector<float>();
  }

  // Alternates between the default and other values, in one session.
  static void expect_override(Session& session) {
    const NamedValue x = named_floats("x", {2}, {10, 20});
    for (int round = 0; round < 2; ++round) {
      EXPECT_THAT(run(session, {x}), ElementsAre(9, 18));
      EXPECT_THAT(run(session, {x, named_floats("w", {2}, {-5, 30})}), ElementsAre(15, 0));
    }
  }

  test::TempDirectory folder_;
  Environment environment_ = test::scripted_environment();
};

TEST_F(OverridableInitializers, AreListedWithTypeAndShape) {
  const Session session = session_of(overridable());
  ASSERT_EQ(session.overridable_initializers().size(), 1U);
  const ValueDescription& w = session.overridable_initializers().front();
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.type, "float[2]");
  EXPECT_THAT(w.shape, ElementsAre(2));
  EXPECT_TRUE(w.has_default);
  EXPECT_EQ(session.inputs().size(), 2U);
}

TEST_F(OverridableInitializers, AreNotThoseThatTheModelKeepsToItself) {
  GraphBuilder builder;
  builder.constant("w", graph::testing::float_tensor({1, 2})).input("x", float_type({{2}}));
  builder.node("Add", {"x", "w"}, {"y"}).output("y");
  const Session session = session_of(with_type(builder.build(), "y", float_type({{2}})));
  EXPECT_THAT(session.overridable_initializers(), IsEmpty());
}

TEST_F(OverridableInitializers, HaveTheValueOfTheRunOrElseTheModels) {
  Session cpu = session_of(overridable());
  expect_override(cpu);
  Session scripted = session_of(overridable(), test::scripted());
  expect_override(scripted);
}

TEST_F(OverridableInitializers, AreBoundLikeOtherInputs) {
  Session session = session_of(overridable());
  auto binding = session.create_binding();
  ASSERT_THAT(binding->bind_input("x", named_floats("x", {2}, {10, 20}).value), IsOk());
  ASSERT_THAT(session.run(*binding), IsOk());
  EXPECT_THAT(floats_of(binding->outputs()[0]), ElementsAre(9, 18));
  ASSERT_THAT(binding->bind_input("w", named_floats("w", {2}, {0, 1}).value), IsOk());
  ASSERT_THAT(session.run(*binding), IsOk());
  EXPECT_THAT(floats_of(binding->outputs()[0]), ElementsAre(10, 19));
}

TEST_F(OverridableInitializers, AreReadByBodies) {
  for (const SessionOptions& options : {SessionOptions(), test::scripted()}) {
    Session session = session_of(captured(), options);
    const NamedValue x = named_floats("x", {2}, {10, 20});
    const NamedValue w = named_floats("w", {2}, {3, -1});
    for (int round = 0; round < 2; ++round) {
      EXPECT_THAT(run(session, {named_bool("condition", true), x}), ElementsAre(-10, -40));
      EXPECT_THAT(run(session, {named_bool("condition", true), x, w}), ElementsAre(-30, 20));
      EXPECT_THAT(run(session, {named_bool("condition", false), x}), ElementsAre(9, 18));
      EXPECT_THAT(run(session, {named_bool("condition", false), x, w}), ElementsAre(7, 21));
    }
  }
}

TEST_F(OverridableInitializers, StayOverridableInContextModels) {
  const auto model = write_model(folder_ / "model.onnx", overridable());
  const auto compiled = compile_model(environment_, test::scripted(),
                                      {.input_model_path = model,
                                       .output_model_path = folder_ / "ctx.onnx",
                                       .error_if_no_nodes_compiled = true});
  ASSERT_THAT(compiled, IsOk());
  auto session = Session::create(environment_, folder_ / "ctx.onnx", test::scripted());
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->overridable_initializers().size(), 1U);
  expect_override(*session);
}

TEST_F(OverridableInitializers, StayOverridableInTheCacheStore) {
  SessionOptions options = test::scripted();
  options.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  for (const auto outcome : {CacheUse::Outcome::kMiss, CacheUse::Outcome::kHit}) {
    Session session = session_of(overridable(), options);
    EXPECT_EQ(session.cache_use().outcome, outcome) << session.cache_use().reason;
    EXPECT_EQ(session.overridable_initializers().size(), 1U);
    expect_override(session);
  }
}

TEST_F(OverridableInitializers, AreRefusedWithAnotherShape) {
  Session session = session_of(overridable());
  const std::vector<NamedValue> inputs = {named_floats("x", {2}, {1, 1}),
                                          named_floats("w", {3}, {1, 1, 1})};
  const Status refused = session.run(inputs).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("input \"w\" got float[3], the model wants float[2]"));
}

// The default has an extent of 2, which must be that of x then.
TEST_F(OverridableInitializers, AgreeWithOtherInputsAboutNamedExtents) {
  graph::Model model;
  model.graph = overridable({graph::symbolic_dim(0)});
  model.graph.name = "named";
  model.symbols = {"n"};
  model.ir_version = 8;
  model.opset_imports = {{"", 16}};
  ASSERT_THAT(onnx_io::export_model(model)->write(folder_ / "model.onnx"), IsOk());
  auto session = Session::create(environment_, folder_ / "model.onnx");
  ASSERT_THAT(session, IsOk());
  const NamedValue x = named_floats("x", {3}, {10, 20, 30});
  EXPECT_THAT(run(*session, {x, named_floats("w", {3}, {1, 1, 1})}), ElementsAre(9, 19, 29));
  const Status refused = session->run(std::vector<NamedValue>{x}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("\"w\" has extent 2 for \"n\", which is 3"));
}

}  // namespace
}  // namespace ephost::overridable_initializers_test
