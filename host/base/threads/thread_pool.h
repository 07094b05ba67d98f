// Threads that help with divisible work. The thread that has the work opens a job and works on it
// too, so every job finishes whether helpers come or not, and jobs may be opened from within jobs.
// Threads are started on first use and shared by all jobs.
//
// This is our own because it belongs to an Environment, limits the helpers of each job and allows
// nested jobs: OpenMP and oneTBB manage one set of worker threads for the whole process, which the
// host would share with the application and its plugins.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/base/threads/thread_affinity.h"

namespace ephost {

class ThreadPool {
 public:
  // The number of threads that the machine offers this process, at least 1: the processors that it
  // may run on, or fewer where a quota leaves it less time.
  [[nodiscard]] static uint32_t default_thread_count();
  // An upper limit above any real machine; larger requests are capped.
  static constexpr uint32_t kMaxThreads = 256;

  struct Options {
    // Which processors each thread runs on, in the order in which they are started; those after the
    // last may run on any.
    std::vector<Processors> affinities = {};
    // Whether idle threads wait actively for some microseconds before they sleep.
    bool allow_spinning = true;
  };

  // Each thread calls `prepare`, if given, before it helps for the first time. The caller that
  // starts threads waits until they have, so that none of that time falls into later work.
  explicit ThreadPool(void (*prepare)() = nullptr) : prepare_(prepare) {}
  ThreadPool(void (*prepare)(), Options options)
      : prepare_(prepare), options_(std::move(options)) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // No job may be open by then.
  ~ThreadPool();

  // A pointer that does not own.
  [[nodiscard]] static std::shared_ptr<ThreadPool> borrow(ThreadPool& pool) {
    return {std::shared_ptr<void>(), &pool};
  }

  // Work that other threads may help with.
  class Job {
   public:
    // Whether there is work for one more thread. Called from any thread, at any time while the job
    // is open.
    [[nodiscard]] virtual bool wants_help() const noexcept = 0;
    // Works until there is nothing left to do at the moment. `helper` is less than the number of
    // helpers that the job was opened for; concurrent calls have different numbers.
    virtual void help(uint32_t helper) noexcept = 0;

   protected:
    ~Job() = default;
  };

  // A job is open while this object lives. Its destructor waits for helpers that are still working.
  class Opening {
   public:
    // Opens the job to at most `helpers` threads besides the calling one.
    Opening(ThreadPool& pool, Job& job, uint32_t helpers);
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    ~Opening();

   private:
    friend class ThreadPool;
    ThreadPool& pool_;
    Job& job_;
    const Log* const log_;  // helpers log where the thread does that opened the job
    uint32_t helpers_;
    uint64_t taken_[kMaxThreads / 64] = {};  // by helper, guarded by the pool's mutex
    uint32_t active_ = 0;                    // likewise
    std::condition_variable left_;
    Opening* next_ = nullptr;
  };

  // Called when an open job wants (more) help from `threads` threads. Cheap if all threads are
  // busy.
  void wake(uint32_t threads = 1);

  // Calls body(begin, end) on disjoint ranges that make up [0, total), on the calling thread and at
  // most `threads` - 1 others. Every range but the last has at least `grain` elements. The body
  // must not throw. Which thread gets which range varies from call to call.
  template <class Body>
  void parallel_for(uint64_t total, uint64_t grain, uint32_t threads, const Body& body) {
    run_ranges(
        total, grain, threads,
        [](const void* context, uint64_t begin, uint64_t end) {
          (*static_cast<const Body*>(context))(begin, end);
        },
        &body);
  }

 private:
  using RangeFunction = void (*)(const void* context, uint64_t begin, uint64_t end);
  void run_ranges(uint64_t total, uint64_t grain, uint32_t threads, RangeFunction function,
                  const void* context);
  void start_threads(uint32_t count);  // with the mutex held
  void begin(size_t index);            // the main function of each thread
  void work();
  Opening* find_opening();  // with the mutex held
  void help(Opening& opening, std::unique_lock<std::mutex>& lock);
  void wait_for_signal(uint64_t seen, std::unique_lock<std::mutex>& lock);

  void (*const prepare_)();
  const Options options_;
  std::atomic<uint32_t> prepared_{0};  // number of threads that have called it
  std::mutex mutex_;
  std::condition_variable signalled_;
  Opening* openings_ = nullptr;  // last in, first helped
  std::vector<std::thread> threads_;
  bool is_ending_ = false;
  std::atomic<uint64_t> signals_{0};  // changes whenever there may be something to do
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace ephost
