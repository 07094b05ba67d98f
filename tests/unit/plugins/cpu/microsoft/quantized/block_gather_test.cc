// GatherBlockQuantized, QuantizeLinear and DequantizeLinear of com.microsoft, against plain
// arithmetic in double.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

namespace ephost::test::block_gather_test {
namespace {

// Numbers of 4 bits, two in a byte, each row beginning with a byte.
std::vector<uint8_t> pack_rows(const std::vector<int>& numbers, std::size_t row) {
  std::vector<uint8_t> bytes;
  for (std::size_t first = 0; first < numbers.size(); first += row) {
    for (std::size_t i = 0; i < row; i += 2) {
      const int high = i + 1 < row ? numbers[first + i + 1] : 0;
      bytes.push_back(static_cast<uint8_t>((numbers[first + i] & 15) | (high & 15) << 4));
    }
  }
  return bytes;
}

std::vector<int> random_numbers(std::size_t count, int low, int high, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> draw(low, high);
  std::vector<int> numbers(count);
  for (int& number : numbers) number = draw(engine);
  return numbers;
}

Tensor packed_tensor(int32_t type, const Shape& shape, const std::vector<int>& numbers,
                     std::size_t row) {
  const std::vector<uint8_t> bytes = pack_rows(numbers, row);
  return {type, shape, {bytes.begin(), bytes.end()}, {}};
}

// Rows 5, -1 and 0 of [6, 40] numbers in blocks of 16, which is three for each row.
std::vector<double> expected_rows(const std::vector<int>& numbers, const Tensor& scales,
                                  const std::vector<int>& zeros) {
  std::vector<double> y;
  for (const std::size_t row : {5U, 5U, 0U}) {
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t block = row * 3 + i / 16;
      y.push_back((numbers[row * 40 + i] - zeros[block]) * as_doubles(scales)[block]);
    }
  }
  return y;
}

const Tensor kRows = tensor<int64_t>({3}, {5, -1, 0});

TEST(GatherBlockQuantized, ReadsBlocksOfPackedBytes) {
  const std::vector<int> numbers = random_numbers(240, 0, 15, 1);
  const std::vector<int> zeros = random_numbers(18, 0, 15, 2);
  const Tensor scales = random_floats({6, 3}, 3);
  const Tensor codes = packed_tensor(EPH_ELEMENT_UINT8, {6, 20}, numbers, 40);
  const Attributes attributes = {{"block_size", int64_t{16}}};
  const Tensor packed_zeros = packed_tensor(EPH_ELEMENT_UINT8, {6, 2}, zeros, 3);
  EXPECT_EQ(difference(run_microsoft_one("GatherBlockQuantized",
                                         {codes, kRows, scales, packed_zeros}, attributes),
                       from_doubles({3, 40}, expected_rows(numbers, scales, zeros))),
            "");
  EXPECT_EQ(
      difference(run_microsoft_one("GatherBlockQuantized", {codes, kRows, scales}, attributes),
                 from_doubles({3, 40}, expected_rows(numbers, scales, std::vector<int>(18, 8)))),
      "");
}

TEST(GatherBlockQuantized, ReadsNumbersOf4And8Bits) {
  const Tensor scales = random_floats({6, 3}, 3);
  const std::vector<int> nibbles = random_numbers(240, -8, 7, 4);
  const std::vector<int> zeros = random_numbers(18, -8, 7, 5);
  EXPECT_EQ(
      difference(run_microsoft_one("GatherBlockQuantized",
                                   {packed_tensor(EPH_ELEMENT_INT4, {6, 40}, nibbles, 40), kRows,
                                    scales, packed_tensor(EPH_ELEMENT_INT4, {6, 3}, zeros, 18)},
                                   {{"block_size", int64_t{16}}}),
                 from_doubles({3, 40}, expected_rows(nibbles, scales, zeros))),
      "");
  const std::vector<int> numbers = random_numbers(240, 0, 255, 6);
  const std::vector<uint8_t> bytes(numbers.begin(), numbers.end());
  EXPECT_EQ(
      difference(run_microsoft_one("GatherBlockQuantized",
                                   {tensor<uint8_t>({6, 40}, bytes), kRows, scales},
                                   {{"block_size", int64_t{16}}, {"bits", int64_t{8}}}),
                 from_doubles({3, 40}, expected_rows(numbers, scales, std::vector<int>(18, 128)))),
      "");
}

// Gathered along the second dimension, in blocks along the first: 20 rows are two blocks.
TEST(GatherBlockQuantized, GathersAndQuantizesAlongAnyDimension) {
  const std::vector<int> numbers = random_numbers(120, 0, 15, 7);
  const Tensor scales = random_floats({2, 3, 2}, 8);
  std::vector<double> expected;
  for (std::size_t row = 0; row < 20; ++row) {
    for (const std::size_t column : {2U, 0U}) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t scale = (row / 16 * 3 + column) * 2 + i;
        expected.push_back(numbers[(row * 3 + column) * 2 + i] * as_doubles(scales)[scale]);
      }
    }
  }
  EXPECT_EQ(
      difference(run_microsoft_one("GatherBlockQuantized",
                                   {packed_tensor(EPH_ELEMENT_UINT4, {20, 3, 2}, numbers, 120),
                                    tensor<int32_t>({1, 2}, {2, 0}), scales},
                                   {{"block_size", int64_t{16}},
                                    {"gather_axis", int64_t{1}},
                                    {"quantize_axis", int64_t{0}}}),
                 from_doubles({20, 1, 2, 2}, expected)),
      "");
}

