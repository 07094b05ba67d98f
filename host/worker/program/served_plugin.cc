#include "host/worker/program/served_plugin.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/thrown.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/serialized.h"

namespace ephost::worker {
namespace {

// Returns the size of the answer.
uint32_t write_plain(int32_t code, bool has_message, std::string_view message,
                     std::span<std::byte> area) {
  PlainAnswer plain;
  plain.code = code;
  plain.has_message = has_message ? 1 : 0;
  plain.message_size = std::min(message.size(), area.size() - sizeof(plain));
  std::memcpy(area.data(), &plain, sizeof(plain));
  std::memcpy(area.data() + sizeof(plain), message.data(), plain.message_size);
  return static_cast<uint32_t>(sizeof(plain) + plain.message_size);
}

std::string_view text_of_thrown(const std::exception& thrown) {
  return dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr
             ? "out of memory in its worker; session.isolation.memory limits it"
             : thrown.what();
}

Status send_answer(WorkerChannel& channel, const wire::Answer& answer) {
  EPHOST_ASSIGN_OR_RETURN(std::string bytes,
                          serialized(answer, "the worker's answer", kMaxFromWorker));
  return channel.answer({std::move(bytes), {}});
}

void fail_call(WorkerChannel& channel, const Status& status) {
  wire::Answer answer;
  fail(answer, status);
  (void)channel.answer({answer.SerializeAsString(), {}});
}

}  // namespace

ServedPlugin::ServedPlugin() : calls_(std::make_unique<ServedCalls>()) {}
ServedPlugin::~ServedPlugin() = default;

void ServedPlugin::serve(WorkerChannel& channel) {
  const ServedChannel served(channel);
  RunMemory memory;
  for (;;) {
    worker::Request received = channel.receive();
    if (std::holds_alternative<Closed>(received)) return;
    if (const auto* const hot = std::get_if<HotRequest>(&received)) {
      serve_hot(channel, memory, hot->size);
    } else if (const auto* const lost = std::get_if<LostRequest>(&received)) {
      fail_call(channel, lost->reason);
    } else {
      serve_message(channel, memory, std::get<Message>(received));
    }
  }
}

void ServedPlugin::serve_hot(WorkerChannel& channel, RunMemory& memory, uint32_t size) {
  const std::span<std::byte> area = channel.hot_area();
  uint32_t answered = 0;
  try {
    wire::Answer answer;
    {
      const ActiveCall active(channel);
      calls_->compute(channel, memory, area.first(size), nullptr, answer);
    }
    answered = write_plain(answer.code(), answer.has_message(), answer.message(), area);
  } catch (const std::exception& thrown) {
    answered = write_plain(static_cast<int32_t>(status_of_thrown(thrown).code()), true,
                           text_of_thrown(thrown), area);
  }
  channel.answer_hot(answered);
}

void ServedPlugin::serve_message(WorkerChannel& channel, RunMemory& memory,
                                 const Message& message) {
  wire::Answer answer;
  Status status;
  try {
    status = answer_message(channel, memory, message, answer);
    if (status.ok()) status = send_answer(channel, answer);
  } catch (const std::exception& thrown) {
    status = Status(status_of_thrown(thrown).code(), std::string(text_of_thrown(thrown)));
  }
  if (status.ok()) return;
  calls_->discard(answer);
  fail_call(channel, status);
}

Status ServedPlugin::answer_message(WorkerChannel& channel, RunMemory& memory,
                                    const Message& message, wire::Answer& answer) {
  const auto call = std::make_shared<CallState>(channel);
  EPHOST_RETURN_IF_ERROR(call->receive(message));
  const ActiveCall active(channel);
  if (call->request().call() == kCall<&eph_computation_api::compute>) {
    calls_->compute(channel, memory, std::as_bytes(std::span(call->request().plain_run())),
                    call.get(), answer);
  } else {
    calls_->answer(call, answer);
  }
  call->release_graphs();
  return {};
}

}  // namespace ephost::worker
