#include "host/worker/protocol/serialized.h"

#include <gmock/gmock.h>

#include "host/worker/protocol/messages.pb.h"
#include "tests/support/status_matchers.h"

namespace ephost::worker::serialized_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

TEST(Serialized, MayHaveAsManyBytesAsStated) {
  wire::Answer answer;
  answer.set_message(std::string(100, 'a'));
  const size_t size = answer.ByteSizeLong();
  const auto bytes = serialized(answer, "an answer", size);
  ASSERT_THAT(bytes, IsOk());
  wire::Answer read;
  ASSERT_TRUE(read.ParseFromString(*bytes));
  EXPECT_EQ(read.message(), answer.message());
}

TEST(Serialized, IsAFailureRatherThanAnEmptyMessage) {
  wire::Answer answer;
  answer.set_message(std::string(100, 'a'));
  const size_t size = answer.ByteSizeLong();
  const auto bytes = serialized(answer, "an answer", size - 1);
  EXPECT_EQ(bytes.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(bytes.status().message(),
              HasSubstr("an answer has " + std::to_string(size) +
                        " bytes; between host and worker it may have " + std::to_string(size - 1)));
}

}  // namespace
}  // namespace ephost::worker::serialized_test
