// Operators that select, reorder or replace elements: every element type, odd axes and bounds, and
// the ways in which they are refused.
#include <limits>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::selection_test {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

using Tensors = std::vector<Tensor>;

Tensor halves(const Shape& shape, const std::vector<uint16_t>& bits) {
  Tensor made = tensor<uint16_t>(shape, bits);
  made.type = EPH_ELEMENT_FLOAT16;
  return made;
}

Tensor scalar(int64_t value) { return tensor<int64_t>({}, {value}); }

const Tensor kMatrix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Trilu, KeepsEitherTriangleOfEachMatrix) {
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix}), Gives(Tensors{floats({2, 3}, {1, 2, 3, 0, 5, 6})}));
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix, scalar(1)}, {{"upper", int64_t{0}}}),
              Gives(Tensors{floats({2, 3}, {1, 2, 0, 4, 5, 6})}));
  EXPECT_THAT(run_node("Trilu", 14, {bools({2, 1, 2}, {1, 1, 1, 1}), scalar(1)}),
              Gives(Tensors{bools({2, 1, 2}, {0, 1, 0, 1})}));
  EXPECT_THAT(
      run_node("Trilu", 14, {strings({1, 2}, {"a", "b"}), scalar(-1)}, {{"upper", int64_t{0}}}),
      Gives(Tensors{strings({1, 2}, {"", ""})}));
}

TEST(Trilu, TakesAnyDiagonal) {
  const Tensor none = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix, scalar(kHighest)}), Gives(Tensors{none}));
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix, scalar(kLowest)}), Gives(Tensors{kMatrix}));
  const Attributes lower = {{"upper", int64_t{0}}};
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix, scalar(kLowest)}, lower), Gives(Tensors{none}));
  EXPECT_THAT(run_node("Trilu", 14, {kMatrix, scalar(kHighest)}, lower), Gives(Tensors{kMatrix}));
}

