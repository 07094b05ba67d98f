// affine_provider.cc: a provider in C++ that uses what a compiler for an accelerator needs beyond
// minimal_provider.c. It computes y = x * scale + shift, one Mul and one Add of the model, where
// scale and shift are constants: on "device" 0, which is the processor.
//
//   devices     The user chooses one (--device affine/cpu:0), or compiles for one that is not here.
//   tokens      get_capability finds the pattern; the token of the claim says which one it was, so
//               that compile need not look for it again.
//   contexts    The payload has a few bytes only: the constants stay in the model, and come back
//               when the context is loaded.
//   options     `check_finite` is an option of a run, `grain` may change while a session lives.
//   profiling   Each computation is an event in the session's trace.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ephost/plugin.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kName = "affine";
constexpr uint64_t kBlock = 65536;  // elements after which a run may end because it is cancelled

// What a payload contains: no pointer, no time, nothing that differs from one process to the next.
struct Payload {
  std::array<char, 8> magic = {'a', 'f', 'f', 'i', 'n', 'e', '-', '1'};
  std::array<char, 8> device = {};  // the architecture that it was compiled for
};

// The two constants that a computation reads, with one element or with one for each channel, the
// last axis of x.
struct Constants {
  const eph_value* scale = nullptr;
  const eph_value* shift = nullptr;
};

// A Mul and the Add that reads it, as get_capability found them.
struct Pattern {
  uint32_t scale_input = 0;  // which input of the Mul is the constant
  uint32_t shift_input = 0;  // likewise of the Add
};

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// What the computations of a provider share. Runs of several sessions use it at the same time.
class Activity {
 public:
  std::atomic<uint64_t> grain = 4096;

  void check_in(uint64_t run_id) {
    const std::lock_guard lock(mutex_);
    checked_.insert(run_id);
  }
  void end(uint64_t run_id) {
    const std::lock_guard lock(mutex_);
    checked_.erase(run_id);
  }
  [[nodiscard]] bool is_checked(uint64_t run_id) {
    const std::lock_guard lock(mutex_);
    return checked_.count(run_id) != 0;
  }

  void start_profiling() { is_profiled_ = true; }
  [[nodiscard]] bool is_profiled() const { return is_profiled_; }
  void record(uint64_t run_id, uint64_t begin_ns, uint64_t elements) {
    const uint64_t duration_ns = now_ns() - begin_ns;
    const std::lock_guard lock(mutex_);
    events_.push_back({run_id, begin_ns, duration_ns, elements});
  }
  void stop_profiling(eph::EventList& list) {
    is_profiled_ = false;
    const std::lock_guard lock(mutex_);
    for (const Event& recorded : events_) {
      const std::string elements = std::to_string(recorded.elements);
      const eph_key_value argument = {EPH_STRING("elements"), eph::to_abi(elements)};
      eph_event event = {};
      event.name = EPH_STRING("affine");
      event.category = EPH_STRING("kernel");
      event.track = EPH_STRING("queue 0");
      event.begin_ns = recorded.begin_ns;
      event.duration_ns = recorded.duration_ns;
      event.clock = EPH_CLOCK_HOST;
      event.run_id = recorded.run_id;
      event.arguments = &argument;
      event.argument_count = 1;
      list.add(event);
    }
    events_.clear();
  }

 private:
  struct Event {
    uint64_t run_id, begin_ns, duration_ns, elements;
  };

  std::mutex mutex_;
  std::set<uint64_t> checked_;  // runs with the option check_finite
  std::vector<Event> events_;
  std::atomic<bool> is_profiled_ = false;
};

class Affine : public eph::Computation {
 public:
  Affine(Constants constants, std::string scale_name, std::string shift_name,
         std::shared_ptr<Activity> activity, eph::ThreadPool pool)
      : scale_(eph::elements<float>(*constants.scale)),
        shift_(eph::elements<float>(*constants.shift)),
        scale_name_(std::move(scale_name)),
        shift_name_(std::move(shift_name)),
        activity_(std::move(activity)),
        pool_(pool) {}

