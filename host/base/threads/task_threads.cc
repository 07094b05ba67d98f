#include "host/base/threads/task_threads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost {

struct TaskThreads::Group {
  uint32_t unfinished = 0;  // tasks that wait or run; guarded by the mutex of the core
  std::condition_variable finished;
};

struct TaskThreads::Core {
  struct Task {
    std::shared_ptr<Group> group;
    std::function<void()> function;
  };

  explicit Core(uint32_t most) : limit(std::max(most, 1U)) {}

  static void main(const std::shared_ptr<Core>& core);
  static Status start_thread(const std::shared_ptr<Core>& core);
  void carry_out(Task task, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_enough_threads() const { return idle >= waiting.size(); }

  const uint32_t limit;
  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  std::deque<Task> waiting;
  std::vector<std::thread> threads;
  uint32_t living = 0;
  uint32_t idle = 0;
  bool is_ending = false;
};

namespace {

// The tasks that the thread is in, the innermost first.
struct Frame {
  const void* group = nullptr;
  const Frame* outer = nullptr;
};
thread_local const Frame* innermost = nullptr;

uint32_t own_tasks(const void* group) {
  uint32_t count = 0;
  for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer) {
    if (frame->group == group) ++count;
  }
  return count;
}

// Calls a function when it goes out of scope, however that happens: a task may end its thread.
template <class Function>
class AtExit {
 public:
  explicit AtExit(Function function) : function_(std::move(function)) {}
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() { function_(); }

 private:
  Function function_;
};

}  // namespace

// `lock` holds the mutex.
void TaskThreads::Core::carry_out(Task task, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const Frame frame = {task.group.get(), innermost};
  innermost = &frame;
  const AtExit end([&] {
    innermost = frame.outer;
    task.function = nullptr;  // what it holds is released before a waiting thread continues
    lock.lock();
    --task.group->unfinished;
    task.group->finished.notify_all();
  });
  task.function();
}

void TaskThreads::Core::main(const std::shared_ptr<Core>& core) {
  std::unique_lock lock(core->mutex);
  const AtExit end([&] {
    if (!lock.owns_lock()) lock.lock();
    --core->living;
    // Only if a task has ended its thread.
    if (!core->waiting.empty()) static_cast<void>(start_thread(core));
  });
  while (true) {
    ++core->idle;
    core->changed.wait(lock, [&] { return core->is_ending || !core->waiting.empty(); });
    --core->idle;
    if (core->waiting.empty()) return;
    Task task = std::move(core->waiting.front());
    core->waiting.pop_front();
    core->carry_out(std::move(task), lock);
  }
}

// With the mutex held.
Status TaskThreads::Core::start_thread(const std::shared_ptr<Core>& core) {
  try {
    core->threads.emplace_back([core] { main(core); });
    ++core->living;
    return Status::ok_status();
  } catch (const std::exception& error) {
    if (core->living > 0) return Status::ok_status();  // one of them comes to the task some time
    return Status(
        StatusCode::kFail,
        formatted("cannot start a thread ({}); raise the limit of threads of this process",
                  error.what()));
  }
}

TaskThreads::TaskThreads(uint32_t limit) : core_(std::make_shared<Core>(limit)) {}

TaskThreads::~TaskThreads() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(core_->mutex);
    core_->is_ending = true;
    threads = std::move(core_->threads);
    core_->changed.notify_all();
  }
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

TaskGroup::TaskGroup(TaskThreads& threads)
    : core_(threads.core_), group_(std::make_shared<TaskThreads::Group>()) {}

TaskGroup::~TaskGroup() {
  const uint32_t own = own_tasks(group_.get());
  std::unique_lock lock(core_->mutex);
  while (group_->unfinished > own) {
    const auto next = std::ranges::find(core_->waiting, group_, &TaskThreads::Core::Task::group);
    if (next == core_->waiting.end()) {
      group_->finished.wait(lock);
      continue;
    }
    TaskThreads::Core::Task task = std::move(*next);
    core_->waiting.erase(next);
    core_->carry_out(std::move(task), lock);
  }
}

Status TaskGroup::start(std::function<void()> task) {
  const std::lock_guard lock(core_->mutex);
  core_->waiting.push_back({group_, std::move(task)});
  if (!core_->has_enough_threads() && core_->living < core_->limit) {
    if (Status started = TaskThreads::Core::start_thread(core_); !started.ok()) {
      core_->waiting.pop_back();
      return started;
    }
  }
  ++group_->unfinished;
  core_->changed.notify_one();
  return Status::ok_status();
}

}  // namespace ephost
