#include "host/worker/process/worker_main.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/plugin/calls/crash_handler.h"
#include "host/worker/process/crash_report.h"
#include "host/worker/process/startup.h"
#include "host/worker/transport/packets.h"

namespace ephost::worker {
namespace {

constexpr int kNoHost = 2;
constexpr int kNotReady = 3;

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

Result<SandboxReport> prepare(const Message& bytes) {
  EPHOST_ASSIGN_OR_RETURN(const StartOrder order, decode_order(bytes.bytes));
  EPHOST_RETURN_IF_ERROR(install_report(bytes));
  EPHOST_RETURN_IF_ERROR(apply_limits(order.limits));
  if (!order.sandbox) return SandboxReport();
  return enter_sandbox(*order.sandbox);
}

void serve_channel(const ServeChannel& serve, FileDescriptor socket, FileDescriptor page) {
  plugin::SignalStack stack;
  stack.set_up();
  Result<std::shared_ptr<WorkerChannel>> channel =
      WorkerChannel::open(std::move(socket), std::move(page));
  if (channel.ok()) serve(**channel);
}

void serve_channels(const FileDescriptor& socket, const ServeChannel& serve) {
  while (true) {
    Result<std::optional<Message>> message = receive_packet(socket, Waiting::kYes);
    if (!message.ok() || !*message) return;
    std::vector<FileDescriptor>& descriptors = (*message)->descriptors;
    if (descriptors.size() != 2) return;
    try {
      std::thread(serve_channel, serve, std::move(descriptors[0]), std::move(descriptors[1]))
          .detach();
    } catch (const std::system_error&) {
      return;  // no more threads: the host sees the worker end
    }
  }
}

}  // namespace

int run_worker(const ServeChannel& serve, const std::function<void()>& at_end) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const FileDescriptor socket(kMainSocket);
  if (::fcntl(kMainSocket, F_SETFD, FD_CLOEXEC) != 0) return kNoHost;
  Result<std::optional<Message>> order = receive_packet(socket, Waiting::kYes);
  if (!order.ok() || !*order) return kNoHost;
  plugin::SignalStack stack;
  stack.set_up();
  Result<SandboxReport> prepared = prepare(**order);
  order = std::optional<Message>();
  ReadyReport report;
  if (prepared.ok()) {
    report.sandbox = std::move(*prepared);
  } else {
    report.failure = prepared.status().message();
  }
  if (!send_packet(socket, Message{encode(report)}, Waiting::kYes).ok()) return kNoHost;
  if (!report.failure.empty()) return kNotReady;
  serve_channels(socket, serve);
  if (at_end) at_end();
  return 0;
}

}  // namespace ephost::worker
