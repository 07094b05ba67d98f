#include "host/worker/program/served_plugin.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "host/worker/program/served_calls.h"

namespace ephost::worker {

ServedPlugin::ServedPlugin() : calls_(std::make_unique<ServedCalls>()) {}
ServedPlugin::~ServedPlugin() = default;

void ServedPlugin::serve(WorkerChannel& channel) {
  RunMemory memory;
  for (;;) {
    worker::Request received = channel.receive();
    if (std::holds_alternative<Closed>(received)) return;
    wire::Answer answer;
    if (const auto* const hot = std::get_if<HotRequest>(&received)) {
      const std::span<std::byte> area = channel.hot_area();
      {
        const ActiveCall active(channel);
        calls_->compute(channel, memory, area.first(hot->size), nullptr, answer);
      }
      PlainAnswer plain;
      plain.code = answer.code();
      plain.has_message = answer.has_message() ? 1 : 0;
      plain.message_size = std::min(answer.message().size(), area.size() - sizeof(plain));
      std::memcpy(area.data(), &plain, sizeof(plain));
      std::memcpy(area.data() + sizeof(plain), answer.message().data(), plain.message_size);
      channel.answer_hot(static_cast<uint32_t>(sizeof(plain) + plain.message_size));
      continue;
    }
    const auto call = std::make_shared<CallState>(channel);
    const Status accepted = call->receive(std::get<Message>(received));
    if (!accepted.ok()) {
      fail(answer, accepted);
    } else {
      const ActiveCall active(channel);
      try {
        if (call->request().call() == wire::COMPUTATION_COMPUTE) {
          calls_->compute(channel, memory, std::as_bytes(std::span(call->request().plain_run())),
                          call.get(), answer);
        } else {
          calls_->answer(call, answer);
        }
      } catch (const std::exception& thrown) {
        fail(answer, Status(StatusCode::kFail, thrown.what()));
      }
    }
    call->release_graphs();
    take_late(answer);
    if (!channel.answer({answer.SerializeAsString(), {}}).ok()) {
      answer.Clear();
      fail(answer, Status(StatusCode::kFail, "the answer is too large"));
      (void)channel.answer({answer.SerializeAsString(), {}});
    }
  }
}

}  // namespace ephost::worker
