// Memory that inputs and outputs are bound to: wherever it lies, results are those of a run that
// has memory of its own for everything.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::bound_outputs_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Matrix = std::array<float, 9>;

// y is x with rows and columns exchanged, z is the same of -x: kernels that read an element after
// they wrote to its memory get another result.
graph::Model transposing_model() {
  const auto type = graph::testing::tensor_type(ElementType::kFloat, graph::Shape{3, 3});
  return test::model_of(graph::testing::GraphBuilder()
                            .input("x", type)
                            .node("Transpose", {"x"}, {"y"})
                            .node("Neg", {"x"}, {"n"})
                            .node("Transpose", {"n"}, {"z"})
                            .output("y")
                            .output("z")
                            .build());
}

Matrix numbers(float first) {
  Matrix matrix;
  std::iota(matrix.begin(), matrix.end(), first);
  return matrix;
}

Matrix transposed(const Matrix& matrix, float factor) {
  Matrix result;
  for (size_t i = 0; i < 9; ++i) result[i] = factor * matrix[i % 3 * 3 + i / 3];
  return result;
}

Matrix matrix_at(const std::byte* memory) {
  Matrix matrix;
  std::memcpy(matrix.data(), memory, sizeof(matrix));
  return matrix;
}

class BoundOutputsTest : public ::testing::Test {
 protected:
  static constexpr size_t kSize = sizeof(Matrix);

  BoundOutputsTest() {
    auto created = Session::create(test::environment(), test::save(folder_, transposing_model()));
    EXPECT_THAT(created, IsOk());
    session_.emplace(std::move(created).value());
    bind_anew();
  }

  void bind_anew() {
    auto binding = session_->create_binding();
    EXPECT_THAT(binding, IsOk());
    binding_.emplace(std::move(binding).value());
  }
  static Value over(std::byte* memory) {
    return Value::borrow(ElementType::kFloat, {3, 3}, {memory, kSize}).value();
  }
  static Value of(const Matrix& matrix) { return *Value::of<float>({3, 3}, matrix); }
  Matrix output(size_t index) { return matrix_at(binding_->outputs()[index].bytes().data()); }

  test::TempDirectory folder_;
  std::optional<Session> session_;
  std::optional<IoBinding> binding_;
};

TEST_F(BoundOutputsTest, AreRightWhereverMemoryLies) {
  std::mt19937 random(17);
  std::uniform_int_distribution<size_t> position(0, 90);
  size_t refusals = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<std::byte> arena(90 + kSize);
    for (std::byte& byte : arena) byte = static_cast<std::byte>(random() % 64);
    const size_t x = position(random);
    const size_t y = i % 4 == 0 ? x : position(random);
    const size_t z = position(random);
    const Matrix input = matrix_at(&arena[x]);
    std::vector<std::byte> expected = arena;
    std::memcpy(&expected[y], transposed(input, 1).data(), kSize);
    std::memcpy(&expected[z], transposed(input, -1).data(), kSize);

    bind_anew();
    ASSERT_THAT(binding_->bind_input("x", over(&arena[x])), IsOk());
    ASSERT_THAT(binding_->bind_output("y", over(&arena[y])), IsOk());
    ASSERT_THAT(binding_->bind_output("z", over(&arena[z])), IsOk());
    const Status status = session_->run(*binding_);
    if (y < z + kSize && z < y + kSize) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(),
                  HasSubstr("outputs \"y\" and \"z\" are bound to memory in common"));
      ++refusals;
      continue;
    }
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(arena, expected) << "x at " << x << ", y at " << y << ", z at " << z;
    EXPECT_EQ(binding_->outputs()[0].bytes().data(), &arena[y]);
  }
  EXPECT_GT(refusals, 100U);
  EXPECT_LT(refusals, 300U);
}

TEST_F(BoundOutputsTest, AnOutputThatBecomesAnInputIsNotWrittenWhileItIsRead) {
  Matrix expected = numbers(1);
  ASSERT_THAT(binding_->bind_input("x", of(expected)), IsOk());
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(session_->run(*binding_), IsOk());
    expected = transposed(expected, 1);
    EXPECT_EQ(output(0), expected);
    EXPECT_EQ(output(1), transposed(transposed(expected, 1), -1));
    ASSERT_THAT(binding_->bind_input("x", binding_->outputs()[0]), IsOk());
  }
}

