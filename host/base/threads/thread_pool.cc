#include "host/base/threads/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <system_error>

#include "host/base/threads/processor_quota.h"

namespace ephost {
namespace {

// Spinning before going to sleep costs a few microseconds; waking up costs more.
constexpr int kSpins = 200;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// The range is divided into more pieces than there are threads, so that a thread that starts late
// or is interrupted does not delay the others.
constexpr uint64_t kPiecesPerThread = 4;

// A loop over [0, total).
class RangeJob final : public ThreadPool::Job {
 public:
  using Function = void (*)(const void* context, uint64_t begin, uint64_t end);
  RangeJob(uint64_t total, uint64_t piece, Function function, const void* context)
      : total_(total), piece_(piece), function_(function), context_(context) {}

  [[nodiscard]] bool wants_help() const noexcept override {
    return next_.load(std::memory_order_relaxed) < total_;
  }
  void help(uint32_t) noexcept override {
    while (wants_help()) {
      const uint64_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= total_) return;
      function_(context_, begin, std::min(begin + piece_, total_));
    }
  }

 private:
  std::atomic<uint64_t> next_{0};
  const uint64_t total_;
  const uint64_t piece_;
  const Function function_;
  const void* const context_;
};

}  // namespace

uint32_t ThreadPool::default_thread_count() {
  const uint32_t of_affinity = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
  return std::min(of_affinity, processor_quota().value_or(of_affinity));
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    assert(openings_ == nullptr);
    is_ending_ = true;
    signals_.fetch_add(1);
  }
  signalled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ThreadPool::Opening::Opening(ThreadPool& pool, Job& job, uint32_t helpers)
    : pool_(pool), job_(job), log_(LogScope::current()), helpers_(std::min(helpers, kMaxThreads)) {
  if (helpers_ == 0) return;
  const std::lock_guard lock(pool_.mutex_);
  pool_.start_threads(helpers_);
  next_ = pool_.openings_;
  pool_.openings_ = this;
}

ThreadPool::Opening::~Opening() {
  if (helpers_ == 0) return;
  std::unique_lock lock(pool_.mutex_);
  Opening** link = &pool_.openings_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  left_.wait(lock, [&] { return active_ == 0; });
}

void ThreadPool::start_threads(uint32_t count) {
  try {
    while (threads_.size() < count) {
      threads_.emplace_back([this, index = threads_.size()] { begin(index); });
    }
  } catch (const std::system_error&) {  // the threads that were started must suffice
  }
  if (prepare_ == nullptr) return;
  for (uint32_t ready = 0; (ready = prepared_.load()) < threads_.size();) prepared_.wait(ready);
}

void ThreadPool::wake(uint32_t threads) {
  signals_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < threads; ++i) signalled_.notify_one();
}

ThreadPool::Opening* ThreadPool::find_opening() {
  Opening* found = openings_;
  while (found != nullptr && (found->active_ == found->helpers_ || !found->job_.wants_help())) {
    found = found->next_;
  }
  return found;
}

void ThreadPool::help(Opening& opening, std::unique_lock<std::mutex>& lock) {
  uint32_t word = 0;
  while (~opening.taken_[word] == 0) ++word;
  const auto bit = static_cast<uint32_t>(__builtin_ctzll(~opening.taken_[word]));
  opening.taken_[word] |= uint64_t{1} << bit;
  ++opening.active_;
  lock.unlock();
  {
    const LogScope scope(opening.log_);
    opening.job_.help(word * 64 + bit);
  }
  lock.lock();
  opening.taken_[word] &= ~(uint64_t{1} << bit);
  if (--opening.active_ == 0) opening.left_.notify_one();
}

void ThreadPool::begin(size_t index) {
  if (index < options_.affinities.size() && !options_.affinities[index].empty()) {
    bind_this_thread(options_.affinities[index]);  // if that fails, it runs on any
  }
  if (prepare_ != nullptr) {
    prepare_();
    prepared_.fetch_add(1);
    prepared_.notify_all();
  }
  work();
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const uint64_t seen = signals_.load();
    if (Opening* opening = find_opening()) {
      help(*opening, lock);
    } else {
      wait_for_signal(seen, lock);
    }
  }
}

void ThreadPool::wait_for_signal(uint64_t seen, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const int spins = options_.allow_spinning ? kSpins : 0;
  for (int i = 0; i < spins && signals_.load(std::memory_order_relaxed) == seen; ++i) pause();
  lock.lock();
  // A thread that wakes others changes the signal before it looks for sleeping threads.
  sleepers_.fetch_add(1);
  signalled_.wait(lock, [&] { return signals_.load() != seen; });
  sleepers_.fetch_sub(1);
}

void ThreadPool::run_ranges(uint64_t total, uint64_t grain, uint32_t threads,
                            RangeFunction function, const void* context) {
  if (total == 0) return;
  grain = std::max<uint64_t>(grain, 1);
  const uint64_t most = (total - 1) / grain + 1;
  const uint64_t used = std::min<uint64_t>(std::clamp(threads, 1U, kMaxThreads), most);
  if (used == 1) {
    function(context, 0, total);
    return;
  }
  assert(used > 1);
  const uint64_t piece = std::max(grain, (total - 1) / (used * kPiecesPerThread) + 1);
  RangeJob job(total, piece, function, context);
  const Opening opening(*this, job, static_cast<uint32_t>(used - 1));
  wake(static_cast<uint32_t>(used - 1));
  job.help(0);
}

}  // namespace ephost
