// Cast from and to the types that opsets 24 and 25 brought, against numbers that are computed from
// the definitions of these types.
#include <cmath>
#include <limits>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::cast_opset24_25_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kPower = EPH_ELEMENT_FLOAT8E8M0;

Tensor cast(const Tensor& from, int32_t to, const Attributes& more = {}) {
  Attributes attributes = more;
  attributes.emplace_back("to", int64_t{to});
  return run_one("Cast", 25, {from}, attributes);
}

Tensor coded(int32_t type, int64_t count, const std::vector<int>& bytes) {
  Tensor made = {type, {count}, {}, {}};
  for (const int byte : bytes) made.bytes.push_back(static_cast<char>(byte));
  return made;
}
Tensor powers(const std::vector<int>& codes) {
  return coded(kPower, static_cast<int64_t>(codes.size()), codes);
}
Tensor list(const std::vector<float>& values) {
  return floats({static_cast<int64_t>(values.size())}, values);
}

std::vector<int> all_bytes() {
  std::vector<int> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[static_cast<std::size_t>(i)] = i;
  return bytes;
}

// ---- float8e8m0 -----------------------------------------------------------------------------

TEST(CastPowers, ReadsAllCodes) {
  std::vector<double> numbers = {0x1p-127};
  while (numbers.size() < 255) numbers.push_back(2 * numbers.back());
  numbers.push_back(kNan);
  const Tensor x = powers(all_bytes());
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_DOUBLE), tensor<double>({256}, numbers)), "");
  std::vector<float> singles(numbers.begin(), numbers.end());
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_FLOAT), list(singles)), "");
  EXPECT_EQ(difference(cast(x, EPH_ELEMENT_STRING), cast(list(singles), EPH_ELEMENT_STRING)), "");
}

TEST(CastPowers, ComeBackFromEveryWiderTypeInEveryMode) {
  const Tensor x = powers(all_bytes());
  for (const int32_t wide : {EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE, EPH_ELEMENT_BFLOAT16}) {
    for (const char* mode : {"up", "down", "nearest"}) {
      for (const int64_t saturate : {0, 1}) {
        const Attributes attributes = {{"round_mode", std::string(mode)}, {"saturate", saturate}};
        EXPECT_EQ(difference(cast(cast(x, wide), kPower, attributes), x), "") << wide << mode;
      }
    }
  }
}

// The table in ONNX's text on Cast 24: 0, NaN, infinity, beyond 2^127, below 2^-127.
TEST(CastPowers, FollowTheTableOfCastForSpecialNumbers) {
  const Tensor x = list({0, kNan, kInf, 0x1.000002p127F, 0x1.fffff8p-128F});
  EXPECT_EQ(difference(cast(x, kPower), powers({0, 0xff, 0xfe, 0xfe, 0})), "");
  EXPECT_EQ(difference(
                cast(x, kPower, {{"saturate", int64_t{0}}, {"round_mode", std::string("nearest")}}),
                powers({0xff, 0xff, 0xff, 0xff, 0xff})),
            "");
  EXPECT_EQ(
      difference(cast(tensor<double>({3}, {1e300, 1e-300, 1}), kPower), powers({0xfe, 0, 0x7f})),
      "");
}

// The codes of the powers of two on both sides of a number between 2^-127 and 2^127.
struct Neighbours {
  int below = 0, above = 0;
  double lower = 0x1p-127;
};

Neighbours neighbours_of(double x) {
  Neighbours found;
  while (2 * found.lower <= x) {
    found.lower *= 2;
    ++found.below;
  }
  found.above = found.lower == x ? found.below : found.below + 1;
  return found;
}

TEST(CastPowers, RoundInEachMode) {
  std::vector<double> numbers;
  for (int exponent = -127; exponent < 127; ++exponent) {
    for (const double factor :
         {1.0, 1 + 0x1p-40, 1.25, 1.5 - 0x1p-40, 1.5, 1.5 + 0x1p-40, 1.75, 2 - 0x1p-40}) {
      numbers.push_back(std::ldexp(factor, exponent));
    }
  }
  std::vector<int> up, down, nearest;
  for (const double x : numbers) {
    const Neighbours codes = neighbours_of(x);
    up.push_back(codes.above);
    down.push_back(codes.below);
    nearest.push_back(x - codes.lower < 2 * codes.lower - x ? codes.below : codes.above);
  }
  const Tensor x = tensor<double>({static_cast<int64_t>(numbers.size())}, numbers);
  EXPECT_EQ(difference(cast(x, kPower), powers(up)), "") << "the default";
  const auto in_mode = [&](const char* mode) {
    return cast(x, kPower, {{"round_mode", std::string(mode)}});
  };
  EXPECT_EQ(difference(in_mode("up"), powers(up)), "");
  EXPECT_EQ(difference(in_mode("down"), powers(down)), "");
  EXPECT_EQ(difference(in_mode("nearest"), powers(nearest)), "");
}

