// A worker program for tests: serves a plugin as ephost-worker does, or answers with what it was
// not asked for. EPHOST_LIE gives the seed; the answers follow from it. With an odd one, the lies
// begin with the first run, and most of its calls are answered truly.
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "host/plugin/slots.h"
#include "host/worker/process/worker_main.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_run.h"

namespace ephost::worker {
namespace {

class Liar {
 public:
  explicit Liar(uint32_t seed) : engine_(seed), lies_late_(seed % 2 == 1) {}

  void serve(WorkerChannel& channel) {
    for (;;) {
      Request received = channel.receive();
      if (std::holds_alternative<Closed>(received)) return;
      if (std::holds_alternative<HotRequest>(received)) {
        answer_hot(channel);
        continue;
      }
      wire::Request request;
      (void)request.ParseFromString(std::get<Message>(received).bytes);
      const bool lies = request.call() == kCall<&eph_computation_api::compute>
                            ? lies_in_run()
                            : request.call() != kLoad && !lies_late_;
      for (uint32_t i = lies ? below(3) : 0; i > 0; --i) ask(channel);
      (void)channel.answer({lies ? lie() : true_answer(request.call()), {}});
    }
  }

 private:
  uint32_t below(uint32_t limit) {
    return std::uniform_int_distribution<uint32_t>(0, limit - 1)(engine_);
  }
  // Some calls of a run are answered as they should be, so that some runs succeed.
  bool lies_in_run() { return !lies_late_ || below(3) == 0; }
  uint32_t number() { return below(4) != 0 ? below(5) : static_cast<uint32_t>(engine_()); }

  std::string text() {
    std::string made(below(3) == 0 ? below(300) : below(8), ' ');
    for (char& character : made) character = static_cast<char>(engine_());
    return made;
  }

  // A plugin that has everything, so that all functions are called; or kernels alone.
  void write_loaded(wire::Loaded& loaded) const {
    loaded.set_type_name("FixtureExecutionProvider");
    loaded.set_name("fixture");
    loaded.set_vendor("ephost tests");
    loaded.set_version("1.2.3");
    loaded.set_id("org.ephost.fixture");
    loaded.set_slots(lies_late_ ? 0x37 : 0x1FFF);
  }

  [[nodiscard]] std::string true_answer(uint32_t call) const {
    wire::Answer answer;
    if (call == kLoad) write_loaded(*answer.mutable_loaded());
    if (call == kCall<&eph_provider_api::create>) answer.mutable_provider()->set_handle(1);
    if (call == kCall<&eph_provider_api::get_kernels>) {
      for (const char* const name : {"Add", "Relu", "Mul"}) {
        wire::Kernel& kernel = *answer.add_kernels();
        kernel.set_op_type(name);
        kernel.set_since_version(1);
        kernel.set_until_version(1000);
      }
    }
    if (call == kCall<&eph_provider_api::create_kernel>) {
      wire::Computation& made = *answer.add_computations();
      made.set_handle(1);
      made.set_slots(3);
    }
    return answer.SerializeAsString();
  }

  void write_computation(wire::Computation& made) {
    made.set_handle(number());
    made.set_slots(0x1F);
    made.set_described(static_cast<int32_t>(below(2)));
    made.mutable_info()->set_workspace_bytes(below(2) == 0 ? 0 : engine_());
    made.mutable_info()->set_host_alignment(number());
    for (uint32_t i = below(3); i > 0; --i) {
      wire::SlotPair& pair = *made.mutable_info()->add_aliases();
      pair.set_input(number());
      pair.set_output(number());
    }
  }

