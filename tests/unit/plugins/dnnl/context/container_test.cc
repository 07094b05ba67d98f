#include "plugins/dnnl/context/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/tensor_memory.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::container_test {
namespace {

using ephost::test::AlignedBytes;
using ::testing::HasSubstr;

const BuildId kId = {"2.6.3+abc", "avx512_core", 4};

// One eltwise partition with constants that are bytes rather than tensors of it.
struct EltwisePartition {
  Recipe recipe;
  std::vector<PackedConstant> constants;
  std::vector<AlignedBytes> memory;

  explicit EltwisePartition(const std::vector<std::string>& contents) {
    test::SampleBuilder builder;
    builder.output(builder.add(Eltwise{}, {builder.input({2})}));
    recipe = builder.finish().recipe;
    for (const std::string& content : contents) {
      memory.emplace_back(content);
      PackedConstant constant;
      constant.tensor = static_cast<TensorId>(constants.size());
      constant.layout = "layout";
      constant.data = memory.back().data();
      constant.size = content.size();
      constants.push_back(constant);
    }
  }
  [[nodiscard]] StoredPartition stored(std::string_view name) const {
    return {name, &recipe, &constants};
  }
};

std::string written(const std::vector<StoredPartition>& partitions) {
  std::string bytes;
  write_container(partitions, kId, [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  });
  return bytes;
}

std::string content(const PackedConstant& constant) {
  return {static_cast<const char*>(constant.data), static_cast<std::size_t>(constant.size)};
}

std::string refusal(const std::string& bytes, const BuildId& id = kId, const char* name = "a") {
  const AlignedBytes payload(bytes);
  try {
    const Container container({static_cast<const char*>(payload.data()), payload.size()}, id);
    static_cast<void>(container.load(name));
    return "accepted";
  } catch (const Malformed& error) {
    return error.what();
  }
}

template <class T>
std::string with_number(std::string bytes, std::size_t offset, T value) {
  return bytes.replace(offset, sizeof(value), reinterpret_cast<const char*>(&value), sizeof(value));
}

TEST(Container, GivesBackPartitionsByNameWithConstantsInPlace) {
  const EltwisePartition one({"first", std::string(100, 'x')}), two({"second"});
  const AlignedBytes payload(written({one.stored("a"), two.stored("b")}));
  const std::string_view bytes(static_cast<const char*>(payload.data()), payload.size());
  const Container container(bytes, kId);
  EXPECT_EQ(container.threads(), 4);
  const LoadedPartition a = container.load("a"), b = container.load("b");
  ASSERT_EQ(a.constants.size(), 2U);
  EXPECT_EQ(content(a.constants[0]), "first");
  EXPECT_EQ(content(a.constants[1]), std::string(100, 'x'));
  EXPECT_EQ(a.constants[1].layout, "layout");
  ASSERT_EQ(b.constants.size(), 1U);
  EXPECT_EQ(content(b.constants[0]), "second");
  for (const PackedConstant& constant : a.constants) {
    const auto* data = static_cast<const char*>(constant.data);
    EXPECT_GE(data, bytes.data());
    EXPECT_LT(data, bytes.data() + bytes.size());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  }
}

TEST(Container, StoresEqualConstantsOnce) {
  const EltwisePartition once({std::string(5000, 'w')});
  const EltwisePartition twice({std::string(5000, 'w'), std::string(5000, 'w')});
  const EltwisePartition similar({std::string(5000, 'w') + "1", std::string(5000, 'w') + "2"});
  const std::size_t single = written({once.stored("a")}).size();
  EXPECT_EQ(written({twice.stored("a")}).size(), single);
  EXPECT_EQ(written({once.stored("a"), once.stored("b")}).size(), single);
  EXPECT_GT(written({similar.stored("a")}).size(), single + 5000);
}

TEST(Container, IsTheSameForTheSamePartitions) {
  const EltwisePartition sample({"one", "two"}), again({"one", "two"});
  EXPECT_EQ(written({sample.stored("a")}), written({again.stored("a")}));
}

TEST(Container, NamesWhatDiffersFromThisProcess) {
  const std::string bytes = written({EltwisePartition({"x"}).stored("a")});
  EXPECT_EQ(refusal(bytes), "accepted");
  EXPECT_THAT(refusal(bytes, {"2.7.0+abc", "avx512_core", 4}),
              HasSubstr("made with oneDNN 2.6.3+abc, and this is 2.7.0+abc"));
  EXPECT_THAT(refusal(bytes, {"2.6.3+abc", "avx2", 4}),
              HasSubstr("made for avx512_core, and this machine has avx2"));
  EXPECT_EQ(refusal(bytes, {"2.6.3+abc", "avx512_core", 7}), "accepted");
  EXPECT_THAT(refusal(bytes, kId, "b"), HasSubstr("holds no partition 'b'"));
}

TEST(Container, RefusesForeignAndNewerPayloads) {
  const std::string bytes = written({EltwisePartition({"x"}).stored("a")});
  EXPECT_THAT(refusal("ONNX" + bytes), HasSubstr("not a context of this provider"));
  EXPECT_THAT(refusal(""), HasSubstr("not a context of this provider"));
  EXPECT_THAT(refusal(with_number(bytes, 8, uint32_t{1})), HasSubstr("format revision 1"));
}

TEST(Container, RefusesATruncationAtEveryByte) {
  const std::string bytes = written({EltwisePartition({"some", std::string(80, 'y')}).stored("a")});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_NE(refusal(bytes.substr(0, size)), "accepted") << size;
  }
  EXPECT_THAT(refusal(bytes + "z"), HasSubstr("bytes instead of"));
}

