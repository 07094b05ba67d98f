// threads.h: the number of OpenMP threads that the library uses. OpenMP keeps that number for each
// calling thread, so a scope sets it for the work inside and restores the caller's number.
#pragma once

namespace ephost_dnnl {

// More than any machine has; a larger number is treated as a mistake.
inline constexpr int kMaxThreads = 1024;

// Keeps the OpenMP runtime mapped for the life of the process: its idle threads would lose their
// code if the plugin were unloaded.
void pin_openmp();

// The number of threads that OpenMP would use from this thread, at most the host's share. A share
// of 0 sets no limit.
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
