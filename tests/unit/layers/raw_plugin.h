// A provider made of functions that a test chooses, behind the tables of the ABI, with the layer
// "validate" over it; and the host that calls it.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/plugin_abi.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/log.h"
#include "host/layers/validate/validate.h"
#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"

namespace ephost::test {

// What the provider does; what is empty succeeds and does nothing.
struct Behaviour {
  std::function<void(const eph_host*, const eph_provider_config*)> create;
  std::function<void(const eph_graph*, eph_claims*)> get_capability;
  std::function<int32_t(const eph_partition*, eph_error*)> compile;
  std::function<void(eph_context_writer*, eph_error*)> write_context;
  std::function<void(eph_computation_info*)> describe;
  std::function<int32_t(eph_run*, eph_error*)> compute;
  std::function<void()> destroy;
  std::function<void(const eph_run_config*)> begin_run;  // may throw
  // The outcome of begin_run, create_state, create_kernel, allocate and start of a profile, after
  // they have done their work.
  std::function<int32_t(std::string_view slot, eph_error*)> outcome;
  // Called by end_run, release_state, destroy of a kernel, release and stop, of which each is
  // named.
  std::function<void(std::string_view slot)> ended;
};

// One at a time.
class RawPlugin {
 public:
  explicit RawPlugin(Behaviour behaviour, layers::ValidateOptions options = {},
                     bool is_deterministic = false, layers::MakeReference make_reference = {});
  RawPlugin(const RawPlugin&) = delete;
  RawPlugin& operator=(const RawPlugin&) = delete;
  ~RawPlugin();

  [[nodiscard]] const eph_provider_api& api() const { return plugin_->provider; }
  [[nodiscard]] eph_provider* provider() const { return provider_; }
  // Compiles the graph, or restores it from the context, and describes the computation.
  eph_computation* compile(const eph_graph* graph, std::string_view name = "conv1",
                           const eph_ep_context* context = nullptr);
  int32_t compute(eph_computation* computation, eph_run* run);
  void destroy(eph_computation* computation) { computation->api->destroy(computation); }
  void destroy_provider();
  // The provider's tables for runs and profiles, that of devices, and a device that is open as long
  // as the plugin.
  [[nodiscard]] const eph_run_provider_api& runs() const;
  [[nodiscard]] const eph_device_api& devices() const;
  [[nodiscard]] eph_device_handle* device() const { return device_; }
  void close_device();
  [[nodiscard]] const eph_profiling_api& profiling() const;

  // The error of the last call.
  FakeError error;
  // What went to the log, in order.
  [[nodiscard]] const std::vector<std::string>& log() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  Log log_;
  LogScope scope_;
  FakeHost host_{{{EPH_EXT_THREAD_POOL, &kFakeThreadPool}}};
  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  eph_provider* provider_ = nullptr;
  eph_device_handle* device_ = nullptr;
};

}  // namespace ephost::test