TEST(CastPowers, TakeNegativeNumbersAsTooSmall) {
  const Tensor x = list({-kInf, -3, -0x1p-127F, -0.0F});
  EXPECT_EQ(difference(cast(x, kPower), powers({0, 0, 0, 0})), "");
  EXPECT_EQ(
      difference(cast(x, kPower, {{"saturate", int64_t{0}}}), powers({0xff, 0xff, 0xff, 0xff})),
      "");
}

TEST(CastPowers, ConvertIntegersAndText) {
  EXPECT_EQ(difference(cast(ints({1, 2, 3, 1000}), kPower), powers({127, 128, 129, 137})), "");
  EXPECT_EQ(difference(cast(powers({127, 130, 126, 255, 254}), EPH_ELEMENT_INT64),
                       ints({1, 8, 0, 0, INT64_MAX})),
            "");
  EXPECT_EQ(difference(cast(strings({2}, {"0.5", "NaN"}), kPower), powers({126, 255})), "");
  EXPECT_EQ(difference(cast(powers({0, 255}), EPH_ELEMENT_BOOL), bools({2}, {1, 1})), "");
}

TEST(CastPowers, RefuseAnotherMode) {
  EXPECT_THAT(run_node("Cast", 25, {list({1})},
                       {{"to", int64_t{kPower}}, {"round_mode", std::string("even")}}),
              Refuses(EPH_INVALID_ARGUMENT, "round_mode 'even' is unknown"));
}

TEST(CastPowers, TakeTheModeInCastLikeToo) {
  EXPECT_THAT(
      run_node("CastLike", 25, {list({3}), powers({0})}, {{"round_mode", std::string("down")}}),
      Gives(std::vector{powers({0x80})}));
}

// ---- int2 and uint2 -------------------------------------------------------------------------

// The elements of all bytes, the lowest bits of each byte first.
std::vector<float> elements_of_all_bytes(bool is_signed) {
  std::vector<float> elements;
  for (int byte = 0; byte < 256; ++byte) {
    for (const int divisor : {1, 4, 16, 64}) {
      const int code = byte / divisor % 4;
      elements.push_back(static_cast<float>(is_signed && code >= 2 ? code - 4 : code));
    }
  }
  return elements;
}

TEST(CastTwoBits, ReadsAndWritesAllBytes) {
  for (const int32_t type : {EPH_ELEMENT_UINT2, EPH_ELEMENT_INT2}) {
    const Tensor packed = coded(type, 1024, all_bytes());
    const Tensor elements = list(elements_of_all_bytes(type == EPH_ELEMENT_INT2));
    EXPECT_EQ(difference(cast(packed, EPH_ELEMENT_FLOAT), elements), "") << type;
    for (const int32_t wide : {EPH_ELEMENT_FLOAT, EPH_ELEMENT_FLOAT16, EPH_ELEMENT_INT8,
                               EPH_ELEMENT_INT64, EPH_ELEMENT_INT4, EPH_ELEMENT_STRING}) {
      EXPECT_EQ(difference(cast(cast(packed, wide), type), packed), "") << type << " " << wide;
    }
  }
}

TEST(CastTwoBits, PadsTheLastByteWithZeros) {
  for (int64_t count = 1; count <= 4; ++count) {
    const std::vector<int64_t> ones(static_cast<std::size_t>(count), -1);
    const int expected = (1 << 2 * count) - 1;
    EXPECT_EQ(cast(ints(ones), EPH_ELEMENT_UINT2).bytes,
              (std::vector<char>{static_cast<char>(expected)}));
  }
}

