#include "plugins/dnnl/provider.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "plugins/dnnl/capability/capability.h"
#include "plugins/dnnl/executor/compiler.h"
#include "plugins/dnnl/executor/element_types.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/library/failure_code.h"
#include "plugins/dnnl/library/fork.h"
#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

// Enough for the layers of one large model; a cached primitive saves half a millisecond, and takes
// some ten to hundred kilobytes.
constexpr int64_t kCachedPrimitives = 256;

// With fewer rows, a primitive for any number of them is slower than the CPU provider's products of
// packed weights: 2.7 to 1.1 times with 1 to 16 rows, 1.0 to 0.6 times with 64 and more.
constexpr int64_t kLeastOpenRows = 64;

[[noreturn]] void fail_restore(const std::string& partition, const std::string& reason) {
  throw eph::Failure(EPH_INVALID_GRAPH, "the context of partition '" + partition +
                                            "' cannot be used: " + reason +
                                            "; compile the model again");
}

// Whether a value may have a port's shape. Of rows of any number, only rank and last extent count.
bool fits(const eph::ValueView& value, const Dims& shape, bool has_open_rows) {
  const Dims stated = value.shape().to_vector();
  if (!has_open_rows) return !value.has_static_shape() || stated == shape;
  return !value.has_rank() ||
         (stated.size() == shape.size() && (stated.back() < 0 || stated.back() == shape.back()));
}

// Whether the graph has as many inputs or outputs as what was stored, and no type or shape that
// contradicts it.
bool fits(const eph::GraphView& graph, eph::ArrayView<uint32_t> values,
          const LoadedPartition& loaded, const std::vector<Port>& ports) {
  if (values.size() != ports.size()) return false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const eph::ValueView value = graph.value(values[i]);
    if (value.element_type() != EPH_ELEMENT_UNDEFINED &&
        value.element_type() != to_abi(loaded.recipe.type(ports[i].tensor))) {
      return false;
    }
    if (!fits(value, ports[i].shape, loaded.has_open_rows)) return false;
  }
  return true;
}

// As many as OpenMP would use, within the host's share for libraries.
int threads_of(eph::Host host) {
  return default_thread_count(static_cast<int>(eph::ThreadPool(host).library_thread_count()));
}

NanMode nan_mode_of(const eph::Options& options) {
  const std::string_view mode = options.get_string("nan", "propagate");
  if (mode == "propagate") return NanMode::kPropagate;
  if (mode == "library") return NanMode::kLibrary;
  throw eph::Failure(EPH_INVALID_ARGUMENT,
                     "nan is '" + std::string(mode) + "'; give propagate or library");
}

}  // namespace

void DnnlProvider::get_devices(eph::Host, eph::DeviceList& list) {
  pin_openmp();
  let_children_use_openmp();
  const BuildId id = current_build_id(default_thread_count());
  const std::string version = sdk_version(id);
  eph_device device = {};
  device.id = EPH_STRING("cpu");
  device.type = EPH_DEVICE_CPU;
  device.name = eph::to_abi("CPU");
  device.architecture = eph::to_abi(id.instruction_set);
  device.driver_version = eph::to_abi(version);
  list.add(device);
}

std::unique_ptr<DnnlProvider> DnnlProvider::create(eph::Host host, const eph::Options& options) {
  pin_openmp();
  let_children_use_openmp();
  const int64_t threads = options.get_int("num_threads", 0);
  if (threads < 0 || threads > kMaxThreads) {
    throw eph::Failure(EPH_INVALID_ARGUMENT, "num_threads is " + std::to_string(threads) +
                                                 "; give 0 for all, or at most " +
                                                 std::to_string(kMaxThreads));
  }
  BuildId id = current_build_id(threads == 0 ? threads_of(host) : static_cast<int>(threads));
  id.has_chosen_threads = threads != 0;
  const int64_t least_open_rows = options.get_int("least_open_rows", kLeastOpenRows);
  if (least_open_rows < 1) {
    throw eph::Failure(EPH_INVALID_ARGUMENT, "least_open_rows is " +
                                                 std::to_string(least_open_rows) +
                                                 "; give 1 for any number of rows, or more");
  }
  const int64_t cached = options.get_int("primitive_cache", kCachedPrimitives);
  if (cached < 0 || cached > kMaxCachedPrimitives) {
    throw eph::Failure(EPH_INVALID_ARGUMENT, "primitive_cache is " + std::to_string(cached) +
                                                 "; give 0 for none, or at most " +
                                                 std::to_string(kMaxCachedPrimitives));
  }
  return std::make_unique<DnnlProvider>(host, std::move(id), least_open_rows,
                                        static_cast<int>(cached), nan_mode_of(options));
}

int32_t DnnlProvider::validate(eph::Host host, const eph_device&, std::string_view text) {
  pin_openmp();
  let_children_use_openmp();
  return judge_compatibility(text, current_build_id(threads_of(host)));
}

DnnlProvider::~DnnlProvider() { end_openmp_threads(); }

DnnlProvider::DnnlProvider(eph::Host host, BuildId build_id, int64_t least_open_rows,
                           int cached_primitives, NanMode nan)
    : cache_share_(cached_primitives),
      host_(host),
      host_constants_(host.extension<eph_constants_api>(EPH_EXT_CONSTANTS)),
      engine_(dnnl::engine::kind::cpu, 0),
      build_id_(std::move(build_id)),
      least_open_rows_(least_open_rows),
      nan_(nan),
      compatibility_(compatibility_text(build_id_)) {}

