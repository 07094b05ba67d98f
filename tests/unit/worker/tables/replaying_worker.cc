// A worker program for tests: does in each call what a file says (replay.h), right or wrong.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>

#include "host/worker/process/worker_main.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_run.h"
#include "tests/unit/worker/tables/replay.h"

namespace ephost::worker {
namespace {

class Player {
 public:
  explicit Player(WorkerChannel& channel) : channel_(channel) {}

  void serve() {
    for (;;) {
      const Request received = channel_.receive();
      if (std::holds_alternative<Closed>(received)) return;
      is_hot_ = std::holds_alternative<HotRequest>(received);
      wire::Request request;
      if (!is_hot_) (void)request.ParseFromString(std::get<Message>(received).bytes);
      if (!is_hot_ && request.call() == kLoad) {
        (void)channel_.answer({wire::Answer().SerializeAsString(), {}});
        continue;
      }
      for (const Step& step : Replay::load(std::getenv(kReplayVariable))) play(step);
    }
  }

 private:
  void play(const Step& step) {
    for (uint32_t i = 0; i < step.times; ++i) {
      switch (step.deed) {
        case Deed::kAsk:
          if (const auto answer = channel_.call_back({step.bytes, {}}); answer.ok()) {
            (void)last_.ParseFromString(answer->bytes);
          }
          break;
        case Deed::kPost:
          if (!channel_.post({step.bytes, {}})) (void)channel_.call_back({step.bytes, {}});
          break;
        case Deed::kAnswer:
          answer(step.bytes, step.hot_size);
          break;
        case Deed::kRelay:
          relay();
          break;
      }
    }
  }

  void answer(const std::string& bytes, uint32_t hot_size) {
    if (!is_hot_) {
      (void)channel_.answer({bytes, {}});
      return;
    }
    std::memcpy(channel_.hot_area().data(), bytes.data(),
                std::min(bytes.size(), channel_.hot_area().size()));
    channel_.answer_hot(hot_size);
  }

  void relay() {
    if (!is_hot_) {
      wire::Answer answer;
      answer.set_code(last_.code());
      answer.set_has_message(last_.has_message());
      answer.set_message(last_.message());
      (void)channel_.answer({answer.SerializeAsString(), {}});
      return;
    }
    PlainAnswer plain;
    plain.code = last_.code();
    plain.has_message = last_.has_message() ? 1 : 0;
    plain.message_size = last_.message().size();
    std::string bytes(reinterpret_cast<const char*>(&plain), sizeof(plain));
    bytes += last_.message();
    answer(bytes, static_cast<uint32_t>(bytes.size()));
  }

  WorkerChannel& channel_;
  bool is_hot_ = false;
  wire::Answer last_;  // of the host
};

}  // namespace
}  // namespace ephost::worker

int main() {
  return ephost::worker::run_worker(
      [](ephost::worker::WorkerChannel& channel) { ephost::worker::Player(channel).serve(); });
}
