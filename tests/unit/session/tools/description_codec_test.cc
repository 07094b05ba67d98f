#include "host/session/tools/description_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ephost::session::description_codec_test {
namespace {

PluginDescription sample() {
  PluginDescription description;
  description.abi_minor = 3;
  description.devices.push_back({.provider = "AcmeExecutionProvider",
                                 .id = "npu0",
                                 .type = "npu",
                                 .vendor_id = 0x10de,
                                 .memory_bytes = uint64_t{1} << 40,
                                 .is_virtual = true,
                                 .metadata = {{"Discrete", "1"}, {"", ""}}});
  description.operators.push_back(
      {.op_type = "Swirl",
       .domain = "com.acme",
       .since_version = -1,
       .infers_types = true,
       .inputs = {{.name = "x", .element_types = {ElementType::kFloat, ElementType::kInt64}}},
       .attributes = {{.name = "axis", .is_required = true, .default_value = "0"}, {}}});
  description.compiles = true;
  description.kernels.push_back(
      {.op_type = "Relu", .since_version = 6, .until_version = 12, .types = {{.slot = 7}}});
  description.kernels.push_back({.op_type = "Relu", .since_version = 13});
  description.extensions = {"ephost.run/1"};
  description.isolation = "sandbox";
  description.sandbox_gaps = {"the kernel has no Landlock"};
  description.recorded_time = 1'800'000'000;
  return description;
}

TEST(DescriptionCodec, ReadsWhatItWrites) {
  const std::string bytes = encode_description(sample());
  const auto decoded = decode_description(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->abi_minor, 3);
  ASSERT_EQ(decoded->devices.size(), 1);
  EXPECT_EQ(decoded->devices[0].id, "npu0");
  EXPECT_EQ(decoded->devices[0].vendor_id, 0x10de);
  EXPECT_EQ(decoded->devices[0].memory_bytes, uint64_t{1} << 40);
  EXPECT_TRUE(decoded->devices[0].is_virtual);
  EXPECT_EQ(decoded->devices[0].metadata, sample().devices[0].metadata);
  ASSERT_EQ(decoded->operators.size(), 1);
  EXPECT_EQ(decoded->operators[0].since_version, -1);
  EXPECT_EQ(decoded->operators[0].inputs[0].element_types,
            (std::vector{ElementType::kFloat, ElementType::kInt64}));
  EXPECT_EQ(decoded->operators[0].attributes[0].default_value, "0");
  EXPECT_EQ(decoded->operators[0].attributes[1].default_value, std::nullopt);
  ASSERT_EQ(decoded->kernels.size(), 2);
  EXPECT_EQ(decoded->kernels[0].until_version, 12);
  EXPECT_EQ(decoded->kernels[0].types[0].slot, 7);
  EXPECT_EQ(decoded->kernels[1].until_version, std::nullopt);
  EXPECT_EQ(decoded->extensions, sample().extensions);
  EXPECT_EQ(decoded->sandbox_gaps, sample().sandbox_gaps);
  EXPECT_EQ(decoded->recorded_time, 1'800'000'000);
  // Every other field, too.
  EXPECT_EQ(encode_description(*decoded), bytes);
}

TEST(DescriptionCodec, RefusesBytesThatAreCutOffOrTooMany) {
  const std::string bytes = encode_description(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_description(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_description(bytes + '\0'));
}

TEST(DescriptionCodec, RefusesNumbersThatDoNotFit) {
  std::string bytes = encode_description({});
  bytes[4] = 1;  // of abi_minor, which has 32 bits
  EXPECT_FALSE(decode_description(bytes));
  bytes = encode_description({.extensions = {"x"}});
  const size_t at = bytes.find('x');
  ASSERT_NE(at, std::string::npos);
  bytes[at - 1] = '\x7f';  // the size of a text, of nearly 2^63 bytes
  EXPECT_FALSE(decode_description(bytes));
}

TEST(DescriptionCodec, ReadsAnyBytesSafely) {
  const std::string good = encode_description(sample());
  std::mt19937 random(4711);
  size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (uint32_t changes = random() % 4 + 1; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto decoded = decode_description(bytes);
    if (!decoded) continue;
    ++read;
    ASSERT_EQ(encode_description(*decoded), bytes);
  }
  EXPECT_GT(read, 0);  // those whose texts changed
}

}  // namespace
}  // namespace ephost::session::description_codec_test