TEST(GatherBlockQuantized, RefusesWhatDoesNotFit) {
  const Tensor codes = tensor<uint8_t>({2, 16}, std::vector<uint8_t>(32));
  const Tensor scales = random_floats({2, 1}, 1);
  const Tensor index = tensor<int64_t>({1}, {0});
  const auto run = [&](const Arguments& inputs, const Attributes& attributes) {
    return run_unchecked("GatherBlockQuantized", inputs, attributes);
  };
  EXPECT_THAT(run({codes, index, scales}, {{"bits", int64_t{3}}}),
              Refuses(EPH_INVALID_ARGUMENT, "bits=3"));
  EXPECT_THAT(run({codes, index, scales}, {{"block_size", int64_t{24}}}),
              Refuses(EPH_INVALID_ARGUMENT, "block_size=24"));
  EXPECT_THAT(run({codes, index, scales}, {{"block_size", int64_t{16}}}),
              Refuses(EPH_INVALID_ARGUMENT, "expected [2,2]"));
  EXPECT_THAT(run({codes, tensor<int64_t>({1}, {2}), scales}, {{"block_size", int64_t{32}}}),
              Refuses(EPH_INVALID_ARGUMENT, "out of range"));
}

TEST(MicrosoftQuantizeLinear, TakesTypesOf16And4Bits) {
  const Tensor x = random_floats({2, 50}, 1, -300, 300);
  const Tensor scale = scalar(0.5F);
  const Tensor zero = scalar_of<uint16_t>(400);
  const Tensor codes = run_microsoft_one("QuantizeLinear", {x, scale, zero});
  std::vector<uint16_t> expected;
  std::vector<double> back;
  for (const double value : as_doubles(x)) {
    const double code = std::clamp(std::nearbyint(value / 0.5) + 400, 0.0, 65535.0);
    expected.push_back(static_cast<uint16_t>(code));
    back.push_back((code - 400) * 0.5);
  }
  EXPECT_EQ(difference(codes, tensor<uint16_t>({2, 50}, expected)), "");
  EXPECT_EQ(difference(run_microsoft_one("DequantizeLinear", {codes, scale, zero}),
                       from_doubles({2, 50}, back)),
            "");
  const std::vector<int> nibbles = random_numbers(8, -8, 7, 2);
  std::vector<float> values;
  for (std::size_t i = 0; i < 8; ++i) {
    values.push_back(static_cast<float>(nibbles[i] - (i < 4 ? 1 : -2)) * (i < 4 ? 0.5F : 2.0F));
  }
  const Tensor packed = packed_tensor(EPH_ELEMENT_INT4, {2, 4}, nibbles, 8);
  const Tensor scales = floats({2}, {0.5F, 2});
  const Tensor zeros = packed_tensor(EPH_ELEMENT_INT4, {2}, {1, -2}, 2);
  const Attributes rows = {{"axis", int64_t{0}}};
  EXPECT_EQ(difference(run_microsoft_one("DequantizeLinear", {packed, scales, zeros}, rows),
                       floats({2, 4}, values)),
            "");
  EXPECT_EQ(
      run_microsoft_one("QuantizeLinear", {floats({2, 4}, values), scales, zeros}, rows).bytes,
      packed.bytes);
}

}  // namespace
}  // namespace ephost::test::block_gather_test
