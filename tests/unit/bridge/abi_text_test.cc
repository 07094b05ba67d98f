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
  EXPECT_EQ(to_status_code(EPH_OUT_OF_MEMORY - 1), StatusCode::kFail);
  EXPECT_EQ(to_status_code(EPH_DEADLINE_EXCEEDED + 1), StatusCode::kFail);
}

TEST(AbiText, KeepsEveryCodeOfTheInterface) {
  for (int32_t code = -10; code < 2000; ++code) {
    const bool has_name = status_code_name(static_cast<StatusCode>(code)) != "UNKNOWN_CODE";
    EXPECT_EQ(is_known_code(code), has_name) << code;
    if (has_name) {
      EXPECT_EQ(static_cast<int32_t>(to_status_code(code)), code);
    }
  }
}

}  // namespace
}  // namespace ephost::bridge::abi_text_test
