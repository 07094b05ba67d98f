#include "host/session/contexts/payload_digests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ephost::session::payload_digests_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Payload {
  std::string provider;
  std::string bytes;
  std::vector<std::string> partitions = {"p"};
};

// `pieces`: how many bytes are appended at once.
PayloadDigests digests_of(const std::vector<Payload>& payloads, size_t pieces = 3) {
  PayloadDigests digests;
  for (uint32_t i = 0; i < payloads.size(); ++i) {
    digests.begin(payloads[i].provider, 10 + i);
    const auto bytes = std::as_bytes(std::span(payloads[i].bytes));
    for (size_t at = 0; at < bytes.size(); at += pieces) {
      digests.append(10 + i, bytes.subspan(at, std::min(pieces, bytes.size() - at)));
    }
    for (const std::string& partition : payloads[i].partitions) {
      digests.add_partition(10 + i, partition);
    }
  }
  return digests;
}

std::string difference(const std::vector<Payload>& earlier, const std::vector<Payload>& later) {
  const Status status = digests_of(later).compare(digests_of(earlier));
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("\"deterministic: true\""),
                                      HasSubstr("in two compilations of the same model; report "
                                                "this to the plugin's vendor")));
  return status.message();
}

TEST(PayloadDigests, AreTheSameHoweverTheBytesArrive) {
  const std::vector<Payload> payloads = {{"A", "one two"}, {"A", ""}, {"B", "three"}};
  EXPECT_THAT(digests_of(payloads, 1).compare(digests_of(payloads, 100)), IsOk());
  EXPECT_THAT(PayloadDigests().compare(PayloadDigests()), IsOk());
}

TEST(PayloadDigests, NameTheProvidersOnce) {
  EXPECT_THAT(digests_of({{"A", "1"}, {"A", "2"}, {"B", "3"}}).providers(), ElementsAre("A", "B"));
  EXPECT_THAT(PayloadDigests().providers(), IsEmpty());
}

TEST(PayloadDigests, DifferInBytes) {
  EXPECT_THAT(
      difference({{"A", "1"}, {"B", "same"}, {"B", "abc", {"p", "q"}}},
                 {{"A", "1"}, {"B", "same"}, {"B", "abd", {"p", "q"}}}),
      HasSubstr("B says \"deterministic: true\" in its manifest, but payload 1 (of partition "
                "\"p\", \"q\") has 3 different bytes in two"));
}

TEST(PayloadDigests, DifferInSize) {
  EXPECT_THAT(difference({{"A", "abc"}}, {{"A", "abcd"}}),
              HasSubstr("payload 0 (of partition \"p\") has 3 and 4 bytes"));
}

TEST(PayloadDigests, DifferInNumber) {
  EXPECT_THAT(
      difference({{"A", "1"}}, {{"A", "1"}, {"A", "2"}}),
      HasSubstr("A says \"deterministic: true\" in its manifest, but wrote 1 and 2 payloads"));
  EXPECT_THAT(difference({{"A", "1"}}, {}), HasSubstr("wrote 1 and 0 payloads"));
}

TEST(PayloadDigests, DifferInPartitions) {
  EXPECT_THAT(difference({{"A", "1"}}, {{"A", "1", {}}}),
              HasSubstr("wrote payload 0 (of partition \"p\") and payload 0 (of no partition)"));
}

TEST(PayloadDigests, IgnorePayloadsOfOthers) {
  PayloadDigests digests;
  digests.append(7, std::as_bytes(std::span("text", 4)));
  digests.add_partition(7, "p");
  EXPECT_THAT(digests.compare(PayloadDigests()), IsOk());
}

}  // namespace
}  // namespace ephost::session::payload_digests_test
