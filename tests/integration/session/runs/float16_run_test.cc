// Float16 and BFloat16 convert as the CPU provider does.
#include <ephost/float16.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::float16_run_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;

graph::ValueType list_of(ElementType type) {
  return graph::testing::tensor_type(type, graph::Shape{graph::kUnknownDim});
}

// short -> long, float -> short
graph::Model casts(ElementType type) {
  return test::model_of(GraphBuilder()
                            .input("short", list_of(type))
                            .input("float", list_of(ElementType::kFloat))
                            .node("Cast", {"short"}, {"widened"})
                            .attribute("to", int64_t{1})
                            .node("Cast", {"float"}, {"narrowed"})
                            .attribute("to", static_cast<int64_t>(type))
                            .output("widened")
                            .output("narrowed")
                            .build());
}

template <class Number>
class Float16Run : public ::testing::Test {};
using Numbers = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Float16Run, Numbers);

TYPED_TEST(Float16Run, ConvertsAsTheCpuProviderDoes) {
  const test::TempDirectory folder;
  const auto path = test::save(folder, casts(element_type_of<TypeParam>()));
  auto session = Session::create(test::environment(), path);
  ASSERT_THAT(session, IsOk());
  std::vector<TypeParam> all;
  std::vector<float> floats;
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    all.push_back(TypeParam::from_bits(static_cast<uint16_t>(i)));
    // For each upper half of a float: the ends, the middle of its lower bits, and what is beside
    // them; for the bits that float16 has more, the same again.
    for (const uint32_t low : {0x0U, 0x1U, 0xfffU, 0x1000U, 0x1001U, 0x2fffU, 0x3000U, 0x3001U,
                               0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      floats.push_back(std::bit_cast<float>(i << 16 | low));
    }
  }
  const auto extent = [](const auto& list) {
    return std::vector<int64_t>{static_cast<int64_t>(list.size())};
  };
  const auto outputs = session->run({{{"short", *Value::of<TypeParam>(extent(all), all)},
                                      {"float", *Value::of<float>(extent(floats), floats)}}});
  ASSERT_THAT(outputs, IsOk());
  const std::span<const float> widened = (*outputs)[0].template elements<float>();
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(all[i].to_float()), std::bit_cast<uint32_t>(widened[i])) << i;
  }
  const auto narrowed = (*outputs)[1].template elements<TypeParam>();
  ASSERT_EQ(narrowed.size(), floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(TypeParam(floats[i]).to_bits(), narrowed[i].to_bits())
        << std::bit_cast<uint32_t>(floats[i]);
  }
}

}  // namespace
}  // namespace ephost::float16_run_test
