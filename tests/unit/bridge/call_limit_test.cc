#include "host/bridge/call_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace ephost::bridge::call_limit_test {
namespace {

// The most places that were taken at the same time while eight threads took places.
int most_places(CallLimit* limit) {
  std::atomic<int> taken{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const CallLimit::Place place(limit);
        const int now = ++taken;
        int known = most;
        while (now > known && !most.compare_exchange_weak(known, now)) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --taken;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return most;
}

TEST(CallLimit, GivesAsManyPlacesAsItHas) {
  for (const uint32_t places : {1U, 2U, 3U}) {
    CallLimit limit(places);
    EXPECT_EQ(most_places(&limit), static_cast<int>(places));
  }
}

TEST(CallLimit, GivesUpACallThatIsOfNoUseAnyMore) {
  for (const uint32_t places : {1U, 2U}) {
    CallLimit limit(places);
    {
      std::vector<std::unique_ptr<CallLimit::Place>> taken;
      std::thread holder([&] {
        for (uint32_t i = 0; i < places; ++i) {
          taken.push_back(std::make_unique<CallLimit::Place>(&limit));
        }
        int asked = 0;
        std::thread([&] {
          const CallLimit::Place place(&limit, [&] { return ++asked == 3; });
          EXPECT_FALSE(place.has_it());
        }).join();
        EXPECT_EQ(asked, 3);
        taken.clear();
      });
      holder.join();
    }
    const CallLimit::Place place(&limit, [] { return true; });
    EXPECT_TRUE(place.has_it()) << "one that is free is taken without asking";
  }
}

TEST(CallLimit, TakesZeroForOne) {
  CallLimit limit(0);
  EXPECT_EQ(most_places(&limit), 1);
}

TEST(CallLimit, GivesAPlaceToEveryCallWhereThereIsNone) { EXPECT_GT(most_places(nullptr), 3); }

}  // namespace
}  // namespace ephost::bridge::call_limit_test