void DnnlProvider::get_capability(const eph::GraphView& graph, eph::Claims& claims) {
  const ThreadScope scope(build_id_.threads);
  const Capability capability = find_capability(graph, engine_, least_open_rows_);
  for (const std::vector<uint32_t>& nodes : capability.partitions) {
    claims.claim_fused(nodes, "dnnl", EPH_CLAIM_DROP_CONSTANTS);
  }
  // Their constants are read where they are.
  for (const std::vector<uint32_t>& nodes : capability.open_partitions) {
    claims.claim_fused(nodes, "dnnl");
  }
  for (uint32_t node = 0; node < capability.reasons.size(); ++node) {
    if (!capability.reasons[node].empty()) claims.decline(node, capability.reasons[node]);
  }
}

void DnnlProvider::get_shape_wishes(const eph::GraphView& graph, eph::ShapeWishes& wishes) {
  const std::vector<uint32_t> nodes = find_open_nodes(graph);
  if (!nodes.empty()) wishes.add(nodes);
}

std::vector<std::unique_ptr<eph::Computation>> DnnlProvider::compile(
    const eph::Partitions& partitions) {
  const ephost_openmp::Crowd::Unhurried trials(*crowd_, build_id_.threads);
  std::vector<std::unique_ptr<eph::Computation>> computations;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const eph_partition& partition = partitions[i];
    computations.push_back(partition.ep_context != nullptr ? restore(partition)
                                                           : compile_graph(partition));
  }
  return computations;
}

void DnnlProvider::release_constant(const void* data, uint64_t size) const {
  if (host_constants_ != nullptr) host_constants_->release(host_.handle(), data, size);
}

WarnFunction DnnlProvider::warning() const {
  return [host = host_](const std::string& message) { host.log(EPH_LOG_WARNING, message); };
}

std::unique_ptr<PartitionComputation> DnnlProvider::compile_graph(const eph_partition& partition) {
  return compile_partition(
      eph::GraphView(partition.graph), std::string(eph::view(partition.name)), engine_,
      build_id_.threads, [this](const void* data, uint64_t size) { release_constant(data, size); },
      nan_, warning());
}

const Container& DnnlProvider::container(const eph_bytes& payload) {
  const auto known = containers_.find(payload.data);
  if (known != containers_.end()) return known->second;
  const std::string_view bytes(static_cast<const char*>(payload.data),
                               static_cast<std::size_t>(payload.size));
  return containers_.emplace(payload.data, Container(bytes, build_id_)).first->second;
}

std::unique_ptr<PartitionComputation> DnnlProvider::restore(const eph_partition& partition) {
  const std::string name(eph::view(partition.ep_context->partition_name));
  try {
    const Container& stored = container(partition.ep_context->payload);
    const LoadedPartition loaded = stored.load(name);
    const eph::GraphView graph(partition.graph);
    // The node's own lists, not the graph's: an input may have become constant since.
    const eph::NodeView node = graph.node(0);
    if (!fits(graph, node.inputs(), loaded, loaded.recipe.inputs) ||
        !fits(graph, node.outputs(), loaded, loaded.recipe.outputs)) {
      throw Malformed("the node's inputs and outputs are not those that were compiled");
    }
    try {
      return restore_partition(loaded, name, engine_, build_id_.threads, nan_, warning());
    } catch (const LayoutMismatch&) {
      if (stored.threads() == build_id_.threads) throw;
      // Some layouts depend on the number of threads, so the number of the compilation is used.
      return restore_partition(loaded, name, engine_, stored.threads(), nan_, warning());
    }
  } catch (const eph::Failure& failure) {
    if (failure.code() == EPH_OUT_OF_MEMORY) throw;
    fail_restore(name, failure.what());
  } catch (const std::runtime_error& error) {  // Malformed, LayoutMismatch, NoPrimitive, StepFailed
    fail_restore(name, error.what());
  } catch (const dnnl::error& error) {
    if (failure_code(error) == EPH_OUT_OF_MEMORY) throw std::bad_alloc();
    fail_restore(name, std::string("oneDNN failed: ") + error.what());
  }
}

void DnnlProvider::get_ep_context_nodes(eph::ArrayView<eph::Computation*> computations,
                                        eph::ContextWriter& writer) {
  if (computations.empty()) return;
  std::vector<StoredPartition> partitions;
  for (eph::Computation* computation : computations) {
    const auto& own = static_cast<const PartitionComputation&>(*computation);
    partitions.push_back({own.name(), &own.recipe(), &own.constants(), own.has_open_rows()});
  }
  const uint32_t payload = writer.begin_payload();
  write_container(partitions, build_id_,
                  [&](const void* data, std::size_t size) { writer.write(payload, data, size); });
  const std::string version = sdk_version(build_id_);
  for (uint32_t i = 0; i < computations.size(); ++i) {
    eph_context_node node = {};
    node.computation = i;
    node.payload = payload;
    node.source = eph::to_abi(kSource);
    node.sdk_version = eph::to_abi(version);
    node.hardware_architecture = eph::to_abi(build_id_.instruction_set);
    writer.add_node(node);
  }
}

std::vector<std::string> DnnlProvider::list_partitions(const eph_bytes& payload) {
  try {
    return container(payload).partition_names();
  } catch (const std::runtime_error& error) {  // Malformed
    throw eph::Failure(EPH_INVALID_GRAPH, std::string("the shared context cannot be used: ") +
                                              error.what() + "; compile the models again");
  }
}

}  // namespace ephost_dnnl
