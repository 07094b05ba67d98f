#include "plugins/dnnl/executor/own_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "plugins/dnnl/library/guarded_memory.h"
#include "plugins/dnnl/recipe/type_rules.h"
#include "tests/unit/plugins/dnnl/net.h"

namespace ephost_dnnl::own_kernel_test {
namespace {

// The text of QuantizeLinear, in one line.
int64_t quantized(float x, const Conversion& op) {
  const IntegerRange range = range_of(op.type);
  if (std::isnan(x)) return op.output_zero_point;
  const double rounded = std::nearbyint(x / op.output_scale);
  return static_cast<int64_t>(std::clamp(rounded + static_cast<double>(op.output_zero_point),
                                         static_cast<double>(range.least),
                                         static_cast<double>(range.greatest)));
}

template <class Byte, class From>
void expect_text(const Conversion& op, ElementType from, const std::vector<From>& elements,
                 const std::vector<float>& floats) {
  const auto kernel = make_quantization(op, from, std::ssize(elements));
  std::vector<Byte> result(elements.size());
  for (const auto side : {GuardedMemory::Side::kBehind, GuardedMemory::Side::kBefore}) {
    const GuardedMemory memory({elements.size() * sizeof(From), result.size()}, side);
    std::memcpy(memory.data(0), elements.data(), elements.size() * sizeof(From));
    const void* const inputs[] = {memory.data(0)};
    kernel->run(inputs, memory.data(1));
    EXPECT_FALSE(memory.touch());
    std::memcpy(result.data(), memory.data(1), result.size());
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    ASSERT_EQ(int64_t{result[i]}, quantized(floats[i], op))
        << floats[i] << " / " << op.output_scale << " + " << op.output_zero_point;
  }
}

const float kScales[] = {0.02F, 0.04F, 0.1F, 1, 0.5F, 3.7e-3F, 1e-20F, 1e20F};

TEST(OwnKernel, QuantisesFloatsAsTheTextSays) {
  for (const float scale : kScales) {
    std::vector<float> floats = {0,
                                 -0.0F,
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::max()};
    for (int i = -600; i <= 600; ++i) {  // steps, ties, and their neighbours
      const float at = static_cast<float>(i) / 2 * scale;
      floats.insert(floats.end(), {at, std::nextafter(at, 1e30F), std::nextafter(at, -1e30F)});
    }
    for (const int64_t zero_point : {0, 1, 7, 127}) {
      const Conversion u8 = {ElementType::kU8, 1, scale, 0, zero_point};
      const Conversion s8 = {ElementType::kS8, 1, scale, 0, -zero_point};
      expect_text<uint8_t>(u8, ElementType::kF32, floats, floats);
      expect_text<int8_t>(s8, ElementType::kF32, floats, floats);
    }
  }
}

TEST(OwnKernel, RequantisesEveryByteAsTheTextSays) {
  std::vector<uint8_t> bytes(40000);
  std::vector<float> floats(bytes.size());
  for (const float scale : kScales) {
    const Conversion op = {ElementType::kS8, 0.02F, scale, 3, -5};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(i);
      floats[i] = static_cast<float>(static_cast<int>(bytes[i]) - 3) * 0.02F;
    }
    expect_text<int8_t>(op, ElementType::kU8, bytes, floats);
  }
}

// Each operator by itself, in float.
TEST(OwnKernel, GivesWhatTheOperatorsOfAGraphGiveOneByOne) {
  ephost::test::Net net;
  std::vector<float> data;
  for (int i = -18; i < 18; ++i) data.push_back(static_cast<float>(i) * 0.02F);
  const uint32_t x = net.round_trip(net.input_of({1, 4, 3, 3}, data), 0.02F, 0, EPH_ELEMENT_INT8);
  // The provider takes no graph of cheap operations alone; this one moves nothing.
  const uint32_t pooled = net.add("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
  const uint32_t y = net.add("Relu", {net.add("LeakyRelu", {pooled}, {{"alpha", 0.1F}})});
  net.output(net.round_trip(y, 0.04F, 0, EPH_ELEMENT_INT8));
  ephost::test::ProviderSession session(1);
  const auto partitions = session.compile(net.graph());
  const std::vector<float> result = partitions.at(0)->run(net)[0];
  for (std::size_t i = 0; i < data.size(); ++i) {
    const float dequantized = std::nearbyint(data[i] / 0.02F) * 0.02F;
    const float expected = std::nearbyint(std::max(dequantized, 0.0F) / 0.04F) * 0.04F;
    EXPECT_EQ(result[i], expected) << data[i];
  }
}

}  // namespace
}  // namespace ephost_dnnl::own_kernel_test
