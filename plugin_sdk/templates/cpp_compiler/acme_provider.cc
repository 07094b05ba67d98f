// acme_provider.cc: an execution provider that compiles: chains of Relu, Add and Mul of floats, in
// which each node feeds the next one only, become one computation, e.g. y = relu(a * b + c). What
// it compiled goes into the EP context cache, and comes back from there without the model's nodes.
//
// Read from the bottom: entry point, provider, compilation. acme_chain.cc runs chains. For more
// operators, start with operation_of and add_node.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ephost/plugin.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "acme_chain.h"

namespace acme_plugin {
namespace {

// ---- Looking at graphs --------------------------------------------------------------------------

// The operation of a node; kLoad if it is not one of ours. The versions are those at which ONNX
// changed the operators, and which mean the same for floats.
Operation operation_of(const eph::NodeView& node) {
  if (!node.domain().empty() || node.since_version() > 14) return kLoad;
  if (node.op_type() == "Relu" && node.since_version() >= 6) return kRelu;
  if (node.op_type() == "Add" && node.since_version() >= 7) return kAdd;
  if (node.op_type() == "Mul" && node.since_version() >= 7) return kMul;
  return kLoad;
}

bool is_plain_tensor(const eph::ValueView& value) {
  return value.kind() == EPH_KIND_TENSOR && value.element_type() == EPH_ELEMENT_FLOAT &&
         value.has_static_shape() && value.shape().size() <= kMaxRank &&
         count_elements(value.shape().begin(), value.shape().size());
}

// Whether an operand of a node fits: a tensor of the output's shape, or a constant of one element.
bool is_operand(const eph::ValueView& input, const eph::ValueView& output) {
  if (!is_plain_tensor(input)) return false;
  const eph::ArrayView<int64_t> a = input.shape();
  const eph::ArrayView<int64_t> b = output.shape();
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return true;
  return input.constant() != nullptr && input.constant()->byte_size == sizeof(float);
}

// Whether a node may be part of a chain.
bool is_link(const eph::GraphView& graph, const eph::NodeView& node) {
  if (node.is_taken() || operation_of(node) == kLoad) return false;
  const eph::ValueView output = graph.value(node.output(0));
  return is_plain_tensor(output) &&
         std::all_of(node.inputs().begin(), node.inputs().end(),
                     [&](uint32_t input) { return is_operand(graph.value(input), output); });
}

// The node that continues the chain: the only reader of the output.
uint32_t next_of(const eph::ValueView& output) {
  const eph::ArrayView<uint32_t> readers = output.consumers();
  if (output.is_graph_output() || readers.empty()) return EPH_NONE;
  const bool is_one = std::all_of(readers.begin(), readers.end(),
                                  [&](uint32_t reader) { return reader == readers[0]; });
  return is_one ? readers[0] : EPH_NONE;
}

// ---- Compiling a chain from its graph -----------------------------------------------------------

class Compiler {
 public:
  explicit Compiler(const eph::GraphView& graph) : graph_(graph) {
    if (graph.outputs().size() != 1 || graph.inputs().size() > kMaxSteps) {
      throw eph::Failure(EPH_EP_FAIL, "a partition has other inputs or outputs than a chain");
    }
    program_.input_count = static_cast<uint32_t>(graph.inputs().size());
    for (uint32_t n = 0; n < graph.node_count(); ++n) add_node(graph.node(n));
    if (result_ != graph.outputs()[0]) {
      throw eph::Failure(EPH_EP_FAIL, "a chain does not end in the output of the partition");
    }
  }

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] std::vector<Constant> take_constants() { return std::move(constants_); }

 private:
  // Adds the steps of one node, whose output is then the result.
  void add_node(const eph::NodeView& node) {
    require(is_link(graph_, node), node);
    const uint32_t first = node.input(0);
    const uint32_t last = node.input(node.inputs().size() - 1);
    if (node.index() == 0) {
      add_step(kLoad, first, node);
      result_ = first;
    }
    // The result of the node before may stand on either side.
    require(first == result_ || last == result_, node);
    add_step(operation_of(node), first == result_ ? last : first, node);
    const eph::ValueView output = graph_.value(node.output(0));
    program_.rank = static_cast<uint32_t>(output.shape().size());
    std::copy(output.shape().begin(), output.shape().end(), program_.shape.begin());
    result_ = node.output(0);
  }
  void add_step(Operation operation, uint32_t value, const eph::NodeView& node) {
    require(program_.step_count < kMaxSteps, node);
    program_.steps[program_.step_count++] = {operation, operand_of(value, node)};
  }

