#include "host/worker/process/worker_process.h"

#include <utility>

#include "host/base/format.h"
#include "host/base/processes/waiting.h"
#include "host/base/text.h"
#include "host/worker/process/startup.h"
#include "host/worker/process/watcher.h"
#include "host/worker/process/worker_state.h"
#include "host/worker/transport/packets.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {
namespace {

Status send_order(const WorkerState& worker, const SharedRegionPtr& page) {
  Message order{encode(StartOrder{worker.options().limits, worker.options().sandbox})};
  EPHOST_ASSIGN_OR_RETURN(FileDescriptor sent, duplicate(page->descriptor));
  order.descriptors.push_back(std::move(sent));
  return send_packet(worker.socket(), order, Waiting::kNo);
}

Result<SandboxReport> await_report(WorkerState& worker, FileDescriptor& thread_requests) {
  const std::chrono::duration<double> limit = worker.options().start_limit;
  if (!wait_until_readable(worker.socket(), worker.options().start_limit)) {
    worker.kill(formatted("it was not ready after {} s", limit.count()));
    return worker.status();
  }
  Result<std::optional<Message>> message = receive_packet(worker.socket(), Waiting::kNo);
  if (message.ok() && !*message) return worker.failure_after_hangup();
  const auto read = [&]() -> Result<ReadyReport> {
    EPHOST_RETURN_IF_ERROR(message.status());
    const size_t most = worker.options().limits.threads != 0 ? 1 : 0;
    if ((*message)->is_posted || (*message)->descriptors.size() > most) {
      return Status(StatusCode::kEpFail, "its report is a post, or has too many descriptors");
    }
    return decode_report((*message)->bytes);
  };
  const Result<ReadyReport> report = read();
  if (!report.ok()) {
    worker.kill("it sent an invalid message at its start: " + report.status().message());
    return worker.status();
  }
  if (report->failure.empty()) {
    for (FileDescriptor& requests : (*message)->descriptors) thread_requests = std::move(requests);
    return report->sandbox;
  }
  worker.kill("it is not safe to use: " + report->failure);
  return worker.status();
}

}  // namespace

std::string describe(const Ending& ending) {
  const std::string because = ending.reason.empty() ? "" : ": " + ending.reason;
  switch (ending.kind) {
    case Ending::Kind::kExited:
      return formatted("exited with status {}{}{}", ending.value,
                       ending.report.empty() ? "" : ", as ", ending.report) +
             because;
    case Ending::Kind::kSignalled:
      if (!ending.report.empty()) return "died of " + ending.report + because;
      return "died of " + signal_name(ending.value) + because;
    case Ending::Kind::kKilled:
      return "was ended" + because;
    case Ending::Kind::kUnknown:
      break;
  }
  return "ended; how, is not known, as another part of the program has waited for it" + because;
}

ChannelLease::ChannelLease(std::shared_ptr<WorkerState> state, std::unique_ptr<HostChannel> channel)
    : state_(std::move(state)), channel_(std::move(channel)) {}

ChannelLease::ChannelLease(ChannelLease&& other) noexcept = default;

ChannelLease& ChannelLease::operator=(ChannelLease&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(channel_, other.channel_);
  return *this;
}

ChannelLease::~ChannelLease() {
  if (channel_ != nullptr) state_->give_back(std::move(channel_));
}

WorkerProcess::WorkerProcess(std::shared_ptr<WorkerState> state, std::shared_ptr<Watcher> watcher)
    : watcher_(std::move(watcher)), state_(std::move(state)) {}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(WorkerOptions options) {
  EPHOST_ASSIGN_OR_RETURN(std::shared_ptr<Watcher> watcher, Watcher::of_process());
  EPHOST_ASSIGN_OR_RETURN(SocketPair sockets, create_socket_pair());
  EPHOST_ASSIGN_OR_RETURN(
      SharedMemory page,
      SharedMemory::create("ephost-report", sizeof(CrashPage), SharedAccess::kReadWrite));
  const SharedRegionPtr region = page.region();
  auto state =
      std::make_shared<WorkerState>(std::move(options), std::move(sockets.host), std::move(page));
  EPHOST_RETURN_IF_ERROR(watcher->start(state, sockets.worker));
  sockets.worker.reset();
  // From here on, its destructor ends the worker.
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(state, std::move(watcher)));
  if (const Status sent = send_order(*state, region); !sent.ok()) {
    if (sent.code() != StatusCode::kEpFail) return sent;
    return state->failure_after_hangup(sent.message());
  }
  FileDescriptor thread_requests;
  EPHOST_ASSIGN_OR_RETURN(state->sandbox_report, await_report(*state, thread_requests));
  if (thread_requests.is_open()) worker->watcher_->answer(state, std::move(thread_requests));
  return worker;
}

WorkerProcess::~WorkerProcess() {
  if (!state_->is_of_this_process()) return;
  state_->drop_free_channels();
  state_->dismiss();
  if (state_->wait_until_ended(state_->options().grace)) return;
  state_->kill("it did not exit in time");
  // Nothing survives SIGKILL; only a system call that is stuck in the kernel can delay it.
  while (!state_->wait_until_ended(std::chrono::seconds(10))) continue;
}

Result<ChannelLease> WorkerProcess::channel() {
  EPHOST_ASSIGN_OR_RETURN(std::unique_ptr<HostChannel> channel, state_->take_channel());
  return ChannelLease(state_, std::move(channel));
}

const std::string& WorkerProcess::name() const { return state_->options().name; }
ProcessId WorkerProcess::pid() const { return state_->pid(); }
const SandboxReport& WorkerProcess::sandbox_report() const { return state_->sandbox_report; }
Status WorkerProcess::status() const { return state_->status(); }
std::optional<Ending> WorkerProcess::ending() const { return state_->ending(); }
void WorkerProcess::kill(const std::string& reason) { state_->kill(reason); }

}  // namespace ephost::worker