TEST(Container, RefusesAnyChangedByteOfHeaderFieldsAndIndex) {
  const std::string bytes = written({EltwisePartition({"some"}).stored("a")});
  constexpr std::size_t kThreads = 48;
  uint64_t index_size = 0;
  std::memcpy(&index_size, bytes.data() + 24, sizeof(index_size));
  for (std::size_t at = 0; at < 192 + index_size; ++at) {
    if (at >= kThreads && at < kThreads + 2) continue;            // any number of threads is valid
    if (at >= 52 + kId.library.size() + 1 && at < 116) continue;  // after the end of the texts
    if (at >= 116 + kId.instruction_set.size() + 1 && at < 192) continue;
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    ASSERT_NE(refusal(damaged), "accepted") << at;
  }
}

TEST(Container, KnowsWhichPartitionsHoldForAnyNumberOfRows) {
  test::SampleBuilder builder;
  const TensorId x = builder.input({2, 4});
  builder.output(builder.add(MatMul{}, {x, builder.constant({4, 3})}));
  const Recipe product = builder.finish().recipe;
  const std::vector<PackedConstant> none;
  const EltwisePartition other({});
  const AlignedBytes payload(
      written({{"rows", &product, &none, true}, {"static", &product, &none}}));
  const Container container({static_cast<const char*>(payload.data()), payload.size()}, kId);
  EXPECT_TRUE(container.load("rows").has_open_rows);
  EXPECT_FALSE(container.load("static").has_open_rows);
  EXPECT_THAT(refusal(written({{"a", &other.recipe, &none, true}})),
              HasSubstr("a vector is not a tensor of rows"));
}

// The payload with another index and a matching checksum, as a forger would write it.
std::string resealed(std::string bytes, const std::function<void(std::string&)>& change) {
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 24, sizeof(size));
  std::string index = bytes.substr(192, size);
  change(index);
  bytes.replace(192, size, index);
  uint64_t checksum = 0xcbf29ce484222325 ^ index.size();
  for (std::size_t at = 0; at < index.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, index.data() + at, std::min<std::size_t>(8, index.size() - at));
    checksum = (checksum ^ word) * 0x100000001b3;
    checksum ^= checksum >> 32;
  }
  return with_number(bytes, 32, checksum);
}

TEST(Container, ChecksOffsetsOfConstantsBehindValidChecksums) {
  const std::string bytes = written({EltwisePartition({"some"}).stored("a")});
  const auto with_blob = [&](uint64_t offset, uint64_t size) {
    return refusal(resealed(bytes, [&](std::string& index) {
      index = with_number(with_number(index, 4, offset), 12, size);
    }));
  };
  EXPECT_EQ(with_blob(0, 4), "accepted");
  EXPECT_THAT(with_blob(0, 5), HasSubstr("outside of the payload"));
  EXPECT_THAT(with_blob(64, 1), HasSubstr("outside of the payload"));
  EXPECT_THAT(with_blob(1, 1), HasSubstr("outside of the payload"));
  EXPECT_THAT(with_blob(UINT64_MAX - 63, 128), HasSubstr("outside of the payload"));
  EXPECT_THAT(with_blob(0, UINT64_MAX), HasSubstr("outside of the payload"));
}

TEST(Container, SurvivesAnyByteBehindValidChecksums) {
  const std::string bytes = written({EltwisePartition({"some", "more"}).stored("a")});
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 24, sizeof(size));
  for (std::size_t at = 0; at < size; ++at) {
    for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
      static_cast<void>(refusal(resealed(bytes, [&](std::string& index) { index[at] = value; })));
    }
  }
}

}  // namespace
}  // namespace ephost_dnnl::container_test
