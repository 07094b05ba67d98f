// CPUExecutionProvider: kernels for single nodes on the host's processor. It claims what its kernel
// list fits, except what a kernel refuses, and has nothing to compile. Its plugin defines the
// operators of com.microsoft that it has kernels for.
#include <ephost/ext/constants.h>

#include <ephost/plugin.hpp>

#include "plugins/cpu/core/fork.h"
#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/microsoft/operators.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kMaxThreads = 1024;

class CpuProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "CPUExecutionProvider";
  static constexpr std::string_view kName = "cpu";
  static constexpr std::string_view kVendor = "ephost";

  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("cpu");
    device.type = EPH_DEVICE_CPU;
    device.name = eph::to_abi("Host processor");
    device.vendor = eph::to_abi("generic");
    device.architecture = eph::to_abi(instruction_set());
    list.add(device);
  }

  ~CpuProvider() { end_openmp_threads(); }

  static std::unique_ptr<CpuProvider> create(eph::Host host, const eph::Options& options) {
    const int64_t threads = options.get_int("num_threads", 0);
    if (threads < 0 || threads > kMaxThreads) {
      fail("option num_threads=" + std::to_string(threads) + " is outside of 0.." +
           std::to_string(kMaxThreads));
    }
    pin_openmp();
    let_children_use_openmp();
    auto provider = std::make_unique<CpuProvider>();
    provider->settings_.threads = choose_threads(host, static_cast<int>(threads));
    auto onednn = std::make_shared<OneDnn>();
    if (const auto* constants = host.extension<eph_constants_api>(EPH_EXT_CONSTANTS)) {
      onednn->release_constants = [host, constants](const void* data, uint64_t size) {
        constants->release(host.handle(), data, size);
      };
    }
    provider->settings_.onednn = std::move(onednn);
    return provider;
  }

  static const eph::Operators& operators() { return microsoft_operators(); }

  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    for (uint32_t node = 0; node < graph.node_count(); ++node) {
      if (graph.node(node).is_taken() || !claims.has_kernel(node)) continue;
      const std::string reason = why_refused(graph, node, settings_);
      if (reason.empty()) {
        claims.claim_node(node);
      } else {
        claims.decline(node, reason);
      }
    }
  }

  eph::ArrayView<eph_kernel_def> kernels() { return kernel_defs(); }

  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView& graph, uint32_t node) {
    return ephost_cpu::create_kernel(graph, node, settings_);
  }

 private:
  Settings settings_;
};

}  // namespace
}  // namespace ephost_cpu

EPH_DEFINE_PLUGIN("org.ephost.cpu", "0.1.0", ephost_cpu::CpuProvider)
