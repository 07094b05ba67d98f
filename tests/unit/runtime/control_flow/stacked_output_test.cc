#include "host/runtime/control_flow/stacked_output.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/control_flow/control_machine.h"

namespace ephost::runtime::stacked_output_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

HeldValue held_floats(std::vector<float>& elements) {
  eph_value value = {};
  const std::vector<int64_t> shape = {static_cast<int64_t>(elements.size())};
  value.data = elements.data();
  value.byte_size = elements.size() * sizeof(float);
  value.element_type = EPH_ELEMENT_FLOAT;
  value.kind = EPH_KIND_TENSOR;
  value.shape = shape.data();
  value.rank = 1;
  return hold_borrowed(value);
}

TEST(GrowingStack, RefusesToGrowBeyondItsLimit) {
  GrowingStack stack(20);
  std::vector<float> pair = {1, 2};
  const HeldValue element = held_floats(pair);
  EXPECT_THAT(stack.append(*element), IsOk());
  EXPECT_THAT(stack.append(*element), IsOk());
  const Status status = stack.append(*element);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("out of memory: a scan output of 3 iterations cannot "
                                          "grow beyond 16 bytes"));
}

TEST(GrowingStack, LetsTheNextElementBeWrittenInPlace) {
  GrowingStack stack;
  std::vector<float> pair = {1, 2};
  EXPECT_FALSE(stack.place().value().has_value());
  EXPECT_THAT(stack.append(*held_floats(pair)), IsOk());
  Value place = *stack.place();
  ASSERT_EQ(place.shape(), (std::vector<int64_t>{2}));
  std::vector<float> other = {3};
  EXPECT_EQ(stack.append(*held_floats(other)).code(), StatusCode::kInvalidArgument);
}

// Packed elements that do not fill whole bytes cannot be stacked.
TEST(ElementForm, RefusesElementsThatEndInsideAByte) {
  ElementForm form;
  EXPECT_EQ(form.set(ElementType::kInt4, std::vector<int64_t>{3}).code(),
            StatusCode::kNotImplemented);
  EXPECT_THAT(form.set(ElementType::kInt4, std::vector<int64_t>{4}), IsOk());
  EXPECT_EQ(form.bytes, 2U);
  EXPECT_EQ(form.set(ElementType::kUint2, std::vector<int64_t>{2, 3}).code(),
            StatusCode::kNotImplemented);
  EXPECT_THAT(form.set(ElementType::kUint2, std::vector<int64_t>{2, 4}), IsOk());
  EXPECT_EQ(form.bytes, 2U);
}

TEST(ElementForm, TakesOpenExtentsOfATypeAsZero) {
  ElementForm form;
  graph::ValueType type = graph::testing::tensor_type(ElementType::kFloat, graph::Shape{-1, 3, -2});
  ASSERT_THAT(set_from_type(form, type), IsOk());
  EXPECT_EQ(form.shape, (std::vector<int64_t>{0, 3, 0}));
  EXPECT_FALSE(set_from_type(form, {}).ok());
}

}  // namespace
}  // namespace ephost::runtime::stacked_output_test
