#include "host/session/shapes/input_extents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::session::input_extents_test {
namespace {

using graph::symbolic_dim;
using graph::testing::GraphBuilder;
using ::testing::ElementsAre;

// a[batch,?,3], b[seq,batch]
graph::Model two_inputs() {
  graph::Model model;
  model.symbols = {"batch", "seq"};
  const auto type = [](graph::Shape shape) {
    return graph::testing::tensor_type(ElementType::kFloat, std::move(shape));
  };
  model.graph = GraphBuilder()
                    .input("a", type({symbolic_dim(0), graph::kUnknownDim, 3}))
                    .input("b", type({symbolic_dim(1), symbolic_dim(0)}))
                    .node("Op", {"a", "b"}, {"y"})
                    .output("y")
                    .build();
  return model;
}

runtime::Value floats(std::vector<int64_t> shape) {
  return *runtime::Value::allocate(ElementType::kFloat, std::move(shape));
}

bool read(const InputExtents& extents, const runtime::Value& a, const runtime::Value& b,
          std::vector<int64_t>& out) {
  out.assign(extents.size(), 0);
  const runtime::Value* const inputs[] = {&a, &b};
  return extents.read(inputs, out);
}

TEST(InputExtents, AreAllThatAreOpenIfAllAreWished) {
  const InputExtents extents(two_inputs(), {.all = true});
  EXPECT_THAT(extents.names(), ElementsAre("batch", "a[1]", "seq"));
  std::vector<int64_t> found;
  ASSERT_TRUE(read(extents, floats({2, 5, 3}), floats({7, 2}), found));
  EXPECT_THAT(found, ElementsAre(2, 5, 7));
  EXPECT_EQ(extents.describe(found), "batch=2, a[1]=5, seq=7");
  onnx_io::DimensionOverrides overrides;
  extents.add_overrides(found, overrides);
  EXPECT_THAT(overrides.by_input["a"], ElementsAre(2, 5, -1));
  EXPECT_THAT(overrides.by_input["b"], ElementsAre(7, 2));
}

TEST(InputExtents, AreThoseOfTheWishedSymbols) {
  const InputExtents extents(two_inputs(), {.symbols = {1}});
  EXPECT_THAT(extents.names(), ElementsAre("seq"));
  std::vector<int64_t> found;
  ASSERT_TRUE(read(extents, floats({2, 5, 3}), floats({7, 9}), found));
  EXPECT_THAT(found, ElementsAre(7));
  EXPECT_EQ(InputExtents(two_inputs(), {}).size(), 0U);
}

TEST(InputExtents, AreNotReadOfInputsThatDoNotFit) {
  const InputExtents extents(two_inputs(), {.all = true});
  std::vector<int64_t> found;
  EXPECT_FALSE(read(extents, floats({2, 5, 3}), floats({7, 4}), found)) << "two batches";
  EXPECT_FALSE(read(extents, floats({2, 5}), floats({7, 2}), found)) << "rank";
  EXPECT_FALSE(read(extents, floats({2, 0, 3}), floats({7, 2}), found)) << "empty";
  EXPECT_FALSE(read(extents, *runtime::Value::allocate(ElementType::kInt64, {2, 5, 3}),
                    floats({7, 2}), found))
      << "type";
  const runtime::Value b = floats({7, 2});
  const runtime::Value* const missing[] = {nullptr, &b};
  EXPECT_FALSE(extents.read(missing, found));
}

}  // namespace
}  // namespace ephost::session::input_extents_test
