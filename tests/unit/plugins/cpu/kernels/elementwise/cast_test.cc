// Cast between all pairs of types: exact rounding, ranges, text, float8 and types of 4 bits.
#include <cmath>
#include <limits>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::cast_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor cast(const Tensor& from, int32_t to, int64_t saturate = 1) {
  return run_one("Cast", 19, {from}, {{"to", int64_t{to}}, {"saturate", saturate}});
}

Tensor raw(int32_t type, Shape shape, const std::vector<int>& bytes) {
  Tensor made = {type, std::move(shape), {}, {}};
  for (const int byte : bytes) made.bytes.push_back(static_cast<char>(byte));
  return made;
}
Tensor codes(int32_t type, const std::vector<int>& bytes) {
  return raw(type, {static_cast<int64_t>(bytes.size())}, bytes);
}
Tensor list(const std::vector<float>& values) {
  return floats({static_cast<int64_t>(values.size())}, values);
}

struct Short {
  const char* name;
  int32_t type;
  // One, another number, the largest, the smallest, and zeros.
  std::vector<int> codes;
  std::vector<float> numbers;
  std::vector<int> beyond, beyond_unsaturated;  // of 1e6, -1e6, inf, -inf, NaN
};
void PrintTo(const Short& type, std::ostream* stream) { *stream << type.name; }

class ShortFloats : public ::testing::TestWithParam<Short> {};

TEST_P(ShortFloats, HoldTheirNumbers) {
  const Short& type = GetParam();
  EXPECT_EQ(difference(cast(list(type.numbers), type.type), codes(type.type, type.codes)), "");
  EXPECT_EQ(difference(cast(codes(type.type, type.codes), EPH_ELEMENT_FLOAT), list(type.numbers)),
            "");
}

TEST_P(ShortFloats, FollowTheTableOfCastForLargeNumbers) {
  const Short& type = GetParam();
  const Tensor x = list({1e6F, -1e6F, kInf, -kInf, kNan});
  EXPECT_EQ(difference(cast(x, type.type), codes(type.type, type.beyond)), "");
  EXPECT_EQ(difference(cast(x, type.type, 0), codes(type.type, type.beyond_unsaturated)), "");
}