// Quarters from -20 to 20, and what they are in each type: rounded to even, the lowest bits kept.
TEST(CastPacked, RoundsFloatsToEvenAndKeepsTheLowestBits) {
  struct Integers {
    int32_t type;
    float numbers, low;
  };
  for (const Integers& integers :
       {Integers{EPH_ELEMENT_UINT2, 4, 0}, Integers{EPH_ELEMENT_INT2, 4, -2},
        Integers{EPH_ELEMENT_UINT4, 16, 0}, Integers{EPH_ELEMENT_INT4, 16, -8}}) {
    std::vector<float> numbers, expected;
    for (float x = -20; x <= 20; x += 0.25F) {
      float rounded = std::floor(x + 0.5F);
      if (x + 0.5F == rounded && std::fmod(rounded, 2.0F) != 0) rounded -= 1;  // a tie
      while (rounded < integers.low) rounded += integers.numbers;
      while (rounded >= integers.low + integers.numbers) rounded -= integers.numbers;
      numbers.push_back(x);
      expected.push_back(rounded);
    }
    for (const int32_t from : {EPH_ELEMENT_FLOAT, EPH_ELEMENT_FLOAT16, EPH_ELEMENT_DOUBLE}) {
      const Tensor x = cast(list(numbers), from);
      EXPECT_EQ(difference(cast(cast(x, integers.type), EPH_ELEMENT_FLOAT), list(expected)), "")
          << integers.type << " from " << from;
    }
  }
}

// ONNX's backend data since opset 24: test_cast_FLOAT_to_INT4, ..._UINT4 and ..._FLOAT4E2M1.
TEST(CastPacked, AgreesWithTheDataOfOnnx) {
  std::vector<float> numbers;
  for (float x = -9; x < 16; ++x) numbers.push_back(x);
  const std::vector<int> codes = {0x87, 0xa9, 0xcb, 0xed, 0x0f, 0x21, 0x43,
                                  0x65, 0x87, 0xa9, 0xcb, 0xed, 0x0f};
  for (const int32_t type : {EPH_ELEMENT_INT4, EPH_ELEMENT_UINT4}) {
    EXPECT_EQ(cast(list(numbers), type).bytes, coded(type, 25, codes).bytes) << type;
  }
  const Tensor x = list({0.48F, 0.25F, 1.05F, -3.5F, -8, 9, 1000000, 1e-7F, kNan, kInf, kInf, -kInf,
                         -4, 0.01F, -0.0F});
  const std::vector<int> float_codes = {0x01, 0xe2, 0x7f, 0x07, 0x78, 0xf7, 0x0e, 0x08};
  EXPECT_EQ(cast(x, EPH_ELEMENT_FLOAT4E2M1).bytes,
            coded(EPH_ELEMENT_FLOAT4E2M1, 15, float_codes).bytes);
}

TEST(CastPacked, TakesNanAsZero) {
  EXPECT_EQ(
      difference(cast(list({kNan, 1, kNan}), EPH_ELEMENT_INT2), coded(EPH_ELEMENT_INT2, 3, {0x04})),
      "");
}

TEST(CastPacked, SaturatedBeforeVersion24) {
  EXPECT_THAT(run_node("Cast", 23, {list({8, -9, 7.5F, 100})}, {{"to", int64_t{EPH_ELEMENT_INT4}}}),
              Gives(std::vector{coded(EPH_ELEMENT_INT4, 4, {0x87, 0x77})}));
  EXPECT_THAT(run_node("CastLike", 24, {list({8, -9}), coded(EPH_ELEMENT_INT4, 1, {0})}),
              Gives(std::vector{coded(EPH_ELEMENT_INT4, 2, {0x78})}));
}

// The table in ONNX's text on Cast 25.
TEST(CastFloat8, MakesTheLargestNumberOfInfinityInEveryTypeIfItSaturates) {
  struct Type {
    int32_t type;
    int largest;
  };
  for (const Type& type :
       {Type{EPH_ELEMENT_FLOAT8E4M3FN, 0x7e}, Type{EPH_ELEMENT_FLOAT8E4M3FNUZ, 0x7f},
        Type{EPH_ELEMENT_FLOAT8E5M2, 0x7b}, Type{EPH_ELEMENT_FLOAT8E5M2FNUZ, 0x7f}}) {
    EXPECT_EQ(difference(cast(list({kInf, -kInf}), type.type),
                         coded(type.type, 2, {type.largest, type.largest | 0x80})),
              "")
        << type.type;
  }
}

TEST(CastTwoBits, WrapsIntegers) {
  std::vector<int64_t> numbers, naturals, integers;
  for (int64_t x = -9; x <= 9; ++x) {
    numbers.push_back(x);
    naturals.push_back(((x % 4) + 4) % 4);
    integers.push_back(naturals.back() >= 2 ? naturals.back() - 4 : naturals.back());
  }
  const auto through = [&](int32_t type) {
    return cast(cast(ints(numbers), type), EPH_ELEMENT_INT64);
  };
  EXPECT_EQ(difference(through(EPH_ELEMENT_UINT2), ints(naturals)), "");
  EXPECT_EQ(difference(through(EPH_ELEMENT_INT2), ints(integers)), "");
}

}  // namespace
}  // namespace ephost::test::cast_opset24_25_test
