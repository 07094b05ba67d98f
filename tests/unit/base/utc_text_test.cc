#include "host/base/utc_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace ephost::utc_text_test {
namespace {

TEST(UtcText, IsADateAndATime) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1'801'353'599), "2027-01-30T23:59:59Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59Z");
}

TEST(UtcText, IsANumberWhereTheCalendarEnds) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(utc_text(kEnd), std::to_string(kEnd));
}

}  // namespace
}  // namespace ephost::utc_text_test
