#include "host/bridge/extensions/host_services.h"

#include <ephost/ext/constants.h>
#include <ephost/ext/progress.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/base/files/file.h"
#include "host/bridge/abi_text.h"
#include "host/plugin/calls/call_scope.h"
#include "tests/support/temp_directory.h"

namespace ephost::bridge::host_services_test {
namespace {

TEST(HostServices, HasWhatItOffers) {
  const HostServices services("test", nullptr, {});
  EXPECT_FALSE(offered_extensions().empty());
  for (const std::string& id : offered_extensions()) {
    EXPECT_NE(services.api->get_extension(&services, to_abi(id)), nullptr) << id;
  }
  EXPECT_EQ(services.api->get_extension(&services, to_abi("ephost.time_travel/1")), nullptr);
}

TEST(HostServices, ConstantsStayReadableWhenTheyAreReleased) {
  const test::TempDirectory dir;
  const std::string content(1 << 20, 'c');
  const MappedFile file = *MappedFile::open(dir.write("weights", content));
  const HostServices services("test", nullptr, {});
  const auto* constants = static_cast<const eph_constants_api*>(
      services.api->get_extension(&services, to_abi(EPH_EXT_CONSTANTS)));
  ASSERT_NE(constants, nullptr);
  constants->release(&services, file.bytes().data(), file.bytes().size());
  constants->release(&services, content.data(), content.size());
  constants->release(&services, nullptr, 0);
  EXPECT_EQ(std::memcmp(file.bytes().data(), content.data(), content.size()), 0);
  EXPECT_EQ(content.find_first_not_of('c'), std::string::npos);
}

// This happens when a provider runs for one session while another session is created with it. To be
// run under ThreadSanitizer too.
TEST(HostServices, HooksMayChangeWhileAProviderReports) {
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  const auto counting = [](std::atomic<int>& counter) {
    ProgressHooks hooks;
    hooks.report = [&counter](std::string_view, double, std::string_view) { ++counter; };
    return hooks;
  };
  HostServices services("test", nullptr, counting(first));
  const auto* progress = static_cast<const eph_progress_api*>(
      services.api->get_extension(&services, to_abi(EPH_EXT_PROGRESS)));
  ASSERT_NE(progress, nullptr);
  std::thread provider([&] {
    while (second == 0) {
      progress->report(&services, 0.5, to_abi("working"));
      EXPECT_EQ(progress->is_cancelled(&services), 0);
    }
  });
  while (first == 0) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) services.set_progress_hooks({});
  services.set_progress_hooks(counting(second));
  provider.join();
  EXPECT_GT(first, 0);
  services.set_progress_hooks({});
  const int reports = second;
  progress->report(&services, 1, to_abi("done"));
  EXPECT_EQ(second, reports);
}

const eph_thread_pool_api& thread_pool_of(const HostServices& services) {
  return *static_cast<const eph_thread_pool_api*>(
      services.api->get_extension(&services, to_abi(EPH_EXT_THREAD_POOL)));
}

// Counts how often each item is processed.
std::vector<std::atomic<int>> work_on_all(const HostServices& services, size_t total) {
  std::vector<std::atomic<int>> hits(total);
  thread_pool_of(services).parallel_for(
      &services, total, 1,
      [](void* context, uint64_t begin, uint64_t end) {
        auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
        for (uint64_t i = begin; i < end; ++i) ++counts[i];
      },
      &hits);
  return hits;
}

TEST(HostServices, SplitsLoopsOverTheThreadsOfTheHost) {
  const auto pool = std::make_shared<ThreadPool>();
  const HostServices services("test", nullptr, {}, {pool, 3, 2});
  EXPECT_EQ(thread_pool_of(services).get_thread_count(&services), 3U);
  EXPECT_EQ(thread_pool_of(services).get_library_thread_count(&services), 2U);
  for (const size_t total : {0, 1, 1000}) {
    for (const auto& hits : work_on_all(services, total)) EXPECT_EQ(hits, 1);
  }
}

TEST(HostServices, HasTheCallingThreadWhereThereIsNoPool) {
  const HostServices services("test", nullptr, {});
  EXPECT_EQ(thread_pool_of(services).get_thread_count(&services), 1U);
  for (const auto& hits : work_on_all(services, 10)) EXPECT_EQ(hits, 1);
}

TEST(HostServices, FailsTheCallWhoseLoopHasNoFunction) {
  const HostServices services("test", nullptr, {});
  const plugin::CallScope call(plugin::CallSite{"test", "compute"});
  thread_pool_of(services).parallel_for(&services, 10, 1, nullptr, nullptr);
  EXPECT_EQ(call.status().message(),
            "parallel_for of test: function is null; report this to the plugin's vendor");
}

}  // namespace
}  // namespace ephost::bridge::host_services_test
