#include "host/bridge/callback.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "host/bridge/abi_text.h"

namespace ephost::bridge::callback_test {
namespace {

// An eph_error of a plugin's own making.
struct PluginError : eph_error {
  static void store(eph_error* error, eph_string message) noexcept {
    static_cast<PluginError*>(error)->message = view(message);
  }
  PluginError() : eph_error{&table} {}
  eph_error_api table = {sizeof(eph_error_api), &store};
  std::string message;
};

TEST(Callback, SucceedsWithoutAMessage) {
  PluginError error;
  EXPECT_EQ(run_callback(&error, [] { return Status(); }), EPH_OK);
  EXPECT_EQ(error.message, "");
}

TEST(Callback, ReportsTheCodeAndTheMessageOfAFailure) {
  PluginError error;
  const auto fail = [] { return Status(StatusCode::kInvalidGraph, "a cycle"); };
  EXPECT_EQ(run_callback(&error, fail), EPH_INVALID_GRAPH);
  EXPECT_EQ(error.message, "a cycle");
}

TEST(Callback, ReportsWhatIsThrown) {
  PluginError error;
  const auto fail = []() -> Status { throw std::runtime_error("too long"); };
  EXPECT_EQ(run_callback(&error, fail), EPH_FAIL);
  EXPECT_EQ(error.message, "too long");
  const auto run_out = []() -> Status { throw std::bad_alloc(); };
  EXPECT_EQ(run_callback(&error, run_out), EPH_OUT_OF_MEMORY);
  EXPECT_EQ(error.message, "out of memory");
}

TEST(Callback, ReportsTheCodeAloneWithoutAUsableError) {
  const auto fail = [] { return Status(StatusCode::kInvalidGraph, "a cycle"); };
  EXPECT_EQ(run_callback(nullptr, fail), EPH_INVALID_GRAPH);
  PluginError error;
  error.table.set_message = nullptr;
  EXPECT_EQ(run_callback(&error, fail), EPH_INVALID_GRAPH);
  error.api = nullptr;
  EXPECT_EQ(run_callback(&error, fail), EPH_INVALID_GRAPH);
}

}  // namespace
}  // namespace ephost::bridge::callback_test