// All 256 codes survive a conversion to any wider type and back, up to the code of NaN.
TEST_P(ShortFloats, ComeBackFromEveryWiderType) {
  const Short& type = GetParam();
  std::vector<int> all;
  for (int code = 0; code < 256; ++code) {
    const Tensor number = cast(codes(type.type, {code}), EPH_ELEMENT_FLOAT);
    if (!std::isnan(values_of<float>(number)[0])) all.push_back(code);
  }
  EXPECT_GT(all.size(), 240U);
  const Tensor x = codes(type.type, all);
  for (const int32_t wide :
       {EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE, EPH_ELEMENT_FLOAT16, EPH_ELEMENT_BFLOAT16}) {
    EXPECT_EQ(difference(cast(cast(x, wide), type.type, 0), x), "") << wide;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ShortFloats,
                         ::testing::Values(Short{"E4M3FN",
                                                 EPH_ELEMENT_FLOAT8E4M3FN,
                                                 {0x38, 0xbc, 0x7e, 0x01, 0x00, 0x80},
                                                 {1, -1.5F, 448, 0x1p-9F, 0, -0.0F},
                                                 {0x7e, 0xfe, 0x7e, 0xfe, 0x7f},
                                                 {0x7f, 0xff, 0x7f, 0xff, 0x7f}},
                                           Short{"E4M3FNUZ",
                                                 EPH_ELEMENT_FLOAT8E4M3FNUZ,
                                                 {0x40, 0xc4, 0x7f, 0x01, 0x00},
                                                 {1, -1.5F, 240, 0x1p-10F, 0},
                                                 {0x7f, 0xff, 0x7f, 0xff, 0x80},
                                                 {0x80, 0x80, 0x80, 0x80, 0x80}},
                                           Short{"E5M2",
                                                 EPH_ELEMENT_FLOAT8E5M2,
                                                 {0x3c, 0xbe, 0x7b, 0x01, 0x80},
                                                 {1, -1.5F, 57344, 0x1p-16F, -0.0F},
                                                 {0x7b, 0xfb, 0x7b, 0xfb, 0x7f},
                                                 {0x7c, 0xfc, 0x7c, 0xfc, 0x7f}},
                                           Short{"E5M2FNUZ",
                                                 EPH_ELEMENT_FLOAT8E5M2FNUZ,
                                                 {0x40, 0xc2, 0x7f, 0x01, 0x00},
                                                 {1, -1.5F, 57344, 0x1p-17F, 0},
                                                 {0x7f, 0xff, 0x7f, 0xff, 0x80},
                                                 {0x80, 0x80, 0x80, 0x80, 0x80}}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Casting, RoundsShortFloatsToEven) {
  // Between 1 and 1.125, between 1.125 and 1.25, below the tie at half of the smallest number.
  EXPECT_EQ(difference(cast(list({1.0625F, 1.1875F, 0x1p-10F, 0x1.8p-10F, 465, 463}),
                            EPH_ELEMENT_FLOAT8E4M3FN),
                       codes(EPH_ELEMENT_FLOAT8E4M3FN, {0x38, 0x3a, 0x00, 0x01, 0x7e, 0x7e})),
            "");
  EXPECT_EQ(difference(cast(list({465, 463}), EPH_ELEMENT_FLOAT8E4M3FN, 0),
                       codes(EPH_ELEMENT_FLOAT8E4M3FN, {0x7f, 0x7e})),
            "");
}

TEST(Casting, RoundsDoublesToHalvesOnce) {
  // Just above a tie; float would round it to the tie itself.
  const Tensor x = tensor<double>({2}, {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11});
  EXPECT_EQ(values_of<uint16_t>(cast(x, EPH_ELEMENT_FLOAT16)),
            (std::vector<uint16_t>{0x3c01, 0x3c00}));
  const Tensor y = tensor<double>({1}, {1 + 0x1p-8 + 0x1p-40});
  EXPECT_EQ(values_of<uint16_t>(cast(y, EPH_ELEMENT_BFLOAT16)), (std::vector<uint16_t>{0x3f81}));
}

TEST(Casting, HandlesEveryKindOfHalfPrecisionNumber) {
  const Tensor x =
      list({65504, 65519, 65520, 0x1p-24F, 0x1p-25F, 0x1.8p-25F, -0.0F, kInf, kNan, 0x1.ffcp-15F});
  EXPECT_EQ(
      values_of<uint16_t>(cast(x, EPH_ELEMENT_FLOAT16)),
      (std::vector<uint16_t>{0x7bff, 0x7bff, 0x7c00, 1, 0, 1, 0x8000, 0x7c00, 0x7e00, 0x400}));
  std::vector<uint16_t> all(0x7c01);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  Tensor halves = tensor<uint16_t>({static_cast<int64_t>(all.size())}, all);
  halves.type = EPH_ELEMENT_FLOAT16;
  EXPECT_EQ(values_of<uint16_t>(cast(cast(halves, EPH_ELEMENT_FLOAT), EPH_ELEMENT_FLOAT16)), all);
}

TEST(Casting, ClampsNumbersOutsideIntegerRanges) {
  const Tensor x = list({kNan, kInf, -kInf, 3e9F, -3e9F, 300, -1.9F});
  EXPECT_EQ(values_of<int32_t>(cast(x, EPH_ELEMENT_INT32)),
            (std::vector<int32_t>{0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 300, -1}));
  EXPECT_EQ(values_of<uint8_t>(cast(x, EPH_ELEMENT_UINT8)),
            (std::vector<uint8_t>{0, 255, 0, 255, 0, 255, 0}));
}

TEST(Casting, WrapsIntegersAround) {
  EXPECT_EQ(values_of<int8_t>(cast(tensor<int16_t>({2}, {200, -200}), EPH_ELEMENT_INT8)),
            (std::vector<int8_t>{-56, 56}));
  EXPECT_EQ(values_of<uint64_t>(cast(ints({-1}), EPH_ELEMENT_UINT64)),
            (std::vector<uint64_t>{UINT64_MAX}));
}

TEST(Casting, PacksFourBitsLowFirst) {
  const Tensor x = list({1, -8, 7, 100, -100});
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_INT4), raw(EPH_ELEMENT_INT4, {5}, {0x81, 0x77, 0x08})),
            "");
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_UINT4), raw(EPH_ELEMENT_UINT4, {5}, {0x01, 0xf7, 0x00})),
            "");
  EXPECT_EQ(difference(cast(raw(EPH_ELEMENT_INT4, {3}, {0x81, 0x07}), EPH_ELEMENT_FLOAT),
                       list({1, -8, 7})),
            "");
  EXPECT_EQ(difference(cast(raw(EPH_ELEMENT_UINT4, {3}, {0x81, 0x07}), EPH_ELEMENT_INT64),
                       ints({1, 8, 7})),
            "");
  EXPECT_EQ(difference(cast(ints({17, -1}), EPH_ELEMENT_INT4), raw(EPH_ELEMENT_INT4, {2}, {0xf1})),
            "");
  EXPECT_EQ(difference(cast(raw(EPH_ELEMENT_INT4, {2}, {0xf1}), EPH_ELEMENT_UINT4),
                       raw(EPH_ELEMENT_UINT4, {2}, {0xf1})),
            "");
}