  std::string lie() {
    wire::Answer answer;
    answer.set_code(below(3) == 0 ? static_cast<int32_t>(number()) : 0);
    answer.set_has_message(below(2) == 0);
    answer.set_message(text());
    answer.set_text(text());
    for (uint32_t i = below(4); i > 0; --i) answer.add_numbers(number());
    for (uint32_t i = below(3); i > 0; --i) answer.add_texts(text());
    answer.mutable_provider()->set_handle(number());
    plugin::ProviderExtensions::for_each([&]<class Table>() {
      wire::Extension& extension = *answer.mutable_provider()->add_extensions();
      extension.set_id(std::string(plugin::TableSlots<Table>::kId));
      extension.set_slots(number());
    });
    answer.mutable_provider()->add_extensions()->set_id("nothing");
    for (uint32_t i = below(4); i > 0; --i) {
      answer.add_devices()->set_id(text());
      write_computation(*answer.add_computations());
      answer.add_kernels()->set_op_type(below(2) == 0 ? "Add" : text());
      answer.mutable_kernels(0)->set_until_version(1000);
      answer.add_names(text());
      answer.add_memories()->set_alignment(number());
      wire::Claim& claim = *answer.add_claims();
      claim.set_kind(static_cast<wire::Claim::Kind>(below(4)));
      claim.set_node(number());
      claim.add_nodes(number());
      claim.add_nodes(number());
      claim.set_text(text());
      wire::Wish& wish = *answer.add_wishes();
      wish.add_nodes(number());
      wish.add_symbols(text());
      answer.add_events()->set_name(text());
      answer.add_kept()->set_op_type(text());
    }
    std::string bytes = answer.SerializeAsString();
    for (uint32_t i = below(4) == 0 ? below(9) : 0; i > 0 && !bytes.empty(); --i) {
      bytes[below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(engine_());
    }
    return bytes;
  }

  // Asks the host, or posts what is to be asked.
  void ask(WorkerChannel& channel) {
    const bool posts = below(3) == 0;
    wire::Callback callback;
    callback.set_asked(posts && below(8) != 0 ? wire::HOST_LOG
                                              : static_cast<wire::Asked>(below(20)));
    callback.set_severity(static_cast<int32_t>(number()));
    callback.set_text(text());
    callback.set_graph(number());
    callback.set_index(number());
    callback.set_is_value(below(2) == 0);
    callback.mutable_shared()->set_region(number());
    callback.mutable_shared()->set_offset(number());
    callback.set_size(number());
    callback.set_element_type(static_cast<int32_t>(number()));
    for (uint32_t i = below(4); i > 0; --i) callback.add_shape(static_cast<int32_t>(number()));
    callback.set_number(number());
    callback.add_numbers(number());
    callback.set_position(number());
    callback.set_removed(number());
    callback.set_payload(number());
    callback.set_data(text());
    if (below(3) == 0) {
      wire::TensorContent& content = *callback.add_contents();
      content.set_number(number());
      content.set_content(text());
    }
    std::string bytes = callback.SerializeAsString();
    if (posts && below(8) == 0) bytes = text();
    if (posts) {
      (void)channel.post({std::move(bytes), {}});
    } else {
      (void)channel.call_back({std::move(bytes), {}});
    }
  }

  void answer_hot(WorkerChannel& channel) {
    if (!lies_in_run()) {
      const PlainAnswer truth;
      std::memcpy(channel.hot_area().data(), &truth, sizeof(truth));
      channel.answer_hot(sizeof(truth));
      return;
    }
    for (uint32_t i = below(4); i > 0; --i) ask(channel);
    PlainAnswer answer;
    answer.code = static_cast<int32_t>(below(2));
    answer.has_message = below(2);
    answer.message_size = below(2) == 0 ? below(10) : engine_();
    std::memcpy(channel.hot_area().data(), &answer, sizeof(answer));
    channel.answer_hot(below(5) == 0 ? number() : 64);
  }

  std::mt19937_64 engine_;
  const bool lies_late_;
};

}  // namespace
}  // namespace ephost::worker

int main() {
  const char* const seed = std::getenv("EPHOST_LIE");
  const auto number = seed == nullptr ? 0UL : std::strtoul(seed, nullptr, 10);
  return ephost::worker::run_worker([number](ephost::worker::WorkerChannel& channel) {
    ephost::worker::Liar(static_cast<uint32_t>(number)).serve(channel);
  });
}
