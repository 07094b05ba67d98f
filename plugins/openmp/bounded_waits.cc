#include "plugins/openmp/bounded_waits.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ephost_openmp {
namespace {

bool has_user_decided() {
  const char* const variables[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  return std::any_of(std::begin(variables), std::end(variables),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

// libgomp ends the process if it cannot have a thread. So threads of our own are tried first.
bool can_have_threads(int count) {
  std::mutex held;
  std::vector<std::thread> tried;
  bool have_all = true;
  {
    const std::lock_guard lock(held);  // until all are there
    try {
      for (int i = 0; i < count; ++i) {
        tried.emplace_back([&held] { const std::lock_guard wait(held); });
      }
    } catch (const std::system_error&) {
      have_all = false;
    }
  }
  for (std::thread& thread : tried) thread.join();
  return have_all;
}

// The runtime keeps the threads of a region for the next one of the calling thread, and ends them
// with it.
void have_idle_threads(int count) {
  std::atomic<int> there{0};  // compilers leave out regions that do nothing
#pragma omp parallel num_threads(count + 1)
  there.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

int processor_count() { return std::max(omp_get_num_procs(), 1); }

// A thread that does nothing but have idle threads.
class BoundedWaits::Idlers {
 public:
  explicit Idlers(int count) {
    state_->wanted = count;
    thread_ = std::thread([state = state_] { state->work(); });
  }
  ~Idlers() {
    if (::getpid() != process_) {  // a forked child, where the thread is not
      thread_.detach();
      return;
    }
    want(0);
    thread_.join();
  }

  // 0 for the end.
  void want(int count) {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = count;
    state_->changed.notify_one();
  }

 private:
  // Shared with the thread: what a thread waited on when the process was forked can't be destroyed.
  struct State {
    void work() {
      std::unique_lock lock(mutex);
      for (int had = 0; wanted != 0;) {
        if (had == wanted) {
          changed.wait(lock);
          continue;
        }
        had = wanted;
        lock.unlock();
        have_idle_threads(had);
        lock.lock();
      }
    }

    std::mutex mutex;
    std::condition_variable changed;
    int wanted = 0;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
  const pid_t process_ = ::getpid();
  std::thread thread_;
};

BoundedWaits::BoundedWaits() : is_allowed_(!has_user_decided()), processors_(processor_count()) {}

BoundedWaits::~BoundedWaits() = default;

void BoundedWaits::apply_to(int team) {
  // With them and the team, the calling thread among it, there is one thread too many.
  const int count = team == 0 ? 0 : std::max(processors_ + 1 - team, 1);
  if (!is_allowed_ || count == idle_threads_) return;
  idle_threads_ = count;
  if (count == 0) {
    idlers_.reset();
  } else if (idlers_ != nullptr) {
    idlers_->want(count);
  } else {
    start(count);
  }
}

void BoundedWaits::start(int count) {
  // Tried once: each session would pay for it.
  static std::atomic<bool> has_had_threads{false};
  try {
    // With some to spare for teams that grow.
    if (!has_had_threads && !can_have_threads(2 * processors_)) return;
    has_had_threads = true;
    idlers_ = std::make_unique<Idlers>(count);
  } catch (const std::exception&) {  // no thread or memory: waits stay as they are
  }
}

}  // namespace ephost_openmp
