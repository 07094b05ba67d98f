#include "host/bridge/abi_options.h"

#include <gtest/gtest.h>

#include "host/bridge/abi_text.h"

namespace ephost::bridge::abi_options_test {
namespace {

TEST(AbiOptions, CarryTheirKindAndValueBesideTheText) {
  const std::vector<manifest::TypedOption> options = {{"mode", std::string("best"), "best"},
                                                      {"threads", int64_t{4}, "4"},
                                                      {"scale", 0.5, "0.5"},
                                                      {"fast", true, "true"}};
  const std::vector<eph_option> converted = to_abi(options);
  ASSERT_EQ(converted.size(), 4U);
  EXPECT_EQ(converted[0].kind, EPH_OPTION_STRING);
  EXPECT_EQ(view(converted[0].name), "mode");
  EXPECT_EQ(view(converted[0].string_value), "best");
  EXPECT_EQ(converted[1].kind, EPH_OPTION_INT);
  EXPECT_EQ(converted[1].int_value, 4);
  EXPECT_EQ(view(converted[1].string_value), "4");
  EXPECT_EQ(converted[2].kind, EPH_OPTION_FLOAT);
  EXPECT_EQ(converted[2].float_value, 0.5);
  EXPECT_EQ(converted[3].kind, EPH_OPTION_BOOL);
  EXPECT_EQ(converted[3].int_value, 1);
}

}  // namespace
}  // namespace ephost::bridge::abi_options_test
