// If, Loop and Scan in sessions, with models made by hand; the tests compute the expected results.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <thread>

#include "host/runtime/control_flow/control_flow.h"
#include "tests/integration/session/flow_models.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::control_flow_session_test {
namespace {

using test::bool_scalar;
using test::environment;
using test::float_type;
using test::floats_of;
using test::GraphBuilder;
using test::IsOk;
using test::kBoolScalar;
using test::kInt64Scalar;
using test::named_bool;
using test::named_floats;
using test::named_int64;
using test::nested_flow;
using test::nested_flow_inputs;
using test::with_type;
using test::write_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Session session_of(const test::TempDirectory& folder, graph::Graph graph,
                   const SessionOptions& options = {}) {
  auto session =
      Session::create(environment(), write_model(folder / "model.onnx", std::move(graph)), options);
  EXPECT_THAT(session, IsOk());
  return std::move(session).value();
}

std::vector<Value> run(Session& session, const std::vector<NamedValue>& inputs) {
  auto outputs = session.run(inputs);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? std::move(outputs).value() : std::vector<Value>(session.outputs().size());
}

TEST(ControlFlowSession, RunsNestedBodies) {
  const test::TempDirectory folder;
  Session session = session_of(folder, nested_flow());
  for (const int64_t count : {3, 0, 1, 17}) {
    for (const bool condition : {true, false}) {
      const std::vector<float> x = {0.5F, -1.25F};
      test::expect_nested_flow(run(session, nested_flow_inputs(count, condition, x)), count,
                               condition, x);
    }
  }
}

TEST(ControlFlowSession, CountsTheNodesOfProvidersAndOfTheHost) {
  const test::TempDirectory folder;
  const Session session = session_of(folder, nested_flow());
  const session::PreparedModel& prepared = inside(session).prepared();
  uint64_t control_flow = 0;
  uint64_t all = 0;
  for (const session::PreparedGraph* one : prepared.graphs()) {
    for (const graph::Node& node : prepared.graph_of(*one).nodes) {
      ++all;
      if (runtime::is_control_flow(node)) ++control_flow;
    }
  }
  EXPECT_GT(control_flow, 1U);
  EXPECT_EQ(session.host_node_count(), control_flow);
  ASSERT_EQ(session.providers().size(), 1U);
  EXPECT_EQ(session.providers().front().node_count, all - control_flow);
}

TEST(ControlFlowSession, RunsFromSeveralThreadsAtOnce) {
  const test::TempDirectory folder;
  Session session = session_of(folder, nested_flow());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&session, t] {
      const std::vector<float> x = {0.5F * static_cast<float>(t), -1.25F};
      for (int round = 0; round < 50; ++round) {
        const int64_t count = (t + round) % 5;
        test::expect_nested_flow(run(session, nested_flow_inputs(count, t % 2 == 0, x)), count,
                                 t % 2 == 0, x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Newton's method for square roots: iterates while the square is too far away.
TEST(ControlFlowSession, LoopsWhileAConditionHolds) {
  GraphBuilder main;
  main.input("a", float_type(graph::Shape{}));
  main.constant("limit", graph::testing::make_tensor<float>(ElementType::kFloat, {}, {1e-3F}));
  main.constant("half", graph::testing::make_tensor<float>(ElementType::kFloat, {}, {0.5F}));
  main.constant("go", bool_scalar(true));
  GraphBuilder body;
  body.input("i", kInt64Scalar).input("goes_on", kBoolScalar);
  body.input("r", float_type(graph::Shape{}));
  body.capture("a", main.value("a")).capture("limit", main.value("limit"));
  body.capture("half", main.value("half"));
  body.node("Div", {"a", "r"}, {"q"}).node("Add", {"r", "q"}, {"d"});
  body.node("Mul", {"d", "half"}, {"next"}).node("Mul", {"next", "next"}, {"square"});
  body.node("Sub", {"square", "a"}, {"error"}).node("Abs", {"error"}, {"distance"});
  body.node("Greater", {"distance", "limit"}, {"far"}).output("far").output("next").output("i");
  graph::Graph inner = with_type(body.build(), "far", kBoolScalar);
  inner = with_type(std::move(inner), "next", float_type(graph::Shape{}));
  main.node("Loop", {"", "go", "a"}, {"root", "turns"}).subgraph("body", std::move(inner));
  main.output("root").output("turns");
  graph::Graph graph = with_type(main.build(), "root", float_type(graph::Shape{}));
  graph = with_type(std::move(graph), "turns", graph::testing::tensor_type(ElementType::kInt64));
  const test::TempDirectory folder;
  Session session = session_of(folder, std::move(graph));
  for (const float a : {2.0F, 1.0F, 144.0F}) {
    float root = a;
    int64_t turns = 0;
    do {
      root = (root + a / root) * 0.5F;
      ++turns;
    } while (std::abs(root * root - a) > 1e-3F);
    const auto outputs = run(session, {named_floats("a", {}, {a})});
    EXPECT_FLOAT_EQ(outputs[0].elements<float>()[0], root);
    EXPECT_THAT(outputs[1].shape(), ElementsAre(turns));
    EXPECT_EQ(outputs[1].elements<int64_t>().back(), turns - 1);
  }
}

// The initial value has a static shape, which must not become that of the variable.
TEST(ControlFlowSession, LetsACarriedValueGrow) {
  GraphBuilder main;
  main.input("count", kInt64Scalar).input("x", float_type(graph::Shape{2}));
  GraphBuilder body;
  body.input("i", kInt64Scalar).input("goes_on", kBoolScalar);
  body.input("v", float_type());
  body.capture("x", main.value("x"));
  body.node("Concat", {"v", "x"}, {"w"}).attribute("axis", int64_t{0});
  body.node("Neg", {"w"}, {"n"}).output("goes_on").output("n");
  main.node("Loop", {"count", "", "x"}, {"y"})
      .subgraph("body", with_type(body.build(), "n", float_type()));
  main.node("Neg", {"y"}, {"z"}).output("z");
  const test::TempDirectory folder;
  Session session = session_of(folder, with_type(main.build(), "z", float_type()));
  for (const int64_t count : {2, 0, 3, 2}) {
    std::vector<float> v = {1, 2};
    for (int64_t i = 0; i < count; ++i) {
      v.insert(v.end(), {1, 2});
      for (float& element : v) element = -element;
    }
    for (float& element : v) element = -element;
    const auto outputs =
        run(session, {named_int64("count", count), named_floats("x", {2}, {1, 2})});
    EXPECT_EQ(floats_of(outputs[0]), v);
  }
}

// The branches give different shapes, and the nodes after them accept either.
TEST(ControlFlowSession, TakesShapesAsTheBranchGivesThem) {
  GraphBuilder main;
  main.input("condition", kBoolScalar).input("x", float_type(graph::Shape{2}));
  GraphBuilder then_branch;
  then_branch.capture("x", main.value("x"));
  then_branch.node("Concat", {"x", "x"}, {"a"}).attribute("axis", int64_t{0}).output("a");
  GraphBuilder else_branch;
  else_branch.capture("x", main.value("x")).output("x");
  main.node("If", {"condition"}, {"y"})
      .subgraph("then_branch", with_type(then_branch.build(), "a", float_type(graph::Shape{4})))
      .subgraph("else_branch", with_type(else_branch.build(), "x", float_type(graph::Shape{2})));
  main.node("Relu", {"y"}, {"z"}).output("z").output("y");
  graph::Graph graph = with_type(main.build(), "z", float_type());
  const test::TempDirectory folder;
  Session session = session_of(folder, with_type(std::move(graph), "y", float_type()));
  for (int round = 0; round < 2; ++round) {
    auto outputs = run(session, {named_bool("condition", true), named_floats("x", {2}, {-1, 2})});
    EXPECT_THAT(floats_of(outputs[0]), ElementsAre(0, 2, 0, 2));
    EXPECT_THAT(floats_of(outputs[1]), ElementsAre(-1, 2, -1, 2));
    outputs = run(session, {named_bool("condition", false), named_floats("x", {2}, {-1, 2})});
    EXPECT_THAT(floats_of(outputs[0]), ElementsAre(0, 2));
    EXPECT_THAT(floats_of(outputs[1]), ElementsAre(-1, 2));
  }
}

TEST(ControlFlowSession, FoldsConstantsInBodiesAndKeepsWhatOnlyTheyRead) {
  GraphBuilder main;
  main.input("condition", kBoolScalar).input("x", float_type(graph::Shape{1}));
  main.constant("two", graph::testing::float_tensor({2}));
  main.node("Neg", {"x"}, {"only_read_inside"}).node("Neg", {"two"}, {"minus_two"});
  main.node("Abs", {"x"}, {"dead"});
  GraphBuilder then_branch;
  then_branch.capture("n", main.value("only_read_inside"));
  then_branch.capture("minus_two", main.value("minus_two"));
  then_branch.constant("three", graph::testing::float_tensor({3}));
  then_branch.node("Mul", {"minus_two", "three"}, {"minus_six"});
  then_branch.node("Abs", {"n"}, {"also_dead"});
  then_branch.node("Mul", {"n", "minus_six"}, {"a"}).output("a");
  GraphBuilder else_branch;
  else_branch.capture("minus_two", main.value("minus_two")).output("minus_two");
  main.node("If", {"condition"}, {"y"})
      .subgraph("then_branch", with_type(then_branch.build(), "a", float_type(graph::Shape{1})))
      .subgraph("else_branch",
                with_type(else_branch.build(), "minus_two", float_type(graph::Shape{1})));
  const test::TempDirectory folder;
  Session session =
      session_of(folder, with_type(main.output("y").build(), "y", float_type(graph::Shape{1})));
  const graph::Graph& graph = inside(session).prepared().model.graph;
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].subgraph("then_branch")->nodes.size(), 1U);
  const auto y = [&](bool condition) {
    return floats_of(
        run(session, {named_bool("condition", condition), named_floats("x", {1}, {5})})[0]);
  };
  EXPECT_THAT(y(true), ElementsAre(30));
  EXPECT_THAT(y(false), ElementsAre(-2));
}

TEST(ControlFlowSession, EndsAnEndlessLoopWhenTheCallerCancels) {
  const test::TempDirectory folder;
  Session session = session_of(folder, nested_flow());
  std::atomic<bool> cancelled = false;
  RunOptions options;
  options.cancelled = &cancelled;
  const auto inputs = nested_flow_inputs(std::numeric_limits<int64_t>::max(), true, {0, 0});
  std::thread canceller([&] { cancelled = true; });
  const auto outputs = session.run(inputs, {}, options);
  canceller.join();
  EXPECT_EQ(outputs.status().code(), StatusCode::kCancelled);
  EXPECT_THAT(outputs.status().message(), HasSubstr("the run was cancelled"));
  test::expect_nested_flow(run(session, nested_flow_inputs(2, true, {1, -2})), 2, true, {1, -2});
}

TEST(ControlFlowSession, EndsAnEndlessLoopAtTheDeadline) {
  const test::TempDirectory folder;
  Session session = session_of(folder, nested_flow());
  const auto inputs = nested_flow_inputs(std::numeric_limits<int64_t>::max(), true, {0, 0});
  const auto outputs =
      session.run(inputs, {}, RunOptions().set_timeout(std::chrono::milliseconds(100)));
  EXPECT_EQ(outputs.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(outputs.status().message(), HasSubstr("the deadline of the run passed"));
}

TEST(ControlFlowSession, NamesTheGraphWhoseNodeNobodyTakes) {
  graph::Graph graph = nested_flow();
  auto& body = *std::get<std::unique_ptr<graph::Graph>>(graph.nodes[1].attributes[0].value);
  body.nodes[1].op_type = "Strange";
  body.nodes[1].domain = "example.test";
  const test::TempDirectory folder;
  const auto session =
      Session::create(environment(), write_model(folder / "model.onnx", std::move(graph)), {});
  EXPECT_EQ(session.status().code(), StatusCode::kNotImplemented);
  EXPECT_THAT(session.status().message(), HasSubstr("Strange"));
  EXPECT_THAT(session.status().message(), HasSubstr("\"loop/body\""));
}

// Builds with assertions check the memory plan of each graph; this looks at what was planned.
TEST(ControlFlowSession, PlansEveryBody) {
  const test::TempDirectory folder;
  const auto prepared =
      prepare_inside(environment(), write_model(folder / "model.onnx", nested_flow()), {},
                     session::Stage::kPlanned);
  ASSERT_THAT(prepared, IsOk());
  std::vector<std::string> paths;
  for (const session::PreparedGraph* graph : prepared->graphs()) {
    paths.push_back(graph->path);
    EXPECT_EQ(graph->allocation.values.size(), prepared->graph_of(*graph).values.size());
    EXPECT_EQ(graph->computations.size(), graph->execution.steps.size());
  }
  EXPECT_THAT(paths, ElementsAre("", "loop/body", "loop/body/choice/then_branch",
                                 "loop/body/choice/else_branch"));
  EXPECT_EQ(prepared->main.partitioning.providers.back(), "host");
}

}  // namespace
}  // namespace ephost::control_flow_session_test
