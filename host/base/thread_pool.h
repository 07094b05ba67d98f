// Threads that help with work of several pieces. A job is opened by the thread that has the work;
// that thread works on it too, so every job ends whether helpers come or not, and jobs may be
// opened from within jobs. Threads are started when they are first wanted, and shared by all jobs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ephost {

class ThreadPool {
 public:
  // Threads that the machine has for this process, at least 1.
  [[nodiscard]] static uint32_t default_thread_count();
  // More than anybody needs; requests are cut to it.
  static constexpr uint32_t kMaxThreads = 256;

  // Each thread calls `prepare`, if there is one, before it helps for the first time; whoever
  // starts threads waits until they have, so that nothing of it falls into later work.
  explicit ThreadPool(void (*prepare)() = nullptr) : prepare_(prepare) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // No job is open by then.
  ~ThreadPool();

  // Work that others may help with.
  class Job {
   public:
    // Whether there is something to do for one more thread. Any thread asks, at any time while the
    // job is open.
    [[nodiscard]] virtual bool wants_help() const noexcept = 0;
    // Works until there is nothing more to do at the moment. `helper`: 0 and up, less than the
    // number that the job was opened for; no two calls with the same one overlap.
    virtual void help(uint32_t helper) noexcept = 0;

   protected:
    ~Job() = default;
  };

  // A job is open while this lives. The end of it waits for helpers that are still at work.
  class Opening {
   public:
    // For at most `helpers` threads beside the calling one.
    Opening(ThreadPool& pool, Job& job, uint32_t helpers);
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    ~Opening();

   private:
    friend class ThreadPool;
    ThreadPool& pool_;
    Job& job_;
    uint32_t helpers_;
    uint64_t taken_[kMaxThreads / 64] = {};  // by helper, guarded by the pool's mutex
    uint32_t active_ = 0;                    // likewise
    std::condition_variable left_;
    Opening* next_ = nullptr;
  };

  // To be called when an open job wants help (again) from so many threads. Cheap if all are busy.
  void wake(uint32_t threads = 1);

  // Calls body(begin, end) on disjoint ranges that make up [0, total), on the calling thread and at
  // most `threads` - 1 others; ranges are of `grain` or more but for the last one. The body must
  // not throw. Which thread gets which range differs from call to call.
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
  void begin();                        // of each thread
  void work();
  Opening* find_opening();  // with the mutex held
  void help(Opening& opening, std::unique_lock<std::mutex>& lock);
  void wait_for_signal(uint64_t seen, std::unique_lock<std::mutex>& lock);

  void (*const prepare_)();
  std::atomic<uint32_t> prepared_{0};  // threads that have called it
  std::mutex mutex_;
  std::condition_variable signalled_;
  Opening* openings_ = nullptr;  // those that came last are helped first
  std::vector<std::thread> threads_;
  bool is_ending_ = false;
  std::atomic<uint64_t> signals_{0};  // changes whenever there may be something to do
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace ephost
