// The C++ wrapper's describe, ephost.run/1 and ephost.profiling/1 as the host sees them.
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

bool fails = false;
std::vector<std::string> calls;

void note(std::string call) {
  if (fails) throw eph::Failure(EPH_ENGINE_ERROR, "cannot " + call);
  calls.push_back(std::move(call));
}

class RunningProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "RunningExecutionProvider";
  static constexpr std::string_view kName = "running";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<RunningProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<RunningProvider>();
  }
  void describe(eph_provider_info& info) {
    note("describe");
    info.max_concurrent = 3;
  }
  void begin_run(const eph::RunConfig& config) {
    note("begin " + std::to_string(config.id()) + " " + std::string(config.tag()) + " " +
         std::to_string(config.deadline_ns()) + " " +
         std::to_string(config.options().get_int("depth", -1)));
  }
  void end_run(uint64_t run_id, int32_t code) {
    note("end " + std::to_string(run_id) + " " + std::to_string(code));
  }
  void set_options(const eph::Options& options) {
    note("set " + std::to_string(options.all().size()));
  }
  void start_profiling() { note("start"); }
  void stop_profiling(eph::EventList& events) {
    note("stop");
    eph_event event = {};
    event.name = EPH_STRING("kernel");
    events.add(event);
  }
};

// Prepares nothing, and has no options that change.
class EndingProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "EndingExecutionProvider";
  static constexpr std::string_view kName = "ending";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<EndingProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<EndingProvider>();
  }
  void end_run(uint64_t, int32_t) {}
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_runs", "1.0.0", RunningProvider, EndingProvider)

namespace {

class WrapperRuns : public ::testing::Test {
 protected:
  WrapperRuns() {
    fails = false;
    calls.clear();
    const eph_provider_config config = {sizeof(config), nullptr, 0};
    EXPECT_EQ(api_.create(&api_, &host_, &config, &provider_, &error_), EPH_OK);
  }
  WrapperRuns(const WrapperRuns&) = delete;
  WrapperRuns& operator=(const WrapperRuns&) = delete;
  ~WrapperRuns() override { api_.destroy(provider_); }

  template <class Table>
  const Table& extension(std::string_view id) {
    return *static_cast<const Table*>(api_.get_provider_extension(provider_, eph::to_abi(id)));
  }

  const eph_provider_api& api_ = *ephost::test::get_api(eph_plugin_v1())->providers[0];
  FakeHost host_;
  FakeError error_;
  eph_provider* provider_ = nullptr;
};

TEST_F(WrapperRuns, SaysHowManyComputationsRunAtOnce) {
  eph_provider_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(api_.describe(provider_, &info, &error_), EPH_OK);
  EXPECT_EQ(info.max_concurrent, 3U);
  info = {};
  info.struct_size = offsetof(eph_provider_info, max_concurrent);
  ASSERT_EQ(api_.describe(provider_, &info, &error_), EPH_OK);
  EXPECT_EQ(info.max_concurrent, 0U);
  fails = true;
  EXPECT_EQ(api_.describe(provider_, &info, &error_), EPH_ENGINE_ERROR);
  const eph_provider_api& ending = *ephost::test::get_api(eph_plugin_v1())->providers[1];
  info.struct_size = sizeof(info);
  ASSERT_EQ(ending.describe(provider_, &info, &error_), EPH_OK);
  EXPECT_EQ(info.max_concurrent, UINT32_MAX);
}

TEST_F(WrapperRuns, BeginsAndEndsRunsAndChangesOptions) {
  const auto& runs = extension<eph_run_provider_api>(EPH_EXT_RUN);
  eph_option option = {};
  option.name = EPH_STRING("depth");
  option.int_value = 5;
  const eph_run_config config = {sizeof(config), 12, EPH_STRING("tag"), 99, &option, 1};
  EXPECT_EQ(runs.begin_run(provider_, &config, &error_), EPH_OK);
  EXPECT_EQ(runs.end_run(provider_, 12, EPH_FAIL, &error_), EPH_OK);
  EXPECT_EQ(runs.set_options(provider_, &option, 1, &error_), EPH_OK);
  EXPECT_EQ(calls, (std::vector<std::string>{"begin 12 tag 99 5", "end 12 1", "set 1"}));
  fails = true;
  EXPECT_EQ(runs.begin_run(provider_, &config, &error_), EPH_ENGINE_ERROR);
  EXPECT_EQ(runs.end_run(provider_, 12, EPH_OK, &error_), EPH_ENGINE_ERROR);
  EXPECT_EQ(runs.set_options(provider_, &option, 1, &error_), EPH_ENGINE_ERROR);
  EXPECT_EQ(error_.message, "cannot set 1");
}

TEST_F(WrapperRuns, LeavesOutWhatAProviderDoesNotDeclare) {
  const eph_provider_api& ending = *ephost::test::get_api(eph_plugin_v1())->providers[1];
  const auto* const runs = static_cast<const eph_run_provider_api*>(
      ending.get_provider_extension(nullptr, EPH_STRING(EPH_EXT_RUN)));
  ASSERT_NE(runs, nullptr);
  EXPECT_EQ(runs->begin_run, nullptr);
  EXPECT_NE(runs->end_run, nullptr);
  EXPECT_EQ(runs->set_options, nullptr);
  EXPECT_EQ(ending.get_provider_extension(nullptr, EPH_STRING(EPH_EXT_PROFILING)), nullptr);
}

// A list that takes events, or refuses them.
struct FakeEventList : eph_event_list {
  FakeEventList() : eph_event_list{&kApi} {}
  static int32_t add(eph_event_list* list, const eph_event* event, eph_error* error) noexcept {
    auto& self = *static_cast<FakeEventList*>(list);
    if (self.refuses) {
      error->api->set_message(error, EPH_STRING("refused"));
      return EPH_INVALID_ARGUMENT;
    }
    EXPECT_EQ(event->struct_size, sizeof(eph_event));
    self.names.emplace_back(eph::view(event->name));
    return EPH_OK;
  }
  static constexpr eph_event_list_api kApi = {sizeof(eph_event_list_api), &add};
  bool refuses = false;
  std::vector<std::string> names;
};

TEST_F(WrapperRuns, HandsOverTheEventsOfAProfile) {
  const auto& profiling = extension<eph_profiling_api>(EPH_EXT_PROFILING);
  FakeEventList events;
  EXPECT_EQ(profiling.start(provider_, &error_), EPH_OK);
  EXPECT_EQ(profiling.stop(provider_, &events, &error_), EPH_OK);
  EXPECT_EQ(events.names, std::vector<std::string>{"kernel"});
  events.refuses = true;
  EXPECT_EQ(profiling.stop(provider_, &events, &error_), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error_.message, "refused");
  fails = true;
  EXPECT_EQ(profiling.start(provider_, &error_), EPH_ENGINE_ERROR);
}

}  // namespace