  void compute(eph::Run& run, eph::State*) override {
    const uint64_t begin_ns = activity_->is_profiled() ? now_ns() : 0;
    const eph_value& input = *run.input(0);
    const float* const x = run.input_data<float>(0);
    float* const y = run.allocate_data<float>(0, eph::shape_of(input));
    const uint64_t total = input.byte_size / sizeof(float);
    std::atomic<bool> is_cancelled = false;
    pool_.parallel_for(total, activity_->grain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t from = begin; from < end && !is_cancelled; from += kBlock) {
        if (run.is_cancelled()) is_cancelled = true;
        const uint64_t to = std::min(end, from + kBlock);
        for (uint64_t i = from; i < to; ++i) y[i] = x[i] * at(scale_, i) + at(shift_, i);
      }
    });
    if (is_cancelled) throw eph::Failure(EPH_CANCELLED, "the run was cancelled");
    if (activity_->is_checked(run.id())) check(y, total);
    if (begin_ns != 0) activity_->record(run.id(), begin_ns, total);
  }

  // y may take over the memory of x.
  void describe(eph_computation_info& info) override {
    static constexpr eph_slot_pair kPair = {0, 0};
    info.may_inplace = &kPair;
    info.may_inplace_count = 1;
  }

  // The names of the constants in the partition's graph.
  [[nodiscard]] std::vector<eph_string> constant_names() const {
    return {eph::to_abi(scale_name_), eph::to_abi(shift_name_)};
  }

 private:
  // Constants with one element count for all channels. The size of the last axis is that of the
  // longer constant, so `i` modulo it is the channel.
  [[nodiscard]] static float at(eph::ArrayView<float> values, uint64_t i) {
    return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(i % values.size())];
  }
  static void check(const float* y, uint64_t total) {
    for (uint64_t i = 0; i < total; ++i) {
      if (std::isfinite(y[i])) continue;
      throw eph::Failure(EPH_EP_FAIL, "element " + std::to_string(i) + " of the result is " +
                                          std::to_string(y[i]) +
                                          "; run without check_finite to get it all the same");
    }
  }

  eph::ArrayView<float> scale_, shift_;
  std::string scale_name_, shift_name_;
  std::shared_ptr<Activity> activity_;
  eph::ThreadPool pool_;
};

class AffineProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "AffineExecutionProvider";
  static constexpr std::string_view kName = ::kName;
  static constexpr std::string_view kVendor = "ephost examples";

  // The processor, and a second device that is used only where the user names it.
  static void get_devices(eph::Host, eph::DeviceList& list) {
    list.add(device("cpu:0", "generic", 0));
    list.add(device("simulator", "wide", EPH_DEVICE_VIRTUAL));
  }
  // Contexts can be compiled for both, wherever that happens.
  static void list_targets(eph::Host host, eph::DeviceList& list) { get_devices(host, list); }

  static std::unique_ptr<AffineProvider> create(eph::Host host, const eph::Config& config) {
    const eph_device* target = config.target();
    if (target == nullptr && !config.devices().empty()) target = &config.devices()[0];
    if (target == nullptr) {
      throw eph::Failure(EPH_INVALID_ARGUMENT, "no device was chosen; `ephost devices` lists them");
    }
    auto provider = std::make_unique<AffineProvider>(host, eph::view(target->architecture));
    provider->set_options(config);
    return provider;
  }
  AffineProvider(eph::Host host, std::string_view architecture)
      : pool_(host), architecture_(architecture), compatibility_("affine-1 " + architecture_) {}

  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    for (uint32_t n = 0; n < graph.node_count(); ++n) {
      const eph::NodeView mul = graph.node(n);
      if (mul.op_type() != "Mul" || !mul.domain().empty() || mul.is_taken()) continue;
      const eph::ValueView product = graph.value(mul.output(0));
      if (product.is_graph_output() || product.consumers().size() != 1) continue;
      const eph::NodeView add = graph.node(product.consumers()[0]);
      if (add.op_type() != "Add" || !add.domain().empty() || add.is_taken()) continue;
      const std::optional<uint32_t> scale = find_constant(graph, mul);
      const std::optional<uint32_t> shift = find_constant(graph, add);
      if (!scale || !shift) {
        claims.decline(n, "the factor or the summand is not a constant of one element or channel");
        continue;
      }
      patterns_.push_back({*scale, *shift});
      const std::vector<uint32_t> nodes = {mul.index(), add.index()};
      claims.claim_fused(nodes, mul.name(), 0, patterns_.size());  // the token counts from 1
    }
  }

  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions) {
    std::vector<std::unique_ptr<eph::Computation>> computations;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const eph_partition& partition = partitions[i];
      computations.push_back(partition.ep_context == nullptr ? compile_graph(partition)
                                                             : restore(*partition.ep_context));
    }
    return computations;
  }

  void get_ep_context_nodes(eph::ArrayView<eph::Computation*> computations,
                            eph::ContextWriter& writer) {
    Payload payload;
    architecture_.copy(payload.device.data(), payload.device.size());
    const uint32_t index = writer.begin_payload();
    writer.write(index, &payload, sizeof(payload));
    for (uint32_t i = 0; i < computations.size(); ++i) {
      const auto names = static_cast<const Affine*>(computations[i])->constant_names();
      eph_context_node node = {};
      node.computation = i;
      node.payload = index;
      writer.add_node(node, names);
    }
  }

  std::string_view compatibility() { return compatibility_; }
  static int32_t validate(eph::Host, const eph_device& device, std::string_view text) {
    constexpr std::string_view kFormat = "affine-";
    if (text.substr(0, kFormat.size()) != kFormat) return EPH_COMPATIBILITY_NOT_APPLICABLE;
    return text == "affine-1 " + std::string(eph::view(device.architecture))
               ? EPH_COMPATIBILITY_OPTIMAL
               : EPH_COMPATIBILITY_UNSUPPORTED;
  }

  void begin_run(const eph::RunConfig& config) {
    if (config.options().get_bool("check_finite", false)) activity_->check_in(config.id());
  }
  void end_run(uint64_t run_id, int32_t) { activity_->end(run_id); }
  // Also those of `create`.
  void set_options(const eph::Options& options) {
    activity_->grain = static_cast<uint64_t>(
        options.get_int("grain", static_cast<int64_t>(activity_->grain.load())));
  }

  void start_profiling() { activity_->start_profiling(); }
  void stop_profiling(eph::EventList& events) { activity_->stop_profiling(events); }

 private:
  static eph_device device(std::string_view id, std::string_view architecture, uint32_t flags) {
    eph_device made = {};
    made.id = eph::to_abi(id);
    made.name = EPH_STRING("affine unit");
    made.vendor = EPH_STRING("ephost examples");
    made.architecture = eph::to_abi(architecture);
    made.type = EPH_DEVICE_CPU;
    made.flags = flags;
    return made;
  }

  // Which of the two inputs is a constant that suits the other one, if any does.
  static std::optional<uint32_t> find_constant(const eph::GraphView& graph,
                                               const eph::NodeView& node) {
    for (uint32_t i = 0; i < 2; ++i) {
      const eph::ValueView constant = graph.value(node.input(i));
      const eph::ValueView other = graph.value(node.input(1 - i));
      if (constant.constant() == nullptr || other.constant() != nullptr) continue;
      if (other.element_type() != EPH_ELEMENT_FLOAT || other.kind() != EPH_KIND_TENSOR) return {};
      const eph::ArrayView<int64_t> shape = other.shape();
      const uint64_t count = eph::elements<float>(*constant.constant()).size();
      const bool is_scalar = count == 1 && constant.shape().size() <= shape.size();
      const bool is_channel = constant.shape().size() == 1 && !shape.empty() &&
                              shape[shape.size() - 1] == constant.shape()[0] && count != 0;
      if (other.has_rank() && (is_scalar || is_channel)) return i;
    }
    return {};
  }

  std::unique_ptr<eph::Computation> compile_graph(const eph_partition& partition) {
    if (partition.token == 0 || partition.token > patterns_.size()) {
      throw eph::Failure(EPH_FAIL, "the host passed a token that no claim had");
    }
    const Pattern& pattern = patterns_[static_cast<std::size_t>(partition.token - 1)];
    const eph::GraphView graph(partition.graph);
    const eph::ValueView scale = graph.value(graph.node(0).input(pattern.scale_input));
    const eph::ValueView shift = graph.value(graph.node(1).input(pattern.shift_input));
    return make({scale.constant(), shift.constant()}, scale.name(), shift.name());
  }

  // The payload may contain anything; the host has checked what it says about the constants.
  std::unique_ptr<eph::Computation> restore(const eph_ep_context& context) {
    const Payload expected;
    Payload payload;
    const eph::ArrayView<eph_named_value> constants = eph::outside_constants(context);
    if (context.payload.size != sizeof(payload) || constants.size() != 2) {
      throw eph::Failure(EPH_INVALID_GRAPH, "the context has another size than this provider's");
    }
    std::memcpy(&payload, context.payload.data, sizeof(payload));
    std::array<char, 8> device = {};
    architecture_.copy(device.data(), device.size());
    if (payload.magic != expected.magic || payload.device != device) {
      throw eph::Failure(EPH_INVALID_GRAPH, "the context was compiled for another device");
    }
    return make({constants[0].value, constants[1].value}, eph::view(constants[0].name),
                eph::view(constants[1].name));
  }

  std::unique_ptr<eph::Computation> make(Constants constants, std::string_view scale_name,
                                         std::string_view shift_name) {
    for (const eph_value* constant : {constants.scale, constants.shift}) {
      if (constant->kind == EPH_KIND_TENSOR && !eph::elements<float>(*constant).empty()) continue;
      throw eph::Failure(EPH_INVALID_GRAPH, "the context names a constant without elements");
    }
    return std::make_unique<Affine>(constants, std::string(scale_name), std::string(shift_name),
                                    activity_, pool_);
  }

  eph::ThreadPool pool_;
  std::string architecture_, compatibility_;
  std::vector<Pattern> patterns_;  // by the token of their claim, less 1
  std::shared_ptr<Activity> activity_ = std::make_shared<Activity>();
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.examples.affine", "1.0.0", AffineProvider)
