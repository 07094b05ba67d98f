// Threads that carry out tasks in the background, each task as if its own caller had. They are not
// the helpers of a ThreadPool: a task may take long, block, and open jobs of a pool, for which it
// never has to wait.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace ephost {

// Threads are started when there are tasks for them, and kept.
class TaskThreads {
 public:
  // At most `limit` tasks at a time; at least 1.
  explicit TaskThreads(uint32_t limit);
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;
  // No group may be left. Waits for the threads; may itself be called from within a task, whose
  // thread then ends after it.
  ~TaskThreads();

 private:
  friend class TaskGroup;
  struct Core;
  struct Group;
  std::shared_ptr<Core> core_;  // also held by each thread
};

// The tasks of one owner. `start` may be called from any thread.
class TaskGroup {
 public:
  // Borrows the threads.
  explicit TaskGroup(TaskThreads& threads);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  // Waits until all tasks are over, but for the one that calls it. It carries out those that still
  // wait for a thread itself, so that it may be called where all threads are busy.
  ~TaskGroup();

  // Calls the function once, which must not throw, and destroys it. Tasks begin in the order of
  // their start. FAIL if no thread can be started for it, in which case it is never called.
  [[nodiscard]] Status start(std::function<void()> task);

 private:
  std::shared_ptr<TaskThreads::Core> core_;
  std::shared_ptr<TaskThreads::Group> group_;
};

}  // namespace ephost
