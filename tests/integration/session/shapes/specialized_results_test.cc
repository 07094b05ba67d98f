// The dnnl provider on models with open extents: it takes part once a shape is specialised, and the
// results are those of the CPU provider and of the model with fixed extents.
#include <gmock/gmock.h>

#include <random>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::specialized_results_test {
namespace {

using graph::symbolic_dim;
using test::float_type;
using test::GraphBuilder;
using test::IsOk;

graph::Tensor weights(graph::Shape shape) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> elements(*graph::element_count(shape));
  for (float& element : elements) element = distribution(random);
  graph::Tensor tensor = graph::testing::float_tensor(elements);
  tensor.shape = std::move(shape);
  return tensor;
}

graph::Model finish(GraphBuilder& builder, std::vector<std::string> symbols, graph::Shape output) {
  graph::Model model = test::model_of(builder.build());
  model.symbols = std::move(symbols);
  model.graph.values[model.graph.find_value("y")].type = float_type(std::move(output));
  return model;
}

// A convolution of images in an open batch, flattened by a chain that starts with Shape.
graph::Model images() {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{symbolic_dim(0), 3, 8, 8}))
      .constant("w", weights({4, 3, 3, 3}))
      .constant("m", weights({144, 5}))
      .constant("zero", graph::testing::int64_tensor({0}))
      .constant("rest", graph::testing::int64_tensor({-1}))
      .node("Conv", {"x", "w"}, {"c"})
      .node("Relu", {"c"}, {"r"})
      .node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "zero"}, {"n"})
      .node("Concat", {"n", "rest"}, {"t"})
      .attribute("axis", int64_t{0})
      .node("Reshape", {"r", "t"}, {"f"})
      .node("MatMul", {"f", "m"}, {"y"})
      .output("y");
  return finish(builder, {"batch"}, {symbolic_dim(0), 5});
}

// Attention over an open sequence, in an open batch: matrix products whose sizes are all open.
graph::Model attention() {
  GraphBuilder builder;
  builder.input("q", float_type(graph::Shape{symbolic_dim(0), symbolic_dim(1), 8}))
      .input("k", float_type(graph::Shape{symbolic_dim(0), 8, symbolic_dim(1)}))
      .constant("w", weights({8, 6}))
      .node("MatMul", {"q", "k"}, {"scores"})
      .node("Softmax", {"scores"}, {"p"})
      .attribute("axis", int64_t{-1})
      .node("MatMul", {"p", "q"}, {"mixed"})
      .node("MatMul", {"mixed", "w"}, {"y"})
      .output("y");
  return finish(builder, {"batch", "seq"}, {symbolic_dim(0), symbolic_dim(1), 6});
}

// Dimensions without names.
graph::Model nameless() {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{graph::kUnknownDim, 12}))
      .constant("w", weights({12, 7}))
      .constant("order", graph::testing::int64_tensor({3, 1, 2}))
      .node("MatMul", {"x", "w"}, {"a"})
      .node("Gather", {"a", "order"}, {"g"})
      .attribute("axis", int64_t{1})
      .node("Relu", {"g"}, {"y"})
      .output("y");
  return finish(builder, {}, {graph::kUnknownDim, 3});
}

struct OpenCase {
  std::string name;
  graph::Model (*model)();
  std::vector<std::string> dimensions;
};

class SpecializedResults : public ::testing::TestWithParam<OpenCase> {
 protected:
  static std::vector<NamedValue> inputs_of(const Session& session,
                                           const std::vector<int64_t>& extents) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> distribution(-1, 1);
    std::vector<NamedValue> inputs;
    for (const ValueDescription& wanted : session.inputs()) {
      std::vector<int64_t> shape = wanted.shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0) shape[d] = wanted.dim_names[d] == "seq" ? extents[1] : extents[0];
      }
      Value value = *Value::allocate(wanted.element_type, shape);
      for (float& element : value.mutable_elements<float>()) element = distribution(random);
      inputs.push_back({wanted.name, std::move(value)});
    }
    return inputs;
  }

  test::TempDirectory folder_;
};

TEST_P(SpecializedResults, AreThoseOfTheModelAsItIsAndOfItsStaticTwin) {
  const std::filesystem::path file = test::save(folder_, GetParam().model());
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("session.shapes.runs_before", "0");
  options.add_config_entry("session.disable_ep_fallback", "1");
  auto session = Session::create(test::environment(), file, options);
  auto plain = Session::create(test::environment(), file);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(plain, IsOk());
  const std::vector<std::vector<int64_t>> shapes = {{1, 4}, {3, 2}, {2, 9}, {5, 1}, {1, 4}, {8, 3}};
  for (const std::vector<int64_t>& extents : shapes) {
    const std::vector<NamedValue> inputs = inputs_of(*session, extents);
    const auto outputs = session->run(inputs);
    ASSERT_THAT(outputs, IsOk());
    const auto expected = plain->run(inputs);
    ASSERT_THAT(expected, IsOk());
    test::expect_close(*outputs, *expected);

    SessionOptions fixed = test::with_dnnl();
    for (const NamedValue& input : inputs) {
      std::string sizes;
      for (const int64_t extent : input.value.shape()) {
        sizes += (sizes.empty() ? "" : ",") + std::to_string(extent);
      }
      fixed.add_config_entry("session.free_dimension_override_by_input." + input.name, sizes);
    }
    auto twin = Session::create(test::environment(), file, fixed);
    ASSERT_THAT(twin, IsOk());
    EXPECT_TRUE(twin->specializations().empty());
    const auto same = twin->run(inputs);
    ASSERT_THAT(same, IsOk());
    for (size_t i = 0; i < same->size(); ++i) {
      EXPECT_TRUE(
          std::ranges::equal((*same)[i].elements<float>(), (*outputs)[i].elements<float>()));
    }
  }
  const std::vector<Specialization> all = session->specializations();
  ASSERT_EQ(all.size(), 4U);  // as many as are kept
  for (const Specialization& one : all) {
    EXPECT_EQ(one.state, SpecializationState::kReady) << one.reason;
    std::vector<std::string> names;
    for (const FixedExtent& extent : one.extents) names.push_back(extent.name);
    EXPECT_EQ(names, GetParam().dimensions);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SpecializedResults,
                         ::testing::Values(OpenCase{"images", &images, {"batch"}},
                                           OpenCase{"attention", &attention, {"batch", "seq"}},
                                           OpenCase{"nameless", &nameless, {"x[0]"}}),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace ephost::specialized_results_test
