#include "host/worker/process/worker_main.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/plugin/calls/crash_handler.h"
#include "host/plugin/loading/loader_gate.h"
#include "host/worker/process/crash_report.h"
#include "host/worker/process/resource_filter.h"
#include "host/worker/process/startup.h"
#include "host/worker/transport/packets.h"

namespace ephost::worker {
namespace {

constexpr int kNoHost = 2;
constexpr int kNotReady = 3;
// The stack of a thread that serves a channel. It counts as memory of the worker, whose limit
// should leave room for many; that of the main thread is larger.
constexpr size_t kChannelStack = size_t{2} << 20;

// Whether the host still was there when its death became the worker's: the process that has made
// the socket is the parent.
bool has_host() {
  ucred maker = {};
  socklen_t size = sizeof maker;
  return ::getsockopt(kMainSocket, SOL_SOCKET, SO_PEERCRED, &maker, &size) == 0 &&
         maker.pid == ::getppid();
}

Status install_report(const Message& order) {
  if (order.descriptors.size() != 1) {
    return Status(StatusCode::kFail, "the host has sent no memory for crash reports");
  }
  void* const address = ::mmap(nullptr, sizeof(CrashPage), PROT_READ | PROT_WRITE, MAP_SHARED,
                               order.descriptors.front().get(), 0);
  if (address == MAP_FAILED) {
    return Status(StatusCode::kFail, formatted("cannot map the memory for crash reports: {}",
                                               std::generic_category().message(errno)));
  }
  report_crashes(static_cast<CrashPage*>(address));
  return Status::ok_status();
}

// As many libraries may be added at a time while a plugin is loaded, each for those before it.
constexpr size_t kLoadGuards = 24;

struct Prepared {
  SandboxReport sandbox;
  FileDescriptor thread_requests;  // not open: threads are not limited
};

Result<Prepared> prepare(const Message& bytes) {
  EPHOST_ASSIGN_OR_RETURN(const StartOrder order, decode_order(bytes.bytes));
  EPHOST_RETURN_IF_ERROR(install_report(bytes));
  EPHOST_RETURN_IF_ERROR(apply_limits(order.limits));
  Prepared prepared;
  std::vector<std::string>& missing = prepared.sandbox.missing;
  if (order.sandbox) {
    EPHOST_ASSIGN_OR_RETURN(prepared.sandbox, enter_sandbox(*order.sandbox));
  }
  if (order.limits.memory != 0) {
    plugin::reserve_memory_files(kLoadGuards);
    const Status refused = refuse_uncounted_memory();
    if (!refused.ok()) missing.push_back(refused.message());
  }
  if (order.limits.threads != 0) {
    Result<FileDescriptor> requests = ask_about_threads();
    if (!requests.ok()) missing.push_back(requests.status().message());
    if (requests.ok()) prepared.thread_requests = std::move(*requests);
  }
  return prepared;
}

// What a thread that serves a channel gets.
struct NewChannel {
  const ServeChannel& serve;
  FileDescriptor socket;
  FileDescriptor page;
};

// Where the channel is not served, the host sees its socket close.
void serve_channel(NewChannel& made) {
  plugin::SignalStack stack;
  stack.set_up();
  std::shared_ptr<WorkerChannel> channel;
  try {
    Result<std::shared_ptr<WorkerChannel>> mapped =
        WorkerChannel::open(std::move(made.socket), std::move(made.page));
    if (mapped.ok()) channel = std::move(*mapped);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (channel != nullptr) made.serve(*channel);
}

void* serve_new_channel(void* given) noexcept {
  const std::unique_ptr<NewChannel> made(static_cast<NewChannel*>(given));
  serve_channel(*made);
  return nullptr;
}

// Whether there is one.
bool start_thread(std::unique_ptr<NewChannel>& made) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kChannelStack);
  pthread_t thread = {};
  const bool is_started =
      ::pthread_create(&thread, &attributes, &serve_new_channel, made.get()) == 0;
  ::pthread_attr_destroy(&attributes);
  if (is_started) static_cast<void>(made.release());
  return is_started;
}

// What the worker has no thread, memory or descriptors for fails alone.
void open_channel(const ServeChannel& serve, std::vector<FileDescriptor> descriptors) {
  if (descriptors.size() != 2) return;
  auto made = std::make_unique<NewChannel>(
      NewChannel{serve, std::move(descriptors[0]), std::move(descriptors[1])});
  if (start_thread(made)) return;
  static_cast<void>(send_packet(made->socket, Message{std::string(kChannelRefused)}, Waiting::kNo));
}

void serve_channels(const FileDescriptor& socket, const ServeChannel& serve) {
  const auto buffer = std::make_unique_for_overwrite<PacketBuffer>();
  while (true) {
    try {
      Result<std::optional<Message>> message = receive_packet(socket, Waiting::kYes, *buffer);
      if (is_shortage(message.status())) continue;
      if (!message.ok() || !*message) return;
      open_channel(serve, std::move((*message)->descriptors));
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

}  // namespace

int run_worker(const ServeChannel& serve, const std::function<void()>& at_end) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a pipe, of which the host shows each line
  const FileDescriptor socket(kMainSocket);
  if (::fcntl(kMainSocket, F_SETFD, FD_CLOEXEC) != 0 || !has_host()) return kNoHost;
  Result<std::optional<Message>> order = receive_packet(socket, Waiting::kYes);
  if (!order.ok() || !*order) return kNoHost;
  plugin::SignalStack stack;
  stack.set_up();
  Result<Prepared> prepared = prepare(**order);
  order = std::optional<Message>();
  ReadyReport report;
  std::vector<FileDescriptor> sent;
  if (prepared.ok()) {
    report.sandbox = std::move(prepared->sandbox);
    // The host alone has it from then on.
    if (prepared->thread_requests.is_open()) sent.push_back(std::move(prepared->thread_requests));
  } else {
    report.failure = prepared.status().message();
  }
  if (const Message ready{encode(report), std::move(sent)};
      !send_packet(socket, ready, Waiting::kYes).ok()) {
    return kNoHost;
  }
  if (!report.failure.empty()) return kNotReady;
  serve_channels(socket, serve);
  if (at_end) at_end();
  return 0;
}

}  // namespace ephost::worker