  // The operand that stands for a value of the graph.
  uint32_t operand_of(uint32_t value, const eph::NodeView& node) {
    if (value == result_) return kResult;
    const auto* const inputs = graph_.inputs().begin();
    const auto* const input = std::find(inputs, graph_.inputs().end(), value);
    if (input != graph_.inputs().end()) return static_cast<uint32_t>(input - inputs);
    const eph::ValueView found = graph_.value(value);
    require(found.constant() != nullptr, node);
    for (uint32_t c = 0; c < constants_.size(); ++c) {
      if (constants_[c].name() == found.name()) return kFirstConstant + c;
    }
    require(constants_.size() < kMaxConstants, node);
    constants_.emplace_back(found.name(), *found.constant());
    return kFirstConstant + program_.constant_count++;
  }

  static void require(bool is_right, const eph::NodeView& node) {
    if (is_right) return;
    throw eph::Failure(EPH_EP_FAIL, "the " + std::string(node.op_type()) + " node '" +
                                        std::string(node.name()) +
                                        "' does not belong to a chain of Relu, Add and Mul");
  }

  const eph::GraphView& graph_;
  uint32_t result_ = EPH_NONE;
  Program program_ = {};
  std::vector<Constant> constants_;
};

// ---- The provider -------------------------------------------------------------------------------

// A payload is the magic and one program for each chain, in this machine's byte order, which the
// compatibility text names. Each EPContext node notes the index of its program.
constexpr std::array<char, 8> kMagic = {'C', 'H', 'A', 'I', 'N', 'S', '0', '1'};

// The text has two parts: the format of payloads, which must be the same, and the plugin's version,
// which is at most a reason to recompile.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PAYLOAD_FORMAT "acme-1-big-endian "
#else
#define PAYLOAD_FORMAT "acme-1-little-endian "
#endif
constexpr std::string_view kCompatibility = PAYLOAD_FORMAT PLUGIN_VERSION;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

class AcmeProvider : public eph::Provider {
 public:
  // Those of the manifest; the host compares them.
  static constexpr std::string_view kTypeName = "AcmeExecutionProvider";
  static constexpr std::string_view kName = "acme";
  static constexpr std::string_view kVendor = "Acme Corp.";

  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("cpu");  // users and caches know the device by it: it never changes
    device.name = EPH_STRING("any processor");
    device.architecture = EPH_STRING("generic");
    device.type = EPH_DEVICE_CPU;
    list.add(device);
  }

  // The manifest declares the options; the host has checked type and range of each.
  static std::unique_ptr<AcmeProvider> create(eph::Host host, const eph::Config& config) {
    return std::make_unique<AcmeProvider>(host, config.get_int("min_nodes", 2));
  }
  AcmeProvider(eph::Host host, int64_t min_nodes)
      : pool_(host), min_nodes_(static_cast<std::size_t>(min_nodes)) {}

