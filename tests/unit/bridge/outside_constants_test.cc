#include "host/bridge/outside_constants.h"

#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::outside_constants_test {
namespace {

graph::Tensor words() {
  graph::Tensor tensor;
  tensor.type = ElementType::kString;
  tensor.shape = {2};
  tensor.strings = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"one", "a longer text that no small buffer holds"});
  return tensor;
}

TEST(OutsideConstants, AreListedInTheirOrderWithoutCopyingData) {
  const graph::Tensor weights = graph::testing::float_tensor({1, 2, 3});
  const OutsideConstants constants({"w", "words"}, {weights, words()});
  ASSERT_EQ(constants.list().size(), 2U);
  EXPECT_EQ(eph::view(constants.list()[0].name), "w");
  const eph_value& value = *constants.list()[0].value;
  EXPECT_EQ(value.data, weights.data.bytes.data());
  EXPECT_EQ(eph::elements<float>(value)[2], 3);
  EXPECT_EQ(eph::shape_of(value).to_vector(), (std::vector<int64_t>{3}));
  const auto texts = eph::elements<eph_string>(*constants.list()[1].value);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(eph::view(texts[1]), "a longer text that no small buffer holds");
}

TEST(OutsideConstants, KeepTheirDataAlive) {
  auto weights = std::make_unique<graph::Tensor>(graph::testing::float_tensor({4, 5}));
  const OutsideConstants constants({"w"}, {*weights});
  weights.reset();
  EXPECT_EQ(eph::elements<float>(*constants.list()[0].value)[1], 5);
}

}  // namespace
}  // namespace ephost::bridge::outside_constants_test
