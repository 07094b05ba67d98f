#include "host/manifest/scalar.h"

#include <gtest/gtest.h>

#include <limits>

namespace ephost::manifest::scalar_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Scalar, ParsesIntegersUpTo64Bits) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(Scalar, RefusesTextThatIsNotAnInteger) {
  for (const std::string_view text : {"", "+", "-", "+-1", "++1", "1.0", "1e3", "0x10", " 1", "1 ",
                                      "9223372036854775808", "one"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Scalar, ParsesNumbers) {
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("+2.5e-1"), 0.25);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number(".inf"), kInfinity);
  EXPECT_EQ(parse_number("-.Inf"), -kInfinity);
}

TEST(Scalar, RefusesTextThatIsNotANumber) {
  for (const std::string_view text : {"", ".", "+", "e3", "1e", "nan", ".nan", "inf", "-inf",
                                      "infinity", "1e999", "1,5", "1.2.3", "+-1"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Scalar, ParsesTruthValuesInAnyCase) {
  EXPECT_EQ(parse_boolean_word("true"), true);
  EXPECT_EQ(parse_boolean_word("FALSE"), false);
  EXPECT_EQ(parse_boolean_word("yes"), std::nullopt);
  EXPECT_EQ(parse_boolean_word("1"), std::nullopt);
}

TEST(Scalar, PrintsNumbersThatParseToTheSameValue) {
  for (const double value : {0.0, 0.1, -1.5, 1e300, 5e-324, 1.0 / 3.0, kInfinity, -kInfinity}) {
    EXPECT_EQ(parse_number(number_text(value)), value);
  }
  EXPECT_EQ(number_text(0.5), "0.5");
}

}  // namespace
}  // namespace ephost::manifest::scalar_test
