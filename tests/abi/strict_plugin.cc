// A plugin that declares everything, so that strict warnings apply to all instantiated templates of
// the wrapper. Hosts of other versions load it (frozen.cmake), and refuse to create its provider,
// whose device has no memory.
#include <ephost/ext/progress.h>
#include <ephost/ext/shared_contexts.h>

#include <ephost/plugin.hpp>

namespace {

class Copying : public eph::Computation {
 public:
  void compute(eph::Run& run, eph::State*) override {
    const eph_value* in = run.input(0);
    if (in == nullptr || run.is_cancelled()) return;
    const eph::ArrayView<float> from = eph::elements<float>(*in);
    std::copy(from.begin(), from.end(), run.allocate_data<float>(0, eph::shape_of(*in)));
    static_cast<void>(run.scratch(64));
    run.set_string(1, 0, "text");
  }
};

class Direct : public eph::Computation {
 public:
  explicit Direct(eph::ThreadPool pool) : pool_(pool) { compute_directly<&Direct::call>(); }
  void compute(eph::Run&, eph::State*) override {
    pool_.parallel_for(pool_.thread_count() + pool_.library_thread_count(), 1,
                       [](uint64_t, uint64_t) {});
  }

 private:
  static int32_t call(eph_computation* handle, void* state, eph_run* run,
                      eph_error* error) noexcept {
    return do_compute(handle, state, run, error);
  }
  eph::ThreadPool pool_;
};

class NoMemory : public eph::Device {
 public:
  eph::ArrayView<eph_memory_info> memories() override { return {}; }
  void* allocate(uint32_t, uint64_t) override { return nullptr; }
  void release(uint32_t, void*) noexcept override {}
  void copy(const eph_copy&) override {}
};

class EverythingProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "EverythingExecutionProvider";
  static constexpr std::string_view kName = "everything";
  static constexpr std::string_view kVendor = "tests";

  explicit EverythingProvider(eph::Host host)
      : progress_(host.extension<eph_progress_api>(EPH_EXT_PROGRESS)), pool_(host) {}
  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("everything");
    list.add(device);
  }
  static std::unique_ptr<EverythingProvider> create(eph::Host host, const eph::Config& options) {
    static_cast<void>(options.get_string("a", "") == "b" || options.get_int("c", 0) > 0);
    return std::make_unique<EverythingProvider>(host);
  }
  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    for (uint32_t n = 0; n < graph.node_count(); ++n) {
      const eph::NodeView node = graph.node(n);
      if (node.get_int("axis", 0) == 0 && node.get_float("alpha", 1) > 0 &&
          node.get_ints("pads").empty() && node.get_string("mode", "x") == "x") {
        claims.claim_fused(eph::ArrayView<uint32_t>(&n, 1));
      }
    }
  }
  eph::ArrayView<eph_kernel_def> kernels() { return {}; }
  void describe(eph_provider_info& info) { info.max_concurrent = 2; }
  void begin_run(const eph::RunConfig& config) {
    run_ = config.deadline_ns() != 0 && config.tag().empty() ? config.id()
                                                             : config.options().all().size();
  }
  void end_run(uint64_t run_id, int32_t code) { run_ = code == EPH_OK ? run_id : 0; }
  void set_options(const eph::Options& options) { run_ = options.all().size(); }
  void start_profiling() {}
  void stop_profiling(eph::EventList& events) { events.add({}); }
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView&, uint32_t) {
    return std::make_unique<Direct>(pool_);
  }
  std::vector<std::unique_ptr<eph::Computation>> compile(const eph::Partitions& partitions) {
    std::vector<std::unique_ptr<eph::Computation>> made(partitions.size());
    for (auto& one : made) one = std::make_unique<Copying>();
    return made;
  }
  void get_ep_context_nodes(eph::ArrayView<eph::Computation*>, eph::ContextWriter& writer) {
    writer.write(writer.begin_payload("mine"), "x", 1);
    writer.add_node({});
  }
  std::string_view compatibility() { return "1"; }
  static int32_t validate(eph::Host, const eph_device&, std::string_view) {
    return EPH_COMPATIBILITY_OPTIMAL;
  }
  static void list_targets(eph::Host, eph::DeviceList& list) { list.add({}); }
  std::vector<std::string> list_partitions(const eph_bytes&) { return {"one"}; }
  static std::unique_ptr<eph::Device> open_device(eph::Host, const eph_device&) {
    return std::make_unique<NoMemory>();
  }
  const void* extension(std::string_view id) {
    return id == "tests.progress/1" ? progress_ : nullptr;
  }

 private:
  uint64_t run_ = 0;
  const eph_progress_api* progress_;
  eph::ThreadPool pool_;
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.strict", "1.0.0", EverythingProvider)