  // Claims chains. They are convex by construction: only the last node is read from outside. The
  // host drops a bad claim and reports why, so that a mistake here does not break a model.
  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    std::vector<bool> visited(graph.node_count());
    for (uint32_t n = 0; n < graph.node_count(); ++n) {
      const std::vector<uint32_t> nodes = collect_chain(graph, n, visited);
      if (nodes.size() >= min_nodes_ && !nodes.empty()) {
        claims.claim_fused(nodes, "chain");
        continue;
      }
      // This reason appears in `ephost partition --explain`.
      for (const uint32_t node : nodes) {
        claims.decline(node, "its chain is shorter than the option min_nodes");
      }
    }
  }

  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions) {
    std::vector<std::unique_ptr<eph::Computation>> computations;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const eph_partition& partition = partitions[i];
      computations.push_back(partition.ep_context == nullptr
                                 ? compile_graph(eph::GraphView(partition.graph))
                                 : restore(*partition.ep_context));
    }
    return computations;
  }

  void get_ep_context_nodes(eph::ArrayView<eph::Computation*> computations,
                            eph::ContextWriter& writer) {
    const uint32_t payload = writer.begin_payload();
    writer.write(payload, kMagic.data(), kMagic.size());
    for (uint32_t i = 0; i < computations.size(); ++i) {
      const auto& chain = static_cast<const Chain&>(*computations[i]);
      writer.write(payload, &chain.program(), sizeof(Program));
      const std::string notes = std::to_string(i);
      eph_context_node node = {};
      node.computation = i;
      node.payload = payload;
      node.sdk_version = EPH_STRING(PLUGIN_VERSION);
      node.notes = eph::to_abi(notes);
      writer.add_node(node, chain.constant_names());
    }
  }

  std::string_view compatibility() { return kCompatibility; }
  // The answer is the same for each device here.
  static int32_t validate(eph::Host, const eph_device&, std::string_view text) {
    if (text == kCompatibility) return EPH_COMPATIBILITY_OPTIMAL;
    if (starts_with(text, PAYLOAD_FORMAT)) return EPH_COMPATIBILITY_PREFER_RECOMPILATION;
    return starts_with(text, "acme-") ? EPH_COMPATIBILITY_UNSUPPORTED
                                      : EPH_COMPATIBILITY_NOT_APPLICABLE;
  }

 private:
  // Follows a chain from its first node and marks what it takes.
  static std::vector<uint32_t> collect_chain(const eph::GraphView& graph, uint32_t first,
                                             std::vector<bool>& visited) {
    std::vector<uint32_t> nodes;
    std::size_t constants = 0;
    uint32_t index = first;
    while (index != EPH_NONE && !visited[index] && nodes.size() < kMaxSteps - 1) {
      const eph::NodeView node = graph.node(index);
      if (!is_link(graph, node)) break;
      for (const uint32_t input : node.inputs()) {
        if (graph.value(input).constant() != nullptr) ++constants;
      }
      if (constants > kMaxConstants) break;
      visited[index] = true;
      nodes.push_back(index);
      index = next_of(graph.value(node.output(0)));
    }
    return nodes;
  }

  std::unique_ptr<eph::Computation> compile_graph(const eph::GraphView& graph) {
    Compiler compiler(graph);
    return std::make_unique<Chain>(compiler.program(), compiler.take_constants(), pool_,
                                   EPH_EP_FAIL);
  }

  // The payload comes from a file: whatever it contains, the answer is a chain that works or
  // EPH_INVALID_GRAPH.
  std::unique_ptr<eph::Computation> restore(const eph_ep_context& context) {
    const std::string_view bytes(static_cast<const char*>(context.payload.data),
                                 static_cast<std::size_t>(context.payload.size));
    const std::string_view magic(kMagic.data(), kMagic.size());
    if (!starts_with(bytes, magic) || (bytes.size() - magic.size()) % sizeof(Program) != 0) {
      throw eph::Failure(EPH_INVALID_GRAPH, "this is not a complete context of this provider");
    }
    const std::size_t count = (bytes.size() - magic.size()) / sizeof(Program);
    const std::string_view notes = eph::view(context.notes);
    std::size_t index = count;
    const auto [end, failed] = std::from_chars(notes.data(), notes.data() + notes.size(), index);
    if (failed != std::errc() || end != notes.data() + notes.size() || index >= count) {
      throw eph::Failure(EPH_INVALID_GRAPH,
                         "the node's notes name a program that the context does not have");
    }
    Program program;
    std::memcpy(&program, bytes.data() + magic.size() + index * sizeof(Program), sizeof(Program));
    std::vector<Constant> constants;
    for (const eph_named_value& constant : eph::outside_constants(context)) {
      constants.emplace_back(eph::view(constant.name), *constant.value);
    }
    return std::make_unique<Chain>(program, std::move(constants), pool_, EPH_INVALID_GRAPH);
  }

  eph::ThreadPool pool_;
  std::size_t min_nodes_;
};

}  // namespace
}  // namespace acme_plugin

// The build defines the version, which it reads from the manifest.
EPH_DEFINE_PLUGIN("com.example.acme", PLUGIN_VERSION, acme_plugin::AcmeProvider)
