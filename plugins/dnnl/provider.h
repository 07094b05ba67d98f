// provider.h: the DnnlExecutionProvider: claims fused partitions, compiles them with oneDNN, and
// writes and restores their EP contexts. One object for each session, or group of sessions; the
// parts that do the work are in the folders beside it.
#pragma once

#include <ephost/ext/constants.h>

#include <ephost/plugin.hpp>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dnnl/context/container.h"
#include "plugins/dnnl/executor/computation.h"
#include "plugins/dnnl/executor/partition_computation.h"
#include "plugins/dnnl/library/build_id.h"
#include "plugins/dnnl/library/primitive_cache.h"
#include "plugins/openmp/crowd.h"

namespace ephost_dnnl {

class DnnlProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "DnnlExecutionProvider";
  static constexpr std::string_view kName = "dnnl";
  static constexpr std::string_view kVendor = "ephost";
  static constexpr std::string_view kSource = "ephost.dnnl";

  static void get_devices(eph::Host host, eph::DeviceList& list);
  // Option num_threads: 0 means as many as OpenMP would use, within the host's share for libraries.
  // Option primitive_cache: how many unused primitives the library keeps. Option least_open_rows:
  // how many rows a product with open extents must have for a claim. Option nan: what becomes of
  // NaN, propagate or library.
  static std::unique_ptr<DnnlProvider> create(eph::Host host, const eph::Options& options);
  static int32_t validate(eph::Host host, const eph_device& device, std::string_view text);

  DnnlProvider(eph::Host host, BuildId build_id, int64_t least_open_rows, int cached_primitives,
               NanMode nan);
  ~DnnlProvider();

  void get_capability(const eph::GraphView& graph, eph::Claims& claims);
  // All extents fixed, for the nodes of its operators.
  void get_shape_wishes(const eph::GraphView& graph, eph::ShapeWishes& wishes);
  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions);
  void get_ep_context_nodes(eph::ArrayView<eph::Computation*> computations,
                            eph::ContextWriter& writer);
  std::string_view compatibility() { return compatibility_; }
  std::vector<std::string> list_partitions(const eph_bytes& payload);

 private:
  // Tells the host about constants that have been packed.
  void release_constant(const void* data, uint64_t size) const;
  // Writes to the host's log.
  [[nodiscard]] WarnFunction warning() const;
  std::unique_ptr<PartitionComputation> compile_graph(const eph_partition& partition);
  std::unique_ptr<PartitionComputation> restore(const eph_partition& partition);
  // The payload's directory, read when its first partition is restored.
  const Container& container(const eph_bytes& payload);

  PrimitiveCacheShare cache_share_;
  const std::shared_ptr<ephost_openmp::Crowd> crowd_ = ephost_openmp::Crowd::shared();
  eph::Host host_;
  const eph_constants_api* host_constants_;  // null where the host doesn't offer it
  dnnl::engine engine_;
  BuildId build_id_;
  int64_t least_open_rows_;
  NanMode nan_;
  std::string compatibility_;
  std::map<const void*, Container> containers_;  // by payload, which outlives the provider
};

}  // namespace ephost_dnnl
