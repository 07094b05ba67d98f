#include "host/base/json_text.h"

#include <gtest/gtest.h>

namespace ephost::json_text_test {
namespace {

TEST(JsonText, EscapesWhatAStringCannotHold) {
  EXPECT_EQ(json_string("a \"b\" \\ \n\t\x01 \u00e4"),
            "\"a \\\"b\\\" \\\\ \\u000a\\u0009\\u0001 \u00e4\"");
  EXPECT_EQ(json_string(""), "\"\"");
}

TEST(JsonText, LeavesOutEmptyValues) {
  EXPECT_EQ(JsonText('[').text(), "[]");
  EXPECT_EQ(JsonText('[').add("").add("1").add(json_number(0.5)).text(), "[1,0.5]");
  EXPECT_EQ(JsonText('{').add("a", "").add("b\"", json_number(1 / 0.0)).text(), "{\"b\\\"\":null}");
}

}  // namespace
}  // namespace ephost::json_text_test
