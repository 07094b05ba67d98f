// The plugin of wrapper_test.cc: a provider that declares everything and throws what the test asks
// for, and one that declares only what it must.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ephost/plugin.hpp>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::test {

// What the next call of the plugin throws.
enum class Throws { kNothing, kFailure, kFailureWithOk, kStandard, kBadAlloc, kOther };
inline Throws throws = Throws::kNothing;
inline int alive = 0;

inline void maybe_throw() {
  switch (throws) {
    case Throws::kNothing:
      return;
    case Throws::kFailure:
      throw eph::Failure(EPH_INVALID_GRAPH, "a failure with a code");
    case Throws::kFailureWithOk:
      throw eph::Failure(EPH_OK, "a failure that claims success");
    case Throws::kStandard:
      throw std::runtime_error("a standard exception");
    case Throws::kBadAlloc:
      throw std::bad_alloc();
    case Throws::kOther:
      throw 42;
  }
}

struct CountedState : eph::State {
  CountedState() { ++alive; }
  ~CountedState() override { --alive; }
};

class Doubling : public eph::Computation {
 public:
  Doubling() { ++alive; }
  ~Doubling() override { --alive; }
  void compute(eph::Run& run, eph::State*) override {
    maybe_throw();
    const eph_value& in = *run.input(0);
    auto* out = run.allocate_data<float>(0, eph::shape_of(in));
    for (const float x : eph::elements<float>(in)) *out++ = 2 * x;
  }
  void describe(eph_computation_info& info) override { info.host_alignment = 4096; }
  std::unique_ptr<eph::State> create_state() override {
    maybe_throw();
    return std::make_unique<CountedState>();
  }
};

class FullProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "FullExecutionProvider";
  static constexpr std::string_view kName = "full";
  static constexpr std::string_view kVendor = "tests";

  static void get_devices(eph::Host, eph::DeviceList& list) {
    maybe_throw();
    eph_device device = {};
    device.id = eph::to_abi("abacus-1");
    device.name = eph::to_abi("abacus");
    list.add(device);
  }
  static std::unique_ptr<FullProvider> create(eph::Host host, const eph::Config& options) {
    maybe_throw();
    std::string text = "made in " + std::string(options.directory());
    for (std::size_t i = 0; i < options.devices().size(); ++i) {
      text += " for " + std::string(eph::view(options.devices()[i].id));
    }
    if (options.target() != nullptr) text += " for " + std::string(eph::view(options.target()->id));
    if (options.is_for(EPH_PURPOSE_WRITES_CONTEXT)) text += ", writes";
    if (options.is_for(EPH_PURPOSE_COMPILE_ONLY)) text += ", compiles";
    if (options.get_bool("nothing", false)) return nullptr;
    host.log(EPH_LOG_INFO, text);
    return std::make_unique<FullProvider>();
  }
  FullProvider() { ++alive; }
  ~FullProvider() { --alive; }

  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    maybe_throw();
    for (uint32_t n = 0; n < graph.node_count(); ++n) {
      if (claims.has_kernel(n)) claims.claim_node(n);
      if (graph.node(n).op_type() == "Mul") claims.decline(n, "no Mul here");
    }
    const std::vector<uint32_t> first{0};
    claims.claim_fused(first, "first", EPH_CLAIM_DROP_CONSTANTS);
  }
  eph::ArrayView<eph_kernel_def> kernels() {
    maybe_throw();
    return list_;
  }
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView&, uint32_t node) {
    maybe_throw();
    if (node == 7) return nullptr;
    return std::make_unique<Doubling>();
  }
  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions) {
    maybe_throw();
    std::vector<std::unique_ptr<eph::Computation>> made;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      if (eph::view(partitions[i].name) == "skip") continue;
      made.push_back(eph::view(partitions[i].name) == "null" ? nullptr
                                                             : std::make_unique<Doubling>());
    }
    return made;
  }
  void get_ep_context_nodes(eph::ArrayView<eph::Computation*> computations,
                            eph::ContextWriter& writer) {
    maybe_throw();
    const uint32_t payload = writer.begin_payload("for abacus-1");
    writer.write(payload, "bytes", 5);
    for (uint32_t i = 0; i < computations.size(); ++i) {
      eph_context_node node = {};
      node.computation = i;
      node.payload = payload;
      writer.add_node(node);
    }
  }
  std::string_view compatibility() {
    maybe_throw();
    return "any";
  }
  static int32_t validate(eph::Host, const eph_device& device, std::string_view text) {
    maybe_throw();
    return text == "any" && eph::view(device.id) == "abacus-1" ? EPH_COMPATIBILITY_OPTIMAL
                                                               : EPH_COMPATIBILITY_UNSUPPORTED;
  }
  static void list_targets(eph::Host, eph::DeviceList& list) {
    maybe_throw();
    eph_device device = {};
    device.id = eph::to_abi("abacus-2");
    list.add(device);
  }
  std::vector<std::string> list_partitions(const eph_bytes& payload) {
    maybe_throw();
    return {"one", std::string(static_cast<const char*>(payload.data), payload.size)};
  }
  const void* extension(std::string_view id) {
    maybe_throw();
    return id == "known/1" ? this : nullptr;
  }

 private:
  std::vector<eph_kernel_def> list_{{EPH_STRING("Double"), {}, 1, 1, nullptr, 0}};
};

class BareProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "BareExecutionProvider";
  static constexpr std::string_view kName = "bare";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<BareProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<BareProvider>();
  }
};

}  // namespace ephost::test
