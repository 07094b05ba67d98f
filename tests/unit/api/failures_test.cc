// Every function that returns a status, in a call that fails (failing_calls.h): it has a code and a
// message, and leaves nothing in its out_ parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "tests/support/allocation_counter.h"
#include "tests/unit/api/failing_calls.h"

namespace ephost::failures_test {
namespace {

using test::c_api;
using test::code_of;

TEST_F(CApiFailures, StateCodeAndMessageAndLeaveNothing) {
  for (const FailingCall& failing : all()) {
    std::string message;
    EXPECT_EQ(code_of(failing.call(), &message), failing.code)
        << failing.function << ": " << message;
    EXPECT_FALSE(message.empty()) << failing.function;
  }
}

// With memory for the first allocations only, until there is enough: the call fails each time, and
// nothing escapes.
TEST_F(CApiFailures, OfMemoryLeaveNothing) {
  const ephost_value_api& api = *c_api().value;
  const std::array<int64_t, 1> shape = {1};
  const std::string text(100, 'x');
  const ephost_string given = {text.data(), text.size()};
  ephost_value* made = nullptr;
  uint64_t allocations = 0;
  for (; made == nullptr && allocations < 100; ++allocations) {
    made = poison<ephost_value>();
    ephost_status* status = nullptr;
    {
      const test::FailingAllocations after(allocations);
      status = api.create_string_tensor(shape.data(), 1, &given, 1, &made);
    }
    std::string message;
    EXPECT_EQ(code_of(status, &message), made == nullptr ? EPHOST_OUT_OF_MEMORY : EPHOST_OK);
    EXPECT_EQ(message.empty(), made != nullptr);
  }
  EXPECT_GT(allocations, 2U);
  EXPECT_NE(made, nullptr);
  api.release(made);
}

TEST_F(CApiFailures, OfWhatWasCancelledAndOfWhatCameTooLateAreToldApart) {
  static constexpr std::atomic<bool> kCancelled = true;
  ephost_run_options cancelled = {};
  cancelled.struct_size = sizeof(cancelled);
  cancelled.cancelled = &kCancelled;
  ephost_run_options late = {};
  late.struct_size = sizeof(late);
  late.timeout_ns = 1;
  EXPECT_EQ(c_api().session->bind_input(binding_, "x", value_), nullptr);
  for (const auto& [options, code] :
       {std::pair(&cancelled, EPHOST_CANCELLED), std::pair(&late, EPHOST_DEADLINE_EXCEEDED)}) {
    EXPECT_EQ(code_of(run(options)), code);
    EXPECT_EQ(code_of(c_api().session->run_with_binding(binding_, options)), code);
    std::promise<int32_t> done;
    const char* const name = "x";
    const ephost_value* const input = value_;
    const auto callback = [](void* context, ephost_status* status, ephost_value* const*, uint64_t) {
      static_cast<std::promise<int32_t>*>(context)->set_value(code_of(status));
    };
    EXPECT_EQ(c_api().session->run_async(session_, options, &name, &input, 1, nullptr, 0, callback,
                                         &done),
              nullptr);
    EXPECT_EQ(done.get_future().get(), code);
  }
  EXPECT_EQ(run(nullptr), nullptr);
  EXPECT_EQ(c_api().session_options->set_load_cancellation_flag(options_, &kCancelled), nullptr);
  ephost_session* made = nullptr;
  EXPECT_EQ(code_of(c_api().session->create(environment_, model_.c_str(), options_, &made)),
            EPHOST_CANCELLED);
  EXPECT_EQ(made, nullptr);
}

// Functions that return a status and cannot fail, and why.
const std::set<std::string>& functions_without_failure() {
  static const std::set<std::string> names = {
      "status.create",   // what it returns is what it makes
      "session.shrink",  // what cannot be given back stays
      // They set a number or a pointer.
      "session_options.enable_mem_pattern",
      "session_options.enable_mem_reuse",
      "session_options.set_inter_op_num_threads",
      "session_options.set_intra_op_num_threads",
      "session_options.set_ep_context_data_read_func",
      "session_options.set_progress_func",
      "session_options.set_load_cancellation_flag",
  };
  return names;
}

TEST_F(CApiFailures, AreTriedForEveryFunction) {
  std::string header;
  for (const auto& entry : std::filesystem::directory_iterator(EPHOST_C_API)) {
    std::ifstream file(entry.path());
    header.append(std::istreambuf_iterator<char>(file), {});
  }
  std::set<std::string> functions;
  std::set<std::string> silent;  // they have an out_ parameter and no status
  const std::regex table(R"(typedef struct ephost_(\w+)_api \{([^}]*)\})");
  const std::regex slot(R"(\n  ([^\n;/]+)\(\*(\w+)\)\(([^;]*)\);)");
  for (std::sregex_iterator t(header.begin(), header.end(), table), end; t != end; ++t) {
    const std::string body = (*t)[2];
    for (std::sregex_iterator s(body.begin(), body.end(), slot); s != end; ++s) {
      const std::string name = (*t)[1].str() + "." + (*s)[2].str();
      if ((*s)[1] == "ephost_status* ") {
        functions.insert(name);
      } else if ((*s)[3].str().find("out_") != std::string::npos) {
        silent.insert(name);
      }
    }
  }
  std::set<std::string> tried = functions_without_failure();
  for (const FailingCall& failing : all()) {
    EXPECT_TRUE(tried.insert(failing.function).second) << failing.function << " occurs twice";
  }
  EXPECT_EQ(functions, tried);
  EXPECT_THAT(silent, ::testing::ElementsAre("value.get_info"));
}

}  // namespace
}  // namespace ephost::failures_test
