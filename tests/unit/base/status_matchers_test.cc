#include "tests/support/status_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <memory>

namespace ephost::status_matchers_test {
namespace {

using test::IsOk;
using ::testing::Not;

Status refusal() { return {StatusCode::kNoSuchFile, "a.onnx cannot be opened"}; }

TEST(IsOkMatcher, AcceptsSuccesses) {
  EXPECT_THAT(Status(), IsOk());
  EXPECT_THAT(Result<std::unique_ptr<int>>(nullptr), IsOk());
}

TEST(IsOkMatcher, PrintsCodeAndMessageOfFailures) {
  EXPECT_THAT(refusal(), Not(IsOk()));
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(refusal(), IsOk()),
                          "Actual: NO_SUCHFILE: a.onnx cannot be opened");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(Result<std::unique_ptr<int>>(refusal()), IsOk()),
                          "Actual: NO_SUCHFILE: a.onnx cannot be opened");
}

}  // namespace
}  // namespace ephost::status_matchers_test
