#include "host/bridge/collect/context_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/bridge/error_sink.h"
#include "tests/unit/bridge/collect/recording_sink.h"

namespace ephost::bridge::context_collector_test {
namespace {

using ::testing::HasSubstr;
using testing::RecordingSink;

class ContextCollectorTest : public ::testing::Test {
 protected:
  int32_t begin_payload(uint32_t* out) {
    return writer_.api->begin_payload(&writer_, EPH_STRING("mine"), out, &error_);
  }
  int32_t write(const void* data, uint64_t size) {
    return writer_.api->write(&writer_, 0, data, size, &error_);
  }
  int32_t add_node(uint32_t computation) {
    const eph_context_node node = {sizeof(eph_context_node), computation};
    return writer_.api->add_node(&writer_, &node, &error_);
  }

  RecordingSink sink_;
  ContextCollector writer_{"x", sink_, 2};
  ErrorSink error_;
};

TEST_F(ContextCollectorTest, PassesPayloadsAndNodesOn) {
  uint32_t payload = EPH_NONE;
  EXPECT_EQ(begin_payload(&payload), EPH_OK);
  EXPECT_EQ(payload, 0U);
  EXPECT_EQ(write("abc", 3), EPH_OK);
  EXPECT_EQ(add_node(1), EPH_OK);
  EXPECT_EQ(sink_.compatibilities, std::vector<std::string>{"mine"});
  EXPECT_EQ(sink_.size, 3U);
  EXPECT_EQ(sink_.nodes, std::vector<uint32_t>{1});
}

TEST_F(ContextCollectorTest, IsCompleteWithANodeForEachComputation) {
  EXPECT_FALSE(writer_.is_complete());
  EXPECT_EQ(add_node(1), EPH_OK);
  EXPECT_FALSE(writer_.is_complete());
  EXPECT_EQ(add_node(0), EPH_OK);
  EXPECT_TRUE(writer_.is_complete());
}

TEST_F(ContextCollectorTest, RefusesACompatibilityTextThatIsNotText) {
  uint32_t payload = 0;
  const std::string bytes = "\xff";
  EXPECT_EQ(writer_.api->begin_payload(&writer_, {bytes.data(), 1}, &payload, &error_),
            EPH_EP_FAIL);
  EXPECT_EQ(payload, EPH_NONE);
  EXPECT_THAT(writer_.status().message(), HasSubstr("begin_payload of x: compatibility is not"));
  EXPECT_EQ(sink_.payloads, 0U);
}

TEST_F(ContextCollectorTest, RefusesASecondNodeForAComputation) {
  EXPECT_EQ(add_node(1), EPH_OK);
  EXPECT_EQ(add_node(1), EPH_EP_FAIL);
  EXPECT_THAT(writer_.status().message(), HasSubstr("computation 1, which"));
}

TEST_F(ContextCollectorTest, RefusesANodeForAComputationThatDoesNotExist) {
  EXPECT_EQ(add_node(2), EPH_EP_FAIL);
  EXPECT_THAT(writer_.status().message(), HasSubstr("computation 2, which"));
}

TEST_F(ContextCollectorTest, RefusesNamesOfConstantsAtANullPointer) {
  eph_context_node node = {sizeof(eph_context_node), 0};
  node.constant_count = 3;
  EXPECT_EQ(writer_.api->add_node(&writer_, &node, &error_), EPH_EP_FAIL);
  EXPECT_THAT(writer_.status().message(), HasSubstr("constants has 3 entries at a null pointer"));
  EXPECT_EQ(sink_.nodes.size(), 0U);
}

TEST_F(ContextCollectorTest, RefusesDataAtANullPointer) {
  EXPECT_EQ(write(nullptr, 3), EPH_EP_FAIL);
  EXPECT_THAT(writer_.status().message(), HasSubstr("data has 3 entries at a null pointer"));
}

TEST_F(ContextCollectorTest, TakesNoBytesFromANullPointer) {
  EXPECT_EQ(write(nullptr, 0), EPH_OK);
  EXPECT_EQ(sink_.size, 0U);
}

TEST_F(ContextCollectorTest, RefusesAPayloadWithoutAPlaceForItsNumber) {
  EXPECT_EQ(begin_payload(nullptr), EPH_EP_FAIL);
  EXPECT_EQ(sink_.payloads, 0U);
}

TEST_F(ContextCollectorTest, SetsThePayloadToNoneWhereItFails) {
  sink_.refusal = Status(StatusCode::kFail, "the disk is full");
  uint32_t payload = 7;
  EXPECT_EQ(begin_payload(&payload), EPH_FAIL);
  EXPECT_EQ(payload, EPH_NONE);
}

TEST_F(ContextCollectorTest, GivesTheSinkNothingMoreAfterAFailure) {
  sink_.refusal = Status(StatusCode::kFail, "the disk is full");
  EXPECT_EQ(write("abc", 3), EPH_FAIL);
  sink_.refusal = {};
  EXPECT_EQ(write("abc", 3), EPH_FAIL);
  EXPECT_EQ(sink_.size, 3U);
  EXPECT_EQ(writer_.status().message(), "the disk is full");
}

}  // namespace
}  // namespace ephost::bridge::context_collector_test
