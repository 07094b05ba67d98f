// threads.h: how many OpenMP threads the library uses. OpenMP keeps that number for each calling
// thread, so a scope sets it for the work inside and puts the caller's number back.
#pragma once

namespace ephost_dnnl {

// More than any machine has; a number above it is taken for a mistake.
inline constexpr int kMaxThreads = 1024;

// Keeps the library of OpenMP mapped for good: its idle threads would be left without code where
// the plugin is unloaded.
void pin_openmp();

// What OpenMP would use in this thread, but no more than the host's share; 0: it has no opinion.
[[nodiscard]] int default_thread_count(int share = 0);

class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

}  // namespace ephost_dnnl
