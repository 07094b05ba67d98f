// Products of any number of rows, compared with the reference.
#include "plugins/dnnl/executor/primitives/row_computation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>

#include "host/conformance/random/numbers/dice.h"
#include "tests/unit/plugins/dnnl/guarded_library.h"
#include "tests/unit/plugins/dnnl/open_net.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost::test::row_computation_test {

using conformance::Dice;

namespace {

using ::testing::HasSubstr;

void expect_near(const RunResult& result, const Array& expected) {
  ASSERT_EQ(result.code, EPH_OK) << result.message;
  ASSERT_EQ(result.shape, expected.shape);
  ASSERT_EQ(result.data.size(), expected.data.size());
  for (std::size_t i = 0; i < result.data.size(); ++i) {
    ASSERT_NEAR(result.data[i], expected.data[i], 1e-4 + 1e-3 * std::abs(expected.data[i]))
        << "element " << i;
  }
}

// A function of single elements after a product with that many columns.
uint32_t add_follower(OpenNet& net, Dice& dice, uint32_t x, int64_t columns) {
  const auto vector = [&](double low, double high) {
    return dice.one_in(4) ? net.scalar(static_cast<float>(dice.real(low, high)))
                          : net.weights({columns}, low, high);
  };
  switch (dice.roll(0, 14)) {
    case 0:
      return net.add("Add", {x, net.weights({columns})});
    case 1:
      return net.add("Add", {net.weights({1, columns}), x});
    case 2:
      return net.add("Mul", {x, vector(-2, 2)});
    case 3:
      return net.add("Sub", {vector(-1, 1), x});
    case 4:
      return net.add("Div", {x, vector(1, 2)});
    case 5:
      return net.add("Max", {x, vector(-1, 0)});
    case 6:
      return net.add("Relu", {x});
    case 7:
      return net.add("LeakyRelu", {x}, {{"alpha", 0.1F}});
    case 8:
      return net.add("Sigmoid", {x});
    case 9:
      return net.add("Tanh", {x});
    case 10:
      return net.gelu(x);
    case 11:
      return net.add("Clip", {x, net.scalar(-0.5F), net.scalar(0.75F)});
    case 12:
      return net.add("Elu", {x});
    case 13:
      return net.add("HardSwish", {x});
    default:
      return net.add("Abs", {x});
  }
}

uint32_t add_product(OpenNet& net, Dice& dice, uint32_t x, int64_t depth, int64_t columns,
                     std::size_t rank) {
  if (rank != 2 || dice.one_in(2)) return net.add("MatMul", {x, net.weights({depth, columns})});
  const int64_t is_transposed = dice.roll(0, 1);
  std::vector<uint32_t> inputs = {
      x, net.weights(is_transposed == 1 ? Shape{columns, depth} : Shape{depth, columns})};
  if (dice.one_in(2)) {
    inputs.push_back(net.weights(dice.one_in(2) ? Shape{columns} : Shape{1, columns}));
  }
  return net.add("Gemm", inputs,
                 {{"transB", is_transposed}, {"alpha", dice.one_in(2) ? 1.0F : 0.5F}});
}

// Leading extents with that many rows.
Shape with_rows(Dice& dice, int64_t rows, std::size_t rank, int64_t depth) {
  Shape shape(rank, 1);
  shape[static_cast<std::size_t>(dice.roll(0, static_cast<int64_t>(rank) - 2))] = rows;
  if (rank > 2 && rows > 0 && rows % 2 == 0) {
    shape.assign(rank, 1);
    shape[0] = 2;
    shape[rank - 2] = rows / 2;
  }
  shape[rank - 1] = depth;
  return shape;
}

// Runs every partition on what the reference gives for its input.
void expect_partitions_match(OpenNet& net,
                             const std::vector<std::unique_ptr<Partition>>& partitions, Dice& dice,
                             std::size_t rank, int64_t depth) {
  std::vector<std::unique_ptr<ComputationState>> states;
  for (const auto& partition : partitions) {
    states.push_back(std::make_unique<ComputationState>(partition->computation));
  }
  for (const int64_t rows : {int64_t{1}, int64_t{0}, dice.roll(2, 9), dice.roll(10, 90)}) {
    const Array input = OpenNet::random_input(with_rows(dice, rows, rank, depth), 5);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const FakeGraph& graph = *partitions[i]->graph;
      const uint32_t from = net.find(graph.value_name(graph.inputs()[0])),
                     to = net.find(graph.value_name(graph.outputs()[0]));
      const Array expected = net.value_for(to, input);
      expect_near(states[i]->run(net.value_for(from, input)), expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(RowComputations, MatchTheReferenceForAnyNumberOfRows) {
  std::size_t claimed = 0, of = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string seed = "rows " + std::to_string(round);
    SCOPED_TRACE(seed);
    Dice dice(seed);
    OpenNet net(static_cast<uint32_t>(round));
    const auto rank = static_cast<std::size_t>(dice.roll(2, 4));
    int64_t width = dice.pick({1, 2, 3, 8, 17, 48, 64});
    const int64_t depth = width;
    Shape shape(rank, -1);
    shape.back() = width;
    uint32_t x = net.input(shape);
    for (int64_t left = dice.roll(1, 3); left > 0; --left) {
      const int64_t columns = dice.pick({1, 2, 5, 16, 31, 64});
      x = add_product(net, dice, x, width, columns, rank);
      width = columns;
      for (int64_t more = dice.roll(0, 3); more > 0; --more) x = add_follower(net, dice, x, width);
    }
    net.output(x);
    ProviderSession session(dice.roll(1, 2));
    for (const auto& nodes : session.claims(net.graph()).fused) claimed += nodes.size();
    of += net.graph().node_count();
    const auto partitions = session.compile(net.graph());
    ASSERT_FALSE(partitions.empty());
    expect_partitions_match(net, partitions, dice, rank, depth);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(claimed * 10, of * 7);  // functions that cannot be fused are rare
}

// A perceptron with two products.
class RowComputation : public ::testing::Test {
 protected:
  RowComputation() {
    uint32_t x = net_.add("MatMul", {net_.input({-1, -1, 12}), net_.weights({12, 20})});
    x = net_.add("Relu", {net_.add("Add", {x, net_.weights({20})})});
    output_ = net_.add("MatMul", {x, net_.weights({20, 7})});
    net_.output(output_);
    partitions_ = session_.compile(net_.graph());
  }
  eph_computation* computation() { return partitions_.at(0)->computation; }

  OpenNet net_;
  uint32_t output_ = 0;
  ProviderSession session_{1};
  std::vector<std::unique_ptr<Partition>> partitions_;
};

TEST_F(RowComputation, TakesManyRows) {
  ComputationState state(computation());
  const Array input = OpenNet::random_input({2, 1500, 12}, 3);
  expect_near(state.run(input), net_.value_for(output_, input));
}

TEST_F(RowComputation, GivesTheSameResultsInSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      ComputationState state(computation());
      for (int64_t rows = 0; rows < 12; ++rows) {
        const Array input =
            OpenNet::random_input({i + 1, rows, 12}, static_cast<uint32_t>(rows + 1));
        expect_near(state.run(input), net_.value_for(output_, input));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RowComputation, RefusesInputsThatAreNoSuchRows) {
  ComputationState state(computation());
  const auto refusal = [&](const Shape& shape, const std::function<void(eph_value&)>& change) {
    FloatTensor input(shape);
    change(input.value);
    const RunResult result = state.run(input);
    EXPECT_EQ(result.code, EPH_INVALID_ARGUMENT);
    return result.message;
  };
  const auto nothing = [](eph_value&) {};
  EXPECT_THAT(
      refusal({2, 3, 11}, nothing),
      HasSubstr("was compiled for a float tensor of rank 3 with rows of 12 elements and got "
                "element type 1 [2, 3, 11]"));
  EXPECT_THAT(refusal({6, 12}, nothing), HasSubstr("[6, 12]"));
  EXPECT_THAT(refusal({1, 1, 12}, [](eph_value& value) { value.element_type = EPH_ELEMENT_INT32; }),
              HasSubstr("element type 6"));
  EXPECT_THAT(refusal({1, 2, 12}, [](eph_value& value) { value.byte_size = 95; }),
              HasSubstr("and got"));
  EXPECT_THAT(refusal({1, 2, 12}, [](eph_value& value) { value.data = nullptr; }),
              HasSubstr("and got"));
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::vector<Shape> impossible = {{kHuge, 4, 12}, {kHuge, 1, 12}, {-1, -1, 12}};
  for (const Shape& shape : impossible) {
    EXPECT_THAT(refusal({1, 1, 12}, [&](eph_value& value) { value.shape = shape.data(); }),
                HasSubstr("and got"));
  }
}

TEST_F(RowComputation, RefusesAMissingInputAndNeedsNoOutput) {
  FloatTensor output({1, 1, 7}), input({1, 1, 12});
  FakeError error;
  EXPECT_EQ(partitions_[0]->run_with({nullptr}, {&output}, error), EPH_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("got nothing"));
  EXPECT_EQ(partitions_[0]->run_with({&input}, {nullptr}, error), EPH_OK);
}

TEST_F(RowComputation, StopsWhenTheRunIsCancelled) {
  const RunResult result = ComputationState(computation()).run(FloatTensor({1, 1, 12}), true);
  EXPECT_EQ(result.code, EPH_CANCELLED);
  EXPECT_EQ(result.message, "the run was cancelled");
}

TEST(RowComputations, ComputeLargeTensorsInBlocks) {
  ephost_dnnl::test::SampleBuilder builder;
  const auto first = builder.constant({4, 9}, 0.5F, -0.25F), second = builder.constant({9, 3}),
             third = builder.constant({3, 5});
  auto x = builder.add(ephost_dnnl::MatMul{}, {builder.input({2, 4}), first});
  x = builder.add(ephost_dnnl::MatMul{}, {x, second});
  builder.output(builder.add(ephost_dnnl::MatMul{}, {x, third}));
  ephost_dnnl::LoweredPartition lowered = builder.finish();
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto run = [&](int64_t max_elements, int64_t rows) {
    ephost_dnnl::BorrowingSource constants(lowered.constants);
    ephost_dnnl::RowComputation computation("rows", lowered.recipe, constants, engine, 1,
                                            ephost_dnnl::NanMode::kPropagate, max_elements);
    const Array input = OpenNet::random_input({rows, 4}, 2);
    FakeRun fake({FloatTensor(input.shape, {input.data.begin(), input.data.end()})});
    eph::Run view(&fake);
    const GuardedLibrary library;
    computation.compute(view, computation.create_state().get());
    EXPECT_THAT(library.touches(), ::testing::IsEmpty());
    return fake.result();
  };
  for (const int64_t max_elements : {1, 27, 36, 90}) {  // 1, 3, 4 and 10 rows of 9
    for (const int64_t rows : {1, 10, 11, 36}) {
      const std::vector<float> whole = run(ephost_dnnl::kMaxElements, rows);
      const std::vector<float> blocks = run(max_elements, rows);
      ASSERT_EQ(blocks.size(), static_cast<std::size_t>(rows * 5));
      for (std::size_t i = 0; i < whole.size(); ++i) {
        ASSERT_NEAR(blocks[i], whole[i], 1e-4 * (1 + std::abs(whole[i])));
      }
    }
  }
}

}  // namespace
}  // namespace ephost::test::row_computation_test
