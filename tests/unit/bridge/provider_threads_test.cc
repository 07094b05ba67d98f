// Providers are created and destroyed, and devices listed, while others are.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/bridge/collect/device_list.h"
#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::bridge::provider_threads_test {
namespace {

using test::IsOk;

// Where two threads wait for each other.
class Meeting {
 public:
  // Whether the other thread came before this one gave up.
  bool wait() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return arrived_ >= 2; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

Meeting* creation = nullptr;
Meeting* destruction = nullptr;
Meeting* listing = nullptr;
bool met_in_destruction = true;

class MeetingProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "MeetingExecutionProvider";
  static constexpr std::string_view kName = "meeting";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {
    if (listing != nullptr && !listing->wait())
      throw eph::Failure(EPH_FAIL, "no other thread lists");
  }
  static std::unique_ptr<MeetingProvider> create(eph::Host, const eph::Options&) {
    if (!creation->wait()) throw eph::Failure(EPH_FAIL, "no other provider is being created");
    return std::make_unique<MeetingProvider>();
  }
  ~MeetingProvider() {
    if (!destruction->wait()) met_in_destruction = false;
  }
  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions&) { return {}; }
};

TEST(ProviderThreads, CreateAndDestroyProvidersAtTheSameTime) {
  Meeting at_creation;
  Meeting at_destruction;
  creation = &at_creation;
  destruction = &at_destruction;
  const auto live = [] { EXPECT_NE(test::create_in_process<MeetingProvider>(), nullptr); };
  std::thread other(live);
  live();
  other.join();
  EXPECT_TRUE(met_in_destruction);
}

TEST(ProviderThreads, ListDevicesAtTheSameTime) {
  Meeting at_listing;
  listing = &at_listing;
  const HostServices services("MeetingExecutionProvider", {}, {});
  const auto list = [&] {
    EXPECT_THAT(list_devices(*test::in_process_plugin<MeetingProvider>(), services), IsOk());
  };
  std::thread other(list);
  list();
  other.join();
  listing = nullptr;
}

}  // namespace
}  // namespace ephost::bridge::provider_threads_test
