#include "host/base/json_text.h"

#include <gtest/gtest.h>

namespace ephost::json_text_test {
namespace {

TEST(JsonText, EscapesWhatAStringCannotHold) {
  EXPECT_EQ(json_string("a \"b\" \\ \n\t\x01 \u00e4"),
            "\"a \\\"b\\\" \\\\ \\u000a\\u0009\\u0001 \u00e4\"");
  EXPECT_EQ(json_string(""), "\"\"");
}

}  // namespace
}  // namespace ephost::json_text_test
