#include "host/base/processes/forks.h"

#include <pthread.h>

#include <atomic>

namespace ephost {
namespace {

std::atomic<uint32_t> forks{0};
const int kForkHandler =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

uint32_t fork_generation() noexcept { return forks.load(std::memory_order_relaxed); }

}  // namespace ephost