TEST_F(BoundOutputsTest, AnOutputThatBecomesTheMemoryOfAnotherGetsItsOwn) {
  const Matrix input = numbers(1);
  ASSERT_THAT(binding_->bind_input("x", of(input)), IsOk());
  ASSERT_THAT(session_->run(*binding_), IsOk());
  ASSERT_THAT(binding_->bind_output("z", binding_->outputs()[0]), IsOk());
  ASSERT_THAT(session_->run(*binding_), IsOk());
  EXPECT_EQ(output(0), transposed(input, 1));
  EXPECT_EQ(output(1), transposed(input, -1));
}

TEST_F(BoundOutputsTest, AFailedRunLeavesTheInputThatIsWrittenAsItWas) {
  Matrix memory = numbers(1);
  std::byte* const bytes = std::as_writable_bytes(std::span(memory)).data();
  ASSERT_THAT(binding_->bind_input("x", over(bytes)), IsOk());
  ASSERT_THAT(binding_->bind_output("y", over(bytes)), IsOk());
  RunOptions late;
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_FALSE(session_->run(*binding_, late).ok());
  EXPECT_EQ(memory, numbers(1));
  EXPECT_EQ(output(0), numbers(1));
  ASSERT_THAT(session_->run(*binding_), IsOk());
  EXPECT_EQ(memory, transposed(numbers(1), 1));
}

TEST_F(BoundOutputsTest, StayBoundWhereARunHasAnotherShape) {
  graph::Graph graph = graph::testing::GraphBuilder()
                           .input("x", test::row_type(graph::kUnknownDim))
                           .node("Neg", {"x"}, {"y"})
                           .output("y")
                           .build();
  auto session = Session::create(
      test::environment(), test::save(folder_, test::model_of(std::move(graph)), "open.onnx"));
  ASSERT_THAT(session, IsOk());
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  Value memory = *Value::allocate(ElementType::kFloat, {2});
  ASSERT_THAT(binding->bind_output("y", memory), IsOk());
  const auto run = [&](const std::vector<float>& x) {
    const auto size = static_cast<int64_t>(x.size());
    EXPECT_THAT(binding->bind_input("x", *Value::of<float>({size}, x)), IsOk());
    return session->run(*binding);
  };
  ASSERT_THAT(run({1, 2}), IsOk());
  EXPECT_THAT(memory.elements<float>(), ElementsAre(-1, -2));
  EXPECT_THAT(run({1, 2, 3}).message(),
              HasSubstr("output \"y\" came out as float[3], which is not the shape of the memory"));
  ASSERT_THAT(run({5, 6}), IsOk());
  EXPECT_THAT(memory.elements<float>(), ElementsAre(-5, -6));
}

TEST_F(BoundOutputsTest, PartsOfSequencesAreReadToo) {
  graph::Graph graph =
      graph::testing::GraphBuilder()
          .input("parts", {.kind = graph::ValueKind::kSequence,
                           .nested = std::make_shared<graph::ValueType>(test::row_type(2))})
          .node("ConcatFromSequence", {"parts"}, {"y"})
          .attribute("axis", int64_t{0})
          .output("y")
          .build();
  auto session = Session::create(
      test::environment(), test::save(folder_, test::model_of(std::move(graph)), "parts.onnx"));
  ASSERT_THAT(session, IsOk());
  std::vector<float> memory = {1, 2, 3, 4};
  const auto over = [&](size_t first, int64_t count) {
    const std::span<float> elements = std::span(memory).subspan(first, static_cast<size_t>(count));
    return *Value::borrow(ElementType::kFloat, {count}, std::as_writable_bytes(elements));
  };
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  ASSERT_THAT(binding->bind_input("parts", *Value::sequence({over(2, 2), over(0, 2)})), IsOk());
  ASSERT_THAT(binding->bind_output("y", over(0, 4)), IsOk());
  const Status status = session->run(*binding);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(memory, ElementsAre(3, 4, 1, 2));
}

}  // namespace
}  // namespace ephost::bound_outputs_test
