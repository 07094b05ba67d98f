#include "host/context/store/cache_entry.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::cache_entry_test {
namespace {

using test::IsOk;

CacheEntry sample_entry() {
  return {.key_text = testing::key_of("a").text,
          .files = {{"model_ctx.onnx", testing::checksum_of_text("model")},
                    {"name with\nnewline", testing::checksum_of_text("binary")}},
          .partitions = {{"first", 3}, {"the second", 17}},
          .contexts = {{"first", std::string(64, '0')}, {"the second", std::string(64, 'f')}},
          .model_name = "my model.onnx"};
}

TEST(CacheEntry, ComesBackAsItWasWritten) {
  const Result<CacheEntry> read = parse_cache_entry(to_text(sample_entry()));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->key_text, sample_entry().key_text);
  EXPECT_EQ(read->files, sample_entry().files);
  EXPECT_EQ(read->partitions, sample_entry().partitions);
  EXPECT_EQ(read->contexts, sample_entry().contexts);
  EXPECT_EQ(read->model_name, "my model.onnx");
}

TEST(CacheEntry, IsRefusedWhereverItIsCutOff) {
  const std::string text = to_text(sample_entry());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse_cache_entry(text.substr(0, size)).status().code(), StatusCode::kInvalidGraph)
        << size;
  }
  EXPECT_FALSE(parse_cache_entry(text + "\n").ok());
}

TEST(CacheEntry, IsRefusedWhereverABitIsFlipped) {
  for (size_t at = 0; at < to_text(sample_entry()).size(); ++at) {
    std::string text = to_text(sample_entry());
    text[at] ^= 1;
    EXPECT_FALSE(parse_cache_entry(text).ok()) << at;
  }
}

TEST(CacheEntry, NeedNotStateWhatContextsWereMadeFrom) {
  CacheEntry entry = sample_entry();
  entry.contexts.clear();
  const Result<CacheEntry> read = parse_cache_entry(to_text(entry));
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->contexts.empty());
}

TEST(CacheEntry, IsRefusedWithoutTheChecksumOfAFileOrTheNodesOfAPartition) {
  for (const auto& [name, value] : TextPairs{{"file", "no checksum"},
                                             {"file", "xxh3:0 model_ctx.onnx"},
                                             {"file", ""},
                                             {"partition", "17"},
                                             {"partition", "-1 name"},
                                             {"context", std::string(64, 'a')},
                                             {"context", std::string(63, 'a') + " name"},
                                             {"context", std::string(64, 'A') + " name"}}) {
    std::string text = sample_entry().key_text + "\n";
    append_line(text, name, value);
    append_line(text, "checksum", cache_key_id(text));
    EXPECT_EQ(parse_cache_entry(text).status().code(), StatusCode::kInvalidGraph) << value;
  }
}

}  // namespace
}  // namespace ephost::context::cache_entry_test
