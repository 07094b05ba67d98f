#include "host/bridge/collect/name_collector.h"

#include <gtest/gtest.h>

#include "host/bridge/error_sink.h"

namespace ephost::bridge::name_collector_test {
namespace {

TEST(NameCollector, CopiesTheNamesInTheirOrder) {
  NameCollector names;
  ErrorSink error;
  std::string text = "first";
  EXPECT_EQ(names.api->add(&names, {text.data(), text.size()}, &error), EPH_OK);
  text = "other";
  EXPECT_EQ(names.api->add(&names, {text.data(), text.size()}, &error), EPH_OK);
  EXPECT_EQ(names.take(), (std::vector<std::string>{"first", "other"}));
}

}  // namespace
}  // namespace ephost::bridge::name_collector_test
