#include "host/bridge/extensions/stream.h"

#include <gmock/gmock.h>

#include "tests/unit/bridge/extensions/toy_device.h"

namespace ephost::bridge::stream_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using toy::DeviceTest;
using toy::plugin;
using toy::record;
using toy::table;
using toy::table_with_streams;

TEST_F(DeviceTest, RefusesATableWithSomeFunctionsOfStreams) {
  table_ = table_with_streams();
  table_.notify = nullptr;
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"create_stream\" without \"notify\", and the two go together"));
  table_ = table();
  table_.record = &record;
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"record\" without \"create_stream\", and the two go together"));
  table_ = table_with_streams();
  table_.destroy_capture = [](eph_device_handle*, eph_capture*) noexcept {};
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"destroy_capture\" without \"begin_capture\", and the two go "
                        "together"));
}

TEST_F(DeviceTest, SaysWhatAStreamFailedWith) {
  table_ = table_with_streams();
  const auto device = open_one();
  ASSERT_THAT(device, IsOk());
  ASSERT_TRUE((*device)->has_streams());
  plugin().gives_null = true;
  EXPECT_THAT(refusal(Stream::create(*device, EPH_STREAM_COMPUTE).status()),
              HasSubstr("gave no stream"));
  plugin().gives_null = false;
  const auto stream = Stream::create(*device, EPH_STREAM_COMPUTE);
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(*(*stream)->record(), 5U);
  EXPECT_EQ(*(*stream)->query(), 5U);
  EXPECT_THAT((*stream)->wait_host(5, UINT64_MAX).status, IsOk());
  EXPECT_FALSE((*stream)->wait_host(5, 0).is_over);

  plugin().gives_null = true;
  EXPECT_THAT(refusal((*stream)->record().status()), HasSubstr("recorded point 0 of a stream"));
  plugin().code = EPH_ENGINE_ERROR;
  const StreamWait failed = (*stream)->wait_host(5, UINT64_MAX);
  EXPECT_TRUE(failed.is_over);
  EXPECT_EQ(failed.step, 3U);
  EXPECT_EQ(failed.status.message(), "ToyExecutionProvider failed working on a stream: hung");
  // A kernel's own time limit has passed: the stream has failed, not the wait.
  plugin().code = EPH_DEADLINE_EXCEEDED;
  const StreamWait late = (*stream)->wait_host(5, 0);
  EXPECT_TRUE(late.is_over);
  EXPECT_EQ(late.step, 3U);
  EXPECT_EQ(late.status.code(), StatusCode::kDeadlineExceeded);
  plugin().code = EPH_ENGINE_ERROR;
  char to = 0;
  EXPECT_EQ((*stream)->enqueue_copy(1, &to, kHostMemory, "a", 1, 0, "a test").message(),
            "ToyExecutionProvider failed enqueuing a copy of a test (1 bytes) from host memory to "
            "\"sram\": bus error");
}

}  // namespace
}  // namespace ephost::bridge::stream_test