TEST(Casting, RoundsToEvenAtFourBits) {
  const Tensor x = list({0.5F, 1.5F, -2.5F, 2.6F, 7.5F, -8.6F, 15.5F, NAN});
  EXPECT_EQ(difference(cast(cast(x, EPH_ELEMENT_INT4), EPH_ELEMENT_FLOAT),
                       list({0, 2, -2, 3, 7, -8, 7, 0})),
            "");
  EXPECT_EQ(difference(cast(cast(x, EPH_ELEMENT_UINT4), EPH_ELEMENT_FLOAT),
                       list({0, 2, 0, 3, 8, 0, 15, 0})),
            "");
}

TEST(Casting, ConvertsFourBitFloats) {
  const Tensor x = list({0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -6, 100, 2.5F, 0.25F});
  const Tensor packed = raw(EPH_ELEMENT_FLOAT4E2M1, {12}, {0x10, 0x32, 0x54, 0x76, 0x7f, 0x04});
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_FLOAT4E2M1), packed), "");
  EXPECT_EQ(difference(cast(packed, EPH_ELEMENT_FLOAT),
                       list({0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -6, 6, 2, 0})),
            "");
}

// The table in ONNX's technical notes on these types.
TEST(Casting, MakesSixOfWhatIsNoNumberInFourBitFloats) {
  EXPECT_EQ(difference(cast(list({kNan, kInf, -kInf, -0.0F}), EPH_ELEMENT_FLOAT4E2M1),
                       raw(EPH_ELEMENT_FLOAT4E2M1, {4}, {0x77, 0x8f})),
            "");
}

// Blocks, their remainders and several threads.
TEST(Casting, ConvertsLongTensorsOfRareTypes) {
  const Tensor x = random_floats({100003}, 5, -7, 7);
  Tensor rounded = x;
  std::vector<float> values = values_of<float>(x);
  for (float& value : values) value = std::nearbyint(value);
  rounded = floats(x.shape, values);
  EXPECT_EQ(difference(cast(cast(x, EPH_ELEMENT_INT4), EPH_ELEMENT_FLOAT), rounded), "");
  const Tensor exact = cast(cast(x, EPH_ELEMENT_FLOAT8E5M2), EPH_ELEMENT_FLOAT);
  EXPECT_EQ(difference(exact, x, 0.125, 1e-5), "");
}

TEST(Casting, ParsesAndPrintsEveryNumber) {
  const Tensor text = strings({6}, {" 1.5 ", "+INF", "-inf", "NaN", "1e400", "-1e-400"});
  EXPECT_EQ(difference(cast(text, EPH_ELEMENT_DOUBLE),
                       tensor<double>({6}, {1.5, kInf, -kInf, kNan, kInf, -0.0})),
            "");
  EXPECT_EQ(difference(cast(text, EPH_ELEMENT_FLOAT), list({1.5F, kInf, -kInf, kNan, kInf, -0.0F})),
            "");
  EXPECT_EQ(difference(cast(strings({2}, {"3", "-9"}), EPH_ELEMENT_INT4),
                       raw(EPH_ELEMENT_INT4, {2}, {0x83})),
            "");
  EXPECT_EQ(difference(cast(strings({2}, {"9223372036854775807", "7.9"}), EPH_ELEMENT_INT64),
                       ints({INT64_MAX, 7})),
            "");
  EXPECT_EQ(difference(cast(codes(EPH_ELEMENT_FLOAT8E4M3FN, {0x38, 0xbc}), EPH_ELEMENT_STRING),
                       strings({2}, {"1", "-1.5"})),
            "");
  EXPECT_EQ(difference(cast(raw(EPH_ELEMENT_INT4, {2}, {0x81}), EPH_ELEMENT_STRING),
                       strings({2}, {"1", "-8"})),
            "");
  EXPECT_THAT(run_node("Cast", 19, {strings({1}, {"1,5"})}, {{"to", int64_t{EPH_ELEMENT_FLOAT}}}),
              Refuses(EPH_INVALID_ARGUMENT, "'1,5' is not a number"));
}

TEST(Casting, LikeTakesTheTypeOfItsSecondInput) {
  const Tensor like = codes(EPH_ELEMENT_FLOAT8E5M2, {0});
  EXPECT_THAT(run_node("CastLike", 19, {list({1e6F}), like}, {{"saturate", int64_t{0}}}),
              Gives(std::vector{codes(EPH_ELEMENT_FLOAT8E5M2, {0x7c})}));
}

}  // namespace
}  // namespace ephost::test::cast_test
