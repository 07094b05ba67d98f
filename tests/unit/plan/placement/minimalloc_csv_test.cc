#include "host/plan/placement/minimalloc_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::plan::minimalloc_csv_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;

BufferTable read(std::string_view text) {
  auto table = read_minimalloc_csv(text, "problem.csv");
  EXPECT_THAT(table, IsOk());
  return table.ok() ? *std::move(table) : BufferTable();
}

std::string refusal(std::string_view text) {
  const auto table = read_minimalloc_csv(text, "problem.csv");
  EXPECT_FALSE(table.ok());
  if (table.ok()) return {};
  EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument);
  return table.status().message();
}

TEST(MinimallocCsv, ReadsBuffers) {
  const BufferTable table = read("id,lower,upper,size\n0,995328,1000448,656384\nb,0,1,0\n");
  EXPECT_THAT(table.ids, ElementsAre("0", "b"));
  ASSERT_EQ(table.buffers.size(), 2U);
  EXPECT_EQ(table.buffers[0].lower, 995328U);
  EXPECT_EQ(table.buffers[0].upper, 1000448U);
  EXPECT_EQ(table.buffers[0].size, 656384U);
  EXPECT_TRUE(table.offsets.empty());
}

TEST(MinimallocCsv, TakesColumnsInAnyOrderWithOffsets) {
  const BufferTable table = read("size,offset,id,upper,lower\n5,64,x,9,3\n");
  EXPECT_THAT(table.ids, ElementsAre("x"));
  EXPECT_EQ(table.buffers[0].lower, 3U);
  EXPECT_EQ(table.buffers[0].upper, 9U);
  EXPECT_EQ(table.buffers[0].size, 5U);
  EXPECT_THAT(table.offsets, ElementsAre(64U));
}

TEST(MinimallocCsv, TakesBlanksEmptyLinesAndCarriageReturns) {
  const BufferTable table = read("id, lower ,upper,size\r\n\r\n a , 1,2 ,3\r\n\n");
  EXPECT_THAT(table.ids, ElementsAre("a"));
  EXPECT_EQ(table.buffers[0].size, 3U);
}

TEST(MinimallocCsv, AcceptsALastLineWithoutLineFeedAndATableWithoutRows) {
  EXPECT_EQ(read("id,lower,upper,size\na,0,1,2").buffers.size(), 1U);
  EXPECT_TRUE(read("id,lower,upper,size").buffers.empty());
}

TEST(MinimallocCsv, WritesWhatItReads) {
  const BufferTable table = read("id,lower,upper,size\na,0,1,2\nb,3,4,18446744073709551615\n");
  const std::vector<uint64_t> offsets = {7, 0};
  const std::string text = write_minimalloc_csv(table, offsets);
  EXPECT_EQ(text, "id,lower,upper,size,offset\na,0,1,2,7\nb,3,4,18446744073709551615,0\n");
  EXPECT_EQ(read(text).offsets, offsets);
}

TEST(MinimallocCsv, RefusesAnEmptyText) {
  EXPECT_EQ(refusal("\n"),
            "problem.csv:1:1: the text is empty; the first line must be `id,lower,upper,size`");
}

TEST(MinimallocCsv, RefusesUnknownDoubleAndMissingColumns) {
  EXPECT_EQ(
      refusal("id,lower,upper,width\n"),
      "problem.csv:1:16: unknown column \"width\"; the columns are id, lower, upper, size and "
      "offset");
  EXPECT_EQ(refusal("id,lower,upper,id,size\n"), "problem.csv:1:16: column \"id\" is listed twice");
  EXPECT_EQ(refusal("id,lower,upper\n"), "problem.csv:1:1: column \"size\" is missing");
}

TEST(MinimallocCsv, RefusesALineWithAnotherNumberOfFields) {
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1,2\nb,0,1\n"),
            "problem.csv:3:5: the line has 3 fields, but the header has 4");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1,2,3\n"),
            "problem.csv:2:9: the line has 5 fields, but the header has 4");
}

TEST(MinimallocCsv, RefusesValuesThatAreNotNumbersOrAreTooLarge) {
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,1, 2x\n"),
            "problem.csv:2:8: size is \"2x\"; it must be an integer from 0 to "
            "18446744073709551615");
  EXPECT_EQ(refusal("id,lower,upper,size\na,-1,1,2\n"),
            "problem.csv:2:3: lower is \"-1\"; it must be an integer from 0 to 4294967295");
  EXPECT_EQ(refusal("id,lower,upper,size\na,0,4294967296,2\n"),
            "problem.csv:2:5: upper is \"4294967296\"; it must be an integer from 0 to 4294967295");
  EXPECT_EQ(refusal("id,lower,upper,size\na,,1,2\n"),
            "problem.csv:2:3: lower is \"\"; it must be an integer from 0 to 4294967295");
}

TEST(MinimallocCsv, RefusesABufferThatNeverLives) {
  EXPECT_EQ(refusal("id,lower,upper,size\na,3,3,2\n"),
            "problem.csv:2:5: upper 3 must be above lower 3");
}

TEST(MinimallocCsv, RefusesEmptyAndRepeatedIds) {
  EXPECT_EQ(refusal("id,lower,upper,size\n,3,4,2\n"), "problem.csv:2:1: the id is empty");
  EXPECT_EQ(refusal("id,lower,upper,size\na,3,4,2\nb,3,4,2\na,3,4,2\n"),
            "problem.csv:4:1: id \"a\" is already used");
}

}  // namespace
}  // namespace ephost::plan::minimalloc_csv_test
