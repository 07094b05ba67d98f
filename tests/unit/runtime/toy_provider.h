// A provider whose kernels do what tests of the runtime need, one for each operator name.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/in_process_provider.h"

namespace ephost::runtime::testing {

// Counts what the kernels observe. Tests reset the counters that they read.
struct Observed {
  std::atomic<int> running{0};
  std::atomic<int> most_running{0};
  std::atomic<int> in_place{0};
  std::atomic<int> states{0};
  std::atomic<int> calls_before_stop{0};
  std::atomic<bool> stop{false};
  std::function<void()> probe;  // called by Probe
  std::atomic<int> meeting{0};
};
inline Observed& observed() {
  static Observed counts;
  return counts;
}

class ToyKernel : public eph::Computation {
 public:
  using Body = std::function<void(eph::Run&)>;
  ToyKernel(std::string op, Body body) : op_(std::move(op)), body_(std::move(body)) {}

  void compute(eph::Run& run, eph::State*) override {
    const int now = ++observed().running;
    int most = observed().most_running;
    while (now > most && !observed().most_running.compare_exchange_weak(most, now)) {
    }
    try {
      body_(run);
    } catch (...) {
      --observed().running;
      throw;
    }
    --observed().running;
  }
  void describe(eph_computation_info& info) override {
    if (op_ == "Workspace") info.workspace_bytes = 256;
    if (op_ == "Relu") info.may_inplace = &kPair, info.may_inplace_count = 1;
    if (op_ == "Reshape") info.aliases = &kPair, info.alias_count = 1;
    if (op_ == "Join") info.input_parts = kJoined, info.input_part_count = 2;
    if (op_ == "Halve") info.output_parts = kHalves, info.output_part_count = 2;
  }
  std::unique_ptr<eph::State> create_state() override {
    ++observed().states;
    return std::make_unique<eph::State>();
  }

