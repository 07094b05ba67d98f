#include "host/bridge/error_sink.h"

#include <gtest/gtest.h>

#include "host/bridge/abi_text.h"

namespace ephost::bridge::error_sink_test {
namespace {

std::string message_of(std::string_view said) {
  ErrorSink sink;
  sink.api->set_message(&sink, to_abi(said));
  return sink.to_status(EPH_FAIL, "it", "working").message();
}

TEST(ErrorSink, TellsWhoFailedAtWhat) {
  EXPECT_EQ(message_of("broken"), "it failed working: broken");
  EXPECT_EQ(message_of(""), "it failed working: the plugin gave no reason (code 1)");
}

TEST(ErrorSink, MakesUnprintableTextSafeForTheTerminal) {
  EXPECT_EQ(message_of("\x1b[2J\x7f"), "it failed working: \\x1b[2J\\x7f");
  EXPECT_EQ(message_of("a\xff\n"), "it failed working: a\ufffd\n");
  EXPECT_EQ(message_of("Gr\u00f6\u00dfe"), "it failed working: Gr\u00f6\u00dfe");
}

}  // namespace
}  // namespace ephost::bridge::error_sink_test
