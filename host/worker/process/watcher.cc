#include "host/worker/process/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <future>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/spawn.h"
#include "host/base/text.h"
#include "host/worker/process/resource_filter.h"
#include "host/worker/process/worker_main.h"

#ifndef P_PIDFD
#define P_PIDFD static_cast<idtype_t>(3)
#endif

namespace ephost::worker {
namespace {

std::mutex process_mutex;
std::weak_ptr<Watcher> process_watcher;
uint32_t process_generation = 0;

// The worker gets none of the host's descriptors, nor of its own output, which may be a file or a
// report that others read.
Status start_worker(WorkerState& worker, const FileDescriptor& socket,
                    const FileDescriptor& output) {
  const WorkerOptions& options = worker.options();
  SpawnPlan plan = {.program = options.program, .arguments = {options.program.native()}};
  plan.arguments.insert(plan.arguments.end(), options.arguments.begin(), options.arguments.end());
  plan.descriptors = {
      {output.get(), kStandardOutput}, {output.get(), kStandardError}, {socket.get(), kMainSocket}};
  EPHOST_ASSIGN_OR_RETURN(const ProcessId pid, spawn(plan));
  FileDescriptor process = open_process(pid);
  if (!process.is_open()) {
    const int error = errno;
    kill_process(pid);
    wait_for_end(pid);
    return Status(StatusCode::kFail,
                  formatted("cannot watch {}: {}", quote(options.program.native()),
                            std::generic_category().message(error)));
  }
  worker.set_started(pid, std::move(process));
  return Status::ok_status();
}

Ending ending_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.kind = Ending::Kind::kExited, .value = info.si_status};
  return {.kind = Ending::Kind::kSignalled, .value = info.si_status};
}

// Shows lines on standard error, or returns false where its reader does not keep up: the watcher
// must not wait for it.
bool show(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view part = lines.substr(0, PIPE_BUF);
    pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&error, 1, 0) <= 0 || (error.revents & POLLOUT) == 0) return false;
    const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
    if (written <= 0) return false;
    lines.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool has_ended(const WorkerState& worker) {
  pollfd process = {.fd = worker.process().get(), .events = POLLIN, .revents = 0};
  return ::poll(&process, 1, 0) > 0;
}

// What the worker has started goes with it. Its process group cannot belong to another process
// before it is reaped.
Ending reap_one(const WorkerState& worker) {
  const auto process = static_cast<id_t>(worker.process().get());
  siginfo_t info = {};
  if (::waitid(P_PIDFD, process, &info, WEXITED | WNOWAIT | WNOHANG) != 0) return {};
  ::kill(-worker.pid(), SIGKILL);
  return ::waitid(P_PIDFD, process, &info, WEXITED | WNOHANG) == 0 ? ending_of(info) : Ending{};
}

}  // namespace

Result<std::shared_ptr<Watcher>> Watcher::of_process() {
  const std::lock_guard lock(process_mutex);
  if (process_generation == fork_generation()) {
    if (std::shared_ptr<Watcher> watcher = process_watcher.lock()) return watcher;
  }
  FileDescriptor wake_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_up.is_open()) {
    return Status(StatusCode::kFail,
                  formatted("cannot watch workers: {}", std::generic_category().message(errno)));
  }
  const std::shared_ptr<Watcher> watcher(new Watcher(std::move(wake_up)));
  try {
    watcher->thread_ = std::thread([raw = watcher.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return Status(StatusCode::kFail, formatted("cannot start a thread: {}", error.what()));
  }
  process_watcher = watcher;
  process_generation = fork_generation();
  return watcher;
}

Watcher::Watcher(FileDescriptor wake_up) : wake_up_(std::move(wake_up)) {}

Watcher::~Watcher() {
  if (!thread_.joinable()) return;
  if (generation_ != fork_generation()) {
    thread_.detach();  // it stayed in the parent
    static_cast<void>(reports_.release());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake();
  thread_.join();
}

void Watcher::wake() {
  const uint64_t one = 1;
  // It can only fail because the counter is full, and then the thread wakes up anyway.
  [[maybe_unused]] const ssize_t written = ::write(wake_up_.get(), &one, sizeof one);
}

Status Watcher::start(const std::shared_ptr<WorkerState>& worker, const FileDescriptor& socket) {
  std::promise<Status> started;
  give_order([&] {
    Result<Pipe> output = make_pipe();
    Status status = output.ok() ? set_nonblocking(output->read_end) : output.status();
    if (status.ok()) status = start_worker(*worker, socket, output->write_end);
    if (status.ok()) {
      workers_.push_back(
          {worker, std::move(output->read_end), OutputLines(worker->options().name)});
    }
    started.set_value(std::move(status));
  });
  return started.get_future().get();
}

void Watcher::answer(const std::shared_ptr<WorkerState>& worker, FileDescriptor thread_requests) {
  give_order(
      [this, worker, requests = std::make_shared<FileDescriptor>(std::move(thread_requests))] {
        const auto watched = std::ranges::find(workers_, worker, &Watched::worker);
        if (watched != workers_.end()) watched->thread_requests = std::move(*requests);
      });
}

void Watcher::give_order(std::function<void()> order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  wake();
}

void Watcher::reap() {
  std::erase_if(workers_, [this](Watched& watched) {
    if (!has_ended(*watched.worker)) return false;
    show_output(watched, true);
    report(watched.worker->set_ended(reap_one(*watched.worker)));
    return true;
  });
}

void Watcher::show_output(Watched& watched, bool has_ended) {
  std::array<char, 4096> buffer;
  // A worker that prints without end does not keep the others waiting.
  constexpr int kMostInARow = 32;
  for (int i = 0; i < kMostInARow; ++i) {
    const ssize_t count = ::read(watched.output.get(), buffer.data(), buffer.size());
    if (count == 0) watched.output.reset();  // it has closed its end
    if (count <= 0) break;
    const std::string lines =
        watched.lines.add({buffer.data(), static_cast<size_t>(count)}, OutputLines::Clock::now());
    if (!show(lines)) watched.lines.drop(lines);
  }
  if (has_ended) static_cast<void>(show(watched.lines.finish()));
}

void Watcher::report(std::function<void()> failure) {
  if (failure && !reports_->group.start(failure).ok()) failure();
}

void Watcher::run() {
  // Signals are for the threads of the application.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  ::pthread_setname_np(::pthread_self(), "ephost-watcher");
  while (true) {
    std::vector<pollfd> polled = {{.fd = wake_up_.get(), .events = POLLIN, .revents = 0}};
    for (const Watched& watched : workers_) {
      polled.push_back({.fd = watched.worker->process().get(), .events = POLLIN, .revents = 0});
      // What is not open is passed over.
      polled.push_back({.fd = watched.output.get(), .events = POLLIN, .revents = 0});
      polled.push_back({.fd = watched.thread_requests.get(), .events = POLLIN, .revents = 0});
    }
    ::poll(polled.data(), polled.size(), -1);
    for (size_t i = 0; i < workers_.size(); ++i) {
      const pollfd* const of_worker = &polled[1 + 3 * i];
      if (of_worker[1].revents != 0) show_output(workers_[i], false);
      if ((of_worker[2].revents & POLLIN) == 0) continue;
      answer_about_thread(workers_[i].thread_requests,
                          workers_[i].worker->options().limits.threads);
    }
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_up_.get(), &count, sizeof count);
    reap();
    std::vector<std::function<void()>> orders;
    {
      const std::lock_guard lock(mutex_);
      orders.swap(orders_);
      if (is_over_) return;
    }
    for (const auto& order : orders) order();
  }
}

}  // namespace ephost::worker