 private:
  static constexpr eph_slot_pair kPair = {0, 0};
  // Parts are tensors of 16 floats.
  static constexpr eph_slot_part kJoined[] = {{0, 0, 0}, {1, 0, 64}};
  static constexpr eph_slot_part kHalves[] = {{0, 0, 0}, {0, 1, 64}};
  std::string op_;
  Body body_;
};

inline void map_floats(eph::Run& run, float (*function)(float)) {
  const eph_value& input = *run.input(0);
  const eph::ArrayView<float> from = eph::elements<float>(input);
  auto* to = run.allocate_data<float>(0, eph::shape_of(input));
  if (to == from.data()) ++observed().in_place;
  std::transform(from.begin(), from.end(), to, function);
}

inline void add(eph::Run& run) {
  const eph::ArrayView<float> a = eph::elements<float>(*run.input(0));
  const eph::ArrayView<float> b = eph::elements<float>(*run.input(1));
  auto* to = run.allocate_data<float>(0, eph::shape_of(*run.input(0)));
  for (size_t i = 0; i < a.size(); ++i) to[i] = a[i] + b[i % b.size()];
}

// The positive elements, whose number is not known before the run.
inline void positives(eph::Run& run) {
  std::vector<float> kept;
  for (const float x : eph::elements<float>(*run.input(0))) {
    if (x > 0) kept.push_back(x);
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(kept.size())};
  std::copy(kept.begin(), kept.end(), run.allocate_data<float>(0, shape));
}

inline void reshape(eph::Run& run) {
  const eph_value& input = *run.input(0);
  eph_value& output = *run.output(0);
  if (output.data == nullptr) {
    const std::vector<int64_t> flat = {static_cast<int64_t>(input.byte_size / sizeof(float))};
    run.allocate(0, flat, EPH_ELEMENT_FLOAT);
  }
  if (output.data != input.data) std::memcpy(output.data, input.data, input.byte_size);
}

inline void copy_part(const void* from, void* to) {
  if (from == to) {
    ++observed().in_place;
  } else {
    std::memcpy(to, from, 64);
  }
}

// Two tensors of 16 floats, one after the other.
inline void join(eph::Run& run) {
  auto* to = run.allocate_data<float>(0, std::vector<int64_t>{32});
  for (uint32_t i = 0; i < 2; ++i) copy_part(run.input(i)->data, to + 16 * i);
}

inline void halve(eph::Run& run) {
  const auto* from = run.input_data<float>(0);
  for (uint32_t i = 0; i < 2; ++i) {
    copy_part(from + 16 * i, run.allocate_data<float>(i, std::vector<int64_t>{16}));
  }
}

inline void shout(eph::Run& run) {
  const eph_value& input = *run.input(0);
  run.allocate(0, eph::shape_of(input), EPH_ELEMENT_STRING);
  const eph::ArrayView<eph_string> texts = eph::elements<eph_string>(input);
  for (size_t i = 0; i < texts.size(); ++i) {
    run.set_string(0, i, std::string(eph::view(texts[i])) + "!");
  }
}

inline void use_workspace(eph::Run& run) {
  std::memset(run.workspace(), 7, 256);
  auto* scratch = static_cast<unsigned char*>(run.scratch(1000));
  auto* more = static_cast<unsigned char*>(run.scratch(100000));
  std::memset(scratch, 1, 1000);
  std::memset(more, 2, 100000);
  if (scratch[999] != 1) throw std::runtime_error("scratch blocks overlap");
  map_floats(run, [](float x) { return x; });
}

// Requests cancellation in the last of `calls_before_stop` calls.
inline void stop(eph::Run& run) {
  if (--observed().calls_before_stop == 0) observed().stop = true;
  map_floats(run, [](float x) { return x; });
}

// Waits until two calls have begun.
inline void meet(eph::Run& run) {
  ++observed().meeting;
  while (observed().meeting < 2) std::this_thread::yield();
  map_floats(run, [](float x) { return x; });
}

inline void is_positive(eph::Run& run) {
  const bool positive = eph::elements<float>(*run.input(0))[0] > 0;
  *static_cast<bool*>(run.allocate(0, std::vector<int64_t>{}, EPH_ELEMENT_BOOL).data) = positive;
}

// ---- Sequences, maps and optionals

// All inputs as one sequence.
inline void sequence(eph::Run& run) {
  std::vector<const eph_value*> elements;
  for (uint32_t i = 0; i < run.input_count(); ++i) elements.push_back(run.input(i));
  run.set_output(0, &run.make_sequence(elements));
}

// Appends input 1 to the elements of input 0. Counts as in place if the array does not move.
inline void append(eph::Run& run) {
  const eph_value& base = *run.input(0);
  const void* before = base.data;
  const std::vector<const eph_value*> inserted = {run.input(1)};
  const eph_value& made = run.splice(&base, eph::parts_of(base).size(), 0, inserted);
  if (made.data == before) ++observed().in_place;
  run.set_output(0, &made);
}

inline ToyKernel::Body object_body_of(std::string_view op) {
  if (op == "SeqMake") return sequence;
  if (op == "SeqAppend") return append;
  if (op == "SeqFirst") {
    return [](eph::Run& run) { run.set_output(0, &eph::parts_of(*run.input(0))[0]); };
  }
  if (op == "SeqPass") return [](eph::Run& run) { run.set_output(0, run.input(0)); };
  if (op == "SeqNone") return [](eph::Run& run) { run.set_output(0, nullptr); };
  if (op == "SeqMap") {
    return [](eph::Run& run) { run.set_output(0, &run.make_map(*run.input(0), *run.input(1))); };
  }
  if (op == "SeqText") {
    return [](eph::Run& run) {
      eph_value& text = run.make_tensor(std::vector<int64_t>{2}, EPH_ELEMENT_STRING);
      run.set_element(text, 1, "made");
      const std::vector<const eph_value*> elements = {&text, run.input(0)};
      run.set_output(0, &run.make_sequence(elements));
    };
  }
  if (op == "SeqStranger") {
    return [](eph::Run& run) {
      const eph_value stranger = *run.input(0);
      run.set_output(0, &stranger);
    };
  }
  if (op == "SeqFar") {
    return [](eph::Run& run) { run.set_output(0, &run.splice(run.input(0), 7, 1, {})); };
  }
  if (op == "SeqTensor") {
    return [](eph::Run& run) { run.allocate_data<float>(0, std::vector<int64_t>{1}); };
  }
  if (op == "SeqProbe") {
    return [](eph::Run& run) {
      observed().probe();
      map_floats(run, [](float x) { return x; });
    };
  }
  throw eph::Failure(EPH_NOT_IMPLEMENTED, "no toy kernel for " + std::string(op));
}

inline ToyKernel::Body body_of(std::string_view op) {
  if (op == "Relu")
    return [](eph::Run& run) { map_floats(run, [](float x) { return x > 0 ? x : 0; }); };
  if (op == "Negate") {
    return [](eph::Run& run) { map_floats(run, [](float x) { return -x; }); };
  }
  if (op == "Add") return add;
  if (op == "Positives") return positives;
  if (op == "Reshape") return reshape;
  if (op == "Join") return join;
  if (op == "Halve") return halve;
  if (op == "Shout") return shout;
  if (op == "Workspace") return use_workspace;
  if (op == "Stop") return stop;
  if (op == "Meet") return meet;
  if (op == "IsPositive") return is_positive;
  if (op == "Fail") return [](eph::Run&) { throw eph::Failure(EPH_ENGINE_ERROR, "it broke"); };
  if (op == "Forget") return [](eph::Run&) {};
  if (op == "Obey") {
    return [](eph::Run& run) {
      if (run.is_cancelled()) throw eph::Failure(EPH_CANCELLED, "cancelled");
      map_floats(run, [](float x) { return x; });
    };
  }
  if (op == "Hoard") {
    return [](eph::Run& run) {
      static_cast<void>(run.scratch(uint64_t{1} << 31));
      map_floats(run, [](float x) { return x; });
    };
  }
  if (op == "Misshape") {
    return [](eph::Run& run) { run.allocate_data<float>(0, std::vector<int64_t>{1, 2, 3}); };
  }
  return object_body_of(op);
}

class ToyProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ToyExecutionProvider";
  static constexpr std::string_view kName = "toy";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<ToyProvider> create(eph::Host, const eph::Options& options) {
    return std::make_unique<ToyProvider>(options);
  }
  explicit ToyProvider(const eph::Options& options)
      : max_concurrent_(static_cast<uint32_t>(options.get_int("max_concurrent", UINT32_MAX))) {
    for (const std::string_view op : kOperators) {
      kernels_.push_back({eph::to_abi(op), {}, 1, 100, nullptr, 0});
    }
    for (const std::string_view op : kObjectOperators) {
      kernels_.push_back({eph::to_abi(op), {}, 1, 100, kAnything, 2});
    }
  }
  void describe(eph_provider_info& info) { info.max_concurrent = max_concurrent_; }
  eph::ArrayView<eph_kernel_def> kernels() { return kernels_; }
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView& graph, uint32_t node) {
    const std::string_view op = graph.node(node).op_type();
    return std::make_unique<ToyKernel>(std::string(op), body_of(op));
  }

 private:
  static constexpr std::string_view kOperators[] = {
      "Relu",      "Negate", "Add",        "Positives", "Reshape", "Shout",
      "Workspace", "Fail",   "Forget",     "Obey",      "Hoard",   "Misshape",
      "Stop",      "Meet",   "IsPositive", "Join",      "Halve"};
  static constexpr std::string_view kObjectOperators[] = {
      "SeqMake", "SeqAppend",   "SeqFirst", "SeqPass",   "SeqNone", "SeqMap",
      "SeqText", "SeqStranger", "SeqFar",   "SeqTensor", "SeqProbe"};
  static constexpr uint32_t kKinds =
      EPH_RULE_VARIADIC | EPH_RULE_TENSOR | EPH_RULE_SEQUENCE | EPH_RULE_MAP | EPH_RULE_OPTIONAL;
  static constexpr eph_type_rule kAnything[] = {{0, kKinds, ~uint64_t{0}},
                                                {0, kKinds | EPH_RULE_OUTPUT, ~uint64_t{0}}};
  uint32_t max_concurrent_;
  std::vector<eph_kernel_def> kernels_;
};

}  // namespace ephost::runtime::testing
