#include "host/session/tools/place_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::session::place_buffers_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// b lives beside both of the others, which do not meet.
constexpr std::string_view kCsv =
    "id,lower,upper,size\n"
    "a,0,2,4\n"
    "b,1,4,8\n"
    "c,2,5,4\n";

TEST(PublicPlaceBuffers, SharesBytesBetweenBuffersThatDoNotMeet) {
  const auto requests = parse_buffer_requests(kCsv, "three.csv");
  ASSERT_THAT(requests, IsOk());
  const auto placement = place_buffers(*requests);
  ASSERT_THAT(placement, IsOk());
  EXPECT_EQ(placement->peak_bytes, 12U);
  EXPECT_EQ(placement->lower_bound_bytes, 12U);
  EXPECT_TRUE(placement->proved_optimal);
  EXPECT_EQ(placement->offsets[0], placement->offsets[2]);
}

TEST(PublicPlaceBuffers, AlignsEveryOffset) {
  const auto requests = parse_buffer_requests(kCsv, "three.csv");
  const auto placement = place_buffers(*requests, {.alignment = 16});
  ASSERT_THAT(placement, IsOk());
  for (const uint64_t offset : placement->offsets) EXPECT_EQ(offset % 16, 0U);
}

TEST(PublicPlaceBuffers, WritesTheOffsetsBesideTheRequests) {
  const auto requests = parse_buffer_requests("id,lower,upper,size\nx,0,1,3\n", "one.csv");
  EXPECT_EQ(to_csv(*requests, *place_buffers(*requests)),
            "id,lower,upper,size,offset\nx,0,1,3,0\n");
}

TEST(PublicPlaceBuffers, NamesTheFileWithTheMistake) {
  const auto requests = parse_buffer_requests("id,lower,upper,size\nx,2,1,3\n", "bad.csv");
  ASSERT_FALSE(requests.ok());
  EXPECT_EQ(requests.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(requests.status().message(), HasSubstr("bad.csv:2"));
}

}  // namespace
}  // namespace ephost::session::place_buffers_test
