#include "host/bridge/abi_text.h"

#include <gtest/gtest.h>

namespace ephost::bridge::abi_text_test {
namespace {

TEST(AbiText, ViewsTheBytesOfAString) { EXPECT_EQ(view(EPH_STRING("text")), "text"); }

TEST(AbiText, TakesANullStringAsEmptyWhateverItsSize) {
  EXPECT_EQ(view({nullptr, 0}), "");
  EXPECT_EQ(view({nullptr, UINT64_MAX}), "");
}

TEST(AbiText, TakesAnUnknownCodeAsAFailure) {
  EXPECT_EQ(to_status_code(EPH_INVALID_GRAPH), StatusCode::kInvalidGraph);
  EXPECT_EQ(to_status_code(EPH_NOT_FOUND + 1), StatusCode::kFail);
  EXPECT_EQ(to_status_code(-1), StatusCode::kFail);
}

}  // namespace
}  // namespace ephost::bridge::abi_text_test