TEST(EyeLike, PutsOnesOnAnyDiagonalInAnyType) {
  EXPECT_THAT(run_node("EyeLike", 9, {kMatrix}, {{"k", int64_t{-1}}}),
              Gives(Tensors{floats({2, 3}, {0, 0, 0, 1, 0, 0})}));
  EXPECT_THAT(run_node("EyeLike", 22, {kMatrix},
                       {{"dtype", int64_t{EPH_ELEMENT_FLOAT16}}, {"k", int64_t{2}}}),
              Gives(Tensors{halves({2, 3}, {0, 0, 0x3C00, 0, 0, 0})}));
  EXPECT_THAT(run_node("EyeLike", 9, {kMatrix}, {{"k", kLowest}}),
              Gives(Tensors{floats({2, 3}, {0, 0, 0, 0, 0, 0})}));
  EXPECT_THAT(run_node("EyeLike", 9, {kMatrix}, {{"dtype", int64_t{EPH_ELEMENT_STRING}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "dtype=8 is not supported"));
}

TEST(Compress, DropsSlicesBeyondTheEndOfTheCondition) {
  EXPECT_THAT(run_node("Compress", 11, {kMatrix, bools({2}, {0, 1})}, {{"axis", int64_t{-1}}}),
              Gives(Tensors{floats({2, 1}, {2, 5})}));
  EXPECT_THAT(
      run_node("Compress", 11, {strings({3}, {"a", "b", "c"}), bools({5}, {1, 0, 7, 1, 1})}),
      Gives(Tensors{strings({2}, {"a", "c"})}));
  EXPECT_THAT(run_node("Compress", 11, {kMatrix, bools({1}, {0})}, {{"axis", int64_t{0}}}),
              Gives(Tensors{floats({0, 3}, {})}));
  EXPECT_THAT(run_node("Compress", 11, {kMatrix, bools({1, 1}, {0})}),
              Refuses(EPH_INVALID_ARGUMENT, "condition does not have rank 1"));
}

TEST(ReverseSequence, RefusesLengthsAndAxesThatDoNotFit) {
  const Attributes rows = {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}};
  EXPECT_THAT(run_node("ReverseSequence", 10, {kMatrix, ints({3, 0})}, rows),
              Gives(Tensors{floats({2, 3}, {3, 2, 1, 4, 5, 6})}));
  EXPECT_THAT(run_node("ReverseSequence", 10, {kMatrix, ints({1, 4})}, rows),
              Refuses(EPH_INVALID_ARGUMENT, "a sequence length is 4, but there are 3 steps"));
  EXPECT_THAT(run_node("ReverseSequence", 10, {kMatrix, ints({1})}, rows),
              Refuses(EPH_INVALID_ARGUMENT, "do not fit a batch of 2"));
  EXPECT_THAT(run_node("ReverseSequence", 10, {kMatrix, ints({1, 1})}, {{"time_axis", int64_t{1}}}),
              Refuses(EPH_INVALID_ARGUMENT, "are not 0 and 1 or 1 and 0"));
}

TEST(Unique, OrdersByValueOrByFirstOccurrence) {
  const Tensor x = floats({6}, {2, 1, 1, 3, 4, 3});
  EXPECT_THAT(run_node("Unique", 11, {x}, {{"sorted", int64_t{0}}}, 4),
              Gives(Tensors{floats({4}, {2, 1, 3, 4}), ints({0, 1, 3, 4}), ints({0, 1, 1, 2, 3, 2}),
                            ints({1, 2, 2, 1})}));
  EXPECT_THAT(run_node("Unique", 11, {x}, {}, 4),
              Gives(Tensors{floats({4}, {1, 2, 3, 4}), ints({1, 0, 3, 4}), ints({1, 0, 0, 2, 3, 2}),
                            ints({2, 1, 2, 1})}));
}

TEST(Unique, ComparesSlicesOfEveryType) {
  EXPECT_THAT(
      run_node("Unique", 11, {tensor<int8_t>({3, 2}, {1, 0, 1, 0, -2, 3})}, {{"axis", int64_t{0}}}),
      Gives(Tensors{tensor<int8_t>({2, 2}, {-2, 3, 1, 0})}));
  EXPECT_THAT(run_node("Unique", 11, {strings({4}, {"b", "a", "", "b"})}, {}, 2),
              Gives(Tensors{strings({3}, {"", "a", "b"}), ints({2, 1, 0})}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(run_node("Unique", 11, {floats({4}, {nan, 1, nan, -1})}, {}, 2),
              Gives(Tensors{floats({3}, {-1, 1, nan}), ints({3, 1, 0})}));
  // The slices -1, 2, 1 and -1 again.
  EXPECT_THAT(run_node("Unique", 11, {halves({4}, {0xBC00, 0x4000, 0x3C00, 0xBC00})}),
              Gives(Tensors{halves({3}, {0xBC00, 0x3C00, 0x4000})}));
  EXPECT_THAT(run_node("Unique", 11, {floats({0}, {})}, {}, 4),
              Gives(Tensors{floats({0}, {}), ints({}), ints({}), ints({})}));
  EXPECT_THAT(run_node("Unique", 11, {floats({2, 0}, {})}, {{"axis", int64_t{0}}}, 4),
              Gives(Tensors{floats({1, 0}, {}), ints({0}), ints({0, 0}), ints({2})}));
}

TEST(ScatterElements, CombinesInEveryWay) {
  const Tensor x = floats({3}, {1, 2, 3});
  const Tensor at = tensor<int32_t>({4}, {0, -1, 0, 2});
  const Tensor updates = floats({4}, {5, -6, 7, 2});
  const auto scatter = [&](const char* reduction) {
    return run_node("ScatterElements", 18, {x, at, updates},
                    {{"reduction", std::string(reduction)}});
  };
  EXPECT_THAT(scatter("add"), Gives(Tensors{floats({3}, {13, 2, -1})}));
  EXPECT_THAT(scatter("mul"), Gives(Tensors{floats({3}, {35, 2, -36})}));
  EXPECT_THAT(scatter("max"), Gives(Tensors{floats({3}, {7, 2, 3})}));
  EXPECT_THAT(scatter("min"), Gives(Tensors{floats({3}, {1, 2, -6})}));
  EXPECT_THAT(scatter("mean"), Refuses(EPH_INVALID_ARGUMENT, "reduction 'mean' is unknown"));
}

TEST(ScatterElements, TakesOtherTypes) {
  const Attributes add = {{"reduction", std::string("add")}};
  const Attributes max = {{"reduction", std::string("max")}};
  const Tensor first = ints({0});
  EXPECT_THAT(
      run_node("ScatterElements", 18, {halves({1}, {0x3C00}), first, halves({1}, {0x4000})}, add),
      Gives(Tensors{halves({1}, {0x4200})}));
  EXPECT_THAT(run_node("ScatterElements", 18, {bools({2}, {0, 0}), first, bools({1}, {1})}, max),
              Gives(Tensors{bools({2}, {1, 0})}));
  EXPECT_THAT(run_node("ScatterElements", 18,
                       {tensor<int8_t>({1}, {127}), first, tensor<int8_t>({1}, {1})}, add),
              Gives(Tensors{tensor<int8_t>({1}, {-128})}));
  EXPECT_THAT(run_node("Scatter", 9, {strings({2}, {"a", "b"}), ints({1}), strings({1}, {"c"})}),
              Gives(Tensors{strings({2}, {"a", "c"})}));
  EXPECT_THAT(
      run_node("ScatterElements", 18, {strings({1}, {"a"}), first, strings({1}, {"c"})}, add),
      Refuses(EPH_INVALID_ARGUMENT, "strings can only be scattered with reduction none"));
  Tensor complex = {EPH_ELEMENT_COMPLEX64, {1}, std::vector<char>(8), {}};
  EXPECT_THAT(run_node("ScatterElements", 18, {complex, first, complex}, max),
              Refuses(EPH_INVALID_ARGUMENT, "complex numbers have no order"));
}

TEST(ScatterElements, RefusesShapesAndIndicesThatDoNotFit) {
  EXPECT_THAT(run_node("ScatterElements", 18, {floats({2}, {1, 2}), ints({2}), floats({1}, {0})}),
              Refuses(EPH_INVALID_ARGUMENT, "index 2 is out of range for an extent of 2"));
  EXPECT_THAT(
      run_node("ScatterElements", 18, {floats({2}, {1, 2}), ints({0}), floats({2}, {0, 0})}),
      Refuses(EPH_INVALID_ARGUMENT, "updates of shape [2] do not match indices"));
  EXPECT_THAT(
      run_node("ScatterElements", 18,
               {floats({1, 1}, {1}), tensor<int64_t>({1, 2}, {0, 0}), floats({1, 2}, {0, 0})}),
      Refuses(EPH_INVALID_ARGUMENT, "do not fit data of shape [1,1]"));
}

TEST(ScatterNd, ReplacesSlicesAndCombinesElements) {
  EXPECT_THAT(run_node("ScatterND", 18,
                       {kMatrix, tensor<int64_t>({1, 1}, {-1}), floats({1, 3}, {7, 8, 9})}),
              Gives(Tensors{floats({2, 3}, {1, 2, 3, 7, 8, 9})}));
  EXPECT_THAT(run_node("ScatterND", 18,
                       {kMatrix, tensor<int64_t>({2, 2}, {0, 0, 0, 0}), floats({2}, {3, 2})},
                       {{"reduction", std::string("mul")}}),
              Gives(Tensors{floats({2, 3}, {6, 2, 3, 4, 5, 6})}));
  EXPECT_THAT(
      run_node("ScatterND", 18, {kMatrix, tensor<int64_t>({1, 2}, {0, 3}), floats({1}, {3})}),
      Refuses(EPH_INVALID_ARGUMENT, "index 3 is out of range for an extent of 3"));
  EXPECT_THAT(
      run_node("ScatterND", 18, {kMatrix, tensor<int64_t>({1, 3}, {0, 0, 0}), floats({1}, {3})}),
      Refuses(EPH_INVALID_ARGUMENT, "indices of shape [1,3] do not fit data of shape [2,3]"));
  EXPECT_THAT(run_node("ScatterND", 18, {kMatrix, tensor<int64_t>({1, 1}, {0}), floats({1}, {3})}),
              Refuses(EPH_INVALID_ARGUMENT, "need [1,3]"));
}

TEST(NonMaxSuppression, PrefersScoresThenOrder) {
  const Tensor boxes = floats({1, 4, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 5, 5, 6, 6, 0, 0, 1, 1});
  const Tensor scores = floats({1, 1, 4}, {0.5F, 0.9F, 0.5F, 0.5F});
  EXPECT_THAT(run_node("NonMaxSuppression", 11, {boxes, scores, scalar(9), floats({}, {0.5F})}),
              Gives(Tensors{tensor<int64_t>({2, 3}, {0, 0, 1, 0, 0, 2})}));
  EXPECT_THAT(run_node("NonMaxSuppression", 11, {boxes, scores}),
              Gives(Tensors{tensor<int64_t>({0, 3}, {})}))
      << "without a maximum there is nothing to select";
  EXPECT_THAT(run_node("NonMaxSuppression", 11,
                       {boxes, scores, scalar(kHighest), floats({}, {1}), floats({}, {0.5F})}),
              Gives(Tensors{tensor<int64_t>({1, 3}, {0, 0, 1})}))
      << "a score must be above the threshold";
  EXPECT_THAT(run_node("NonMaxSuppression", 11, {boxes, floats({1, 1, 3}, {1, 1, 1}), scalar(1)}),
              Refuses(EPH_INVALID_ARGUMENT, "do not fit scores of shape [1,1,3]"));
  EXPECT_THAT(run_node("NonMaxSuppression", 11, {boxes, scores, scalar(1), floats({}, {2})}),
              Refuses(EPH_INVALID_ARGUMENT, "iou_threshold is outside of 0..1"));
}

TEST(CenterCropPad, CropsAndPadsOnBothSides) {
  EXPECT_THAT(run_node("CenterCropPad", 18, {kMatrix, ints({5, 2})}),
              Gives(Tensors{floats({5, 2}, {0, 0, 1, 2, 4, 5, 0, 0, 0, 0})}));
  EXPECT_THAT(run_node("CenterCropPad", 18, {strings({1, 2}, {"a", "b"}), ints({5})},
                       {{"axes", std::vector<int64_t>{-1}}}),
              Gives(Tensors{strings({1, 5}, {"", "a", "b", "", ""})}));
  EXPECT_THAT(run_node("CenterCropPad", 18, {kMatrix, ints({5})}),
              Refuses(EPH_INVALID_ARGUMENT, "an extent for each of 2 axes"));
  EXPECT_THAT(run_node("CenterCropPad", 18, {kMatrix, ints({5, -1})}),
              Refuses(EPH_INVALID_ARGUMENT, "has a negative extent"));
}

TEST(Pad, TakesAxesAndWrapsAround) {
  EXPECT_THAT(run_node("Pad", 18, {kMatrix, ints({1, 0}), floats({}, {9}), ints({-1})}),
              Gives(Tensors{floats({2, 4}, {9, 1, 2, 3, 9, 4, 5, 6})}));
  SingleNodeGraph node("Pad", 19);
  node.input(floats({3}, {1, 2, 3})).input(ints({4, 2})).skip_input().input(ints({0})).output();
  node.attribute("mode", std::string("wrap"));
  EXPECT_THAT(cpu_session().run(node), Gives(Tensors{floats({9}, {3, 1, 2, 3, 1, 2, 3, 1, 2})}));
  EXPECT_THAT(run_node("Pad", 18, {kMatrix, ints({1, 0}), floats({}, {9}), ints({0, 1})}),
              Refuses(EPH_INVALID_ARGUMENT, "two numbers for each of 2 axes"));
  EXPECT_THAT(run_node("Pad", 18, {kMatrix, ints({1, 0, 0, 0}), floats({}, {9}), ints({0, -2})}),
              Refuses(EPH_INVALID_ARGUMENT, "axis -2 is given twice"));
}

TEST(Split, LeavesTheLastPartShorterFromVersion18On) {
  const Tensor x = ints({1, 2, 3, 4, 5});
  const Attributes three = {{"num_outputs", int64_t{3}}};
  EXPECT_THAT(run_node("Split", 18, {x}, three, 3),
              Gives(Tensors{ints({1, 2}), ints({3, 4}), ints({5})}));
  EXPECT_THAT(run_node("Split", 18, {ints({1, 2, 3})}, {{"num_outputs", int64_t{5}}}, 5),
              Gives(Tensors{ints({1}), ints({2}), ints({3}), ints({}), ints({})}));
  EXPECT_THAT(run_node("Split", 18, {x}, three, 2),
              Refuses(EPH_INVALID_ARGUMENT, "num_outputs=3, but there are 2 outputs"));
  EXPECT_THAT(run_node("Split", 13, {x}, {}, 3),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be split into 3 equal parts"));
}

Tensor nibbles(const Shape& shape, const std::vector<uint8_t>& packed) {
  Tensor made = tensor<uint8_t>(shape, packed);
  made.type = EPH_ELEMENT_INT4;
  return made;
}

TEST(FourBits, AreMovedElementByElement) {
  const Tensor x = nibbles({1, 3}, {0x21, 0x0F});  // 1, 2, -1
  EXPECT_THAT(run_node("Reshape", 21, {x, ints({3})}), Gives(Tensors{nibbles({3}, {0x21, 0x0F})}));
  EXPECT_THAT(run_node("Transpose", 21, {nibbles({2, 3}, {0x21, 0x43, 0x65})}),
              Gives(Tensors{nibbles({3, 2}, {0x41, 0x52, 0x63})}));
  EXPECT_THAT(run_node("Pad", 21, {x, ints({0, 1, 0, 1}), nibbles({}, {0x07})}),
              Gives(Tensors{nibbles({1, 5}, {0x17, 0xF2, 0x07})}));
  EXPECT_THAT(run_node("ConstantOfShape", 21, {ints({3})}, {{"value", nibbles({1}, {0x09})}}),
              Gives(Tensors{nibbles({3}, {0x99, 0x99})}));
}

Tensor pairs(const Shape& shape, const std::vector<uint8_t>& packed) {
  Tensor made = tensor<uint8_t>(shape, packed);
  made.type = EPH_ELEMENT_UINT2;
  return made;
}

TEST(TwoBits, AreMovedElementByElement) {
  const Tensor x = pairs({2, 3}, {0x39, 0x0E});  // 1 2 3, 0 2 3
  EXPECT_THAT(run_node("Identity", 25, {x}), Gives(Tensors{x}));
  EXPECT_THAT(run_node("Reshape", 25, {x, ints({6})}), Gives(Tensors{pairs({6}, {0x39, 0x0E})}));
  EXPECT_THAT(run_node("Transpose", 25, {x}),
              Gives(Tensors{pairs({3, 2}, {0xA1, 0x0F})}));  // 1 0, 2 2, 3 3
  EXPECT_THAT(run_node("Pad", 25, {x, ints({0, 1, 0, 0}), pairs({}, {0x01})}),
              Gives(Tensors{pairs({2, 4}, {0xE5, 0xE1})}));  // 1 1 2 3, 1 0 2 3
  EXPECT_THAT(run_node("ConstantOfShape", 25, {ints({4})}, {{"value", pairs({1}, {0x02})}}),
              Gives(Tensors{pairs({4}, {0xAA})}));
  EXPECT_THAT(run_node("Constant", 25, {}, {{"value", x}}), Gives(Tensors{x}));
}

TEST(PowersOfTwo, AreMovedAsBytes) {
  const auto powers = [](const Shape& shape, const std::vector<uint8_t>& codes) {
    Tensor made = tensor<uint8_t>(shape, codes);
    made.type = EPH_ELEMENT_FLOAT8E8M0;
    return made;
  };
  const Tensor x = powers({2, 2}, {0, 127, 254, 255});
  EXPECT_THAT(run_node("Transpose", 25, {x}), Gives(Tensors{powers({2, 2}, {0, 254, 127, 255})}));
  EXPECT_THAT(run_node("Gather", 13, {x, ints({1})}), Gives(Tensors{powers({1, 2}, {254, 255})}));
  EXPECT_THAT(run_node("Pad", 25, {x, ints({0, 1, 0, 0}), powers({}, {9})}),
              Gives(Tensors{powers({2, 3}, {9, 0, 127, 9, 254, 255})}));
}

TEST(NonZero, KnowsZerosOfEveryType) {
  EXPECT_THAT(run_node("NonZero", 13, {halves({3}, {0x8000, 0x0001, 0})}),
              Gives(Tensors{tensor<int64_t>({1, 1}, {1})}));
  EXPECT_THAT(run_node("NonZero", 13, {strings({3}, {"", "0", ""})}),
              Gives(Tensors{tensor<int64_t>({1, 1}, {1})}));
}

}  // namespace
}  // namespace ephost::test::selection_test
