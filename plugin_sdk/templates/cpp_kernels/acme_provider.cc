// acme_provider.cc: an execution provider with kernels, each of which runs one node: Relu, Add and
// Mul of floats, with broadcasting, on the threads of the host.
//
// Read from the bottom: entry point, provider, kernels. Replace the loops in "Elements" by what
// your device does, then add operators to `kOperators`.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ephost/plugin.hpp>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

// ---- Elements: what a device would do -----------------------------------------------------------

enum class Operation { kRelu, kAdd, kMul };

float apply(Operation operation, float a, float b) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kMul:
      return a * b;
    case Operation::kRelu:
      break;
  }
  return a < 0 ? 0 : a;  // written so that NaN stays NaN
}

// The fewest elements that a thread computes at a time, and how often it asks whether the run was
// cancelled.
constexpr uint64_t kGrain = uint64_t{1} << 14;

// Where the elements of two operands of an output are: for each dimension, the step to the next
// one, which is 0 where an operand is broadcast.
class Broadcast {
 public:
  // Throws Failure if the operands do not fit together.
  Broadcast(eph::ArrayView<int64_t> a, eph::ArrayView<int64_t> b)
      : shape_(std::max(a.size(), b.size())), a_step_(shape_.size()), b_step_(shape_.size()) {
    int64_t a_step = 1;
    int64_t b_step = 1;
    for (std::size_t d = shape_.size(); d-- > 0;) {
      const int64_t a_extent = extent(a, d);
      const int64_t b_extent = extent(b, d);
      if (a_extent != b_extent && a_extent != 1 && b_extent != 1) {
        throw eph::Failure(
            EPH_INVALID_ARGUMENT,
            "the extents " + std::to_string(a_extent) + " and " + std::to_string(b_extent) +
                " of the inputs cannot be broadcast; check the shapes of the model's "
                "inputs");
      }
      shape_[d] = a_extent == 1 ? b_extent : a_extent;
      a_step_[d] = a_extent == 1 ? 0 : a_step;
      b_step_[d] = b_extent == 1 ? 0 : b_step;
      a_step *= a_extent;
      b_step *= b_extent;
    }
  }

  [[nodiscard]] const std::vector<int64_t>& shape() const { return shape_; }

  // Calls body(i, a, b) with the indices of the operands' elements for each i in [begin, end).
  template <class Body>
  void for_each(uint64_t begin, uint64_t end, const Body& body) const {
    const auto row = static_cast<uint64_t>(shape_.back());
    while (begin < end) {
      const uint64_t size = std::min(end - begin, row - begin % row);
      const int64_t a = element_of(a_step_, begin);
      const int64_t b = element_of(b_step_, begin);
      for (uint64_t k = 0; k < size; ++k) {
        const auto column = static_cast<int64_t>(k);
        body(begin + k, a + column * a_step_.back(), b + column * b_step_.back());
      }
      begin += size;
    }
  }

 private:
  // The extent in dimension `d` of the output; an operand has the last dimensions.
  [[nodiscard]] int64_t extent(eph::ArrayView<int64_t> shape, std::size_t d) const {
    const std::size_t missing = shape_.size() - shape.size();
    return d < missing ? 1 : shape[d - missing];
  }
  // The index of the operand's element for element `i` of the output.
  [[nodiscard]] int64_t element_of(const std::vector<int64_t>& steps, uint64_t i) const {
    auto rest = static_cast<int64_t>(i);
    int64_t element = 0;
    for (std::size_t d = shape_.size(); d-- > 0;) {
      element += rest % shape_[d] * steps[d];
      rest /= shape_[d];
    }
    return element;
  }

  std::vector<int64_t> shape_, a_step_, b_step_;
};

// ---- Kernels ------------------------------------------------------------------------------------

class Kernel : public eph::Computation {
 public:
  Kernel(Operation operation, std::vector<eph_slot_pair> pairs, eph::ThreadPool pool)
      : operation_(operation), pairs_(std::move(pairs)), pool_(pool) {}

  void compute(eph::Run& run, eph::State*) override {
    if (run.output(0) == nullptr) return;  // the result is not read
    const eph_value& a = *run.input(0);
    const eph_value& b = operation_ == Operation::kRelu ? a : *run.input(1);
    const eph::ArrayView<int64_t> shape = eph::shape_of(a);
    const eph::ArrayView<int64_t> other = eph::shape_of(b);
    if (std::equal(shape.begin(), shape.end(), other.begin(), other.end())) {
      compute_equal_shapes(run, a, b);
    } else {
      compute_broadcast(run, a, b);
    }
  }

  // An output may take over the memory of an input of its own size, because each element is read
  // before it is written. An input that is broadcast is smaller, and is read again.
  void describe(eph_computation_info& info) override {
    info.may_inplace = pairs_.data();
    info.may_inplace_count = pairs_.size();
  }

 private:
  void compute_equal_shapes(eph::Run& run, const eph_value& a, const eph_value& b) {
    float* const y = run.allocate_data<float>(0, eph::shape_of(a));
    const auto* const x0 = static_cast<const float*>(a.data);
    const auto* const x1 = static_cast<const float*>(b.data);
    for_ranges(run, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) y[i] = apply(operation_, x0[i], x1[i]);
    });
  }
  void compute_broadcast(eph::Run& run, const eph_value& a, const eph_value& b) {
    const Broadcast broadcast(eph::shape_of(a), eph::shape_of(b));
    float* const y = run.allocate_data<float>(0, broadcast.shape());
    const auto* const x0 = static_cast<const float*>(a.data);
    const auto* const x1 = static_cast<const float*>(b.data);
    for_ranges(run, [&](uint64_t begin, uint64_t end) {
      broadcast.for_each(begin, end, [&](uint64_t i, int64_t a_at, int64_t b_at) {
        y[i] = apply(operation_, x0[a_at], x1[b_at]);
      });
    });
  }

  // Calls body(begin, end) on ranges that make up the output, until the run is cancelled.
  template <class Body>
  void for_ranges(eph::Run& run, const Body& body) {
    std::atomic<bool> is_cancelled = run.is_cancelled();
    const uint64_t total = run.output(0)->byte_size / sizeof(float);
    pool_.parallel_for(total, kGrain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t from = begin; from < end && !is_cancelled; from += kGrain) {
        if (run.is_cancelled()) is_cancelled = true;
        body(from, std::min(end, from + kGrain));
      }
    });
    if (is_cancelled) throw eph::Failure(EPH_CANCELLED, "the run was cancelled");
  }

  Operation operation_;
  std::vector<eph_slot_pair> pairs_;
  eph::ThreadPool pool_;
};

// ---- The kernel list ----------------------------------------------------------------------------

// Inputs and output are floats.
constexpr std::array<eph_type_rule, 2> kFloatOnly = {
    {{0, EPH_RULE_VARIADIC, eph::type_bit(EPH_ELEMENT_FLOAT)},
     {0, EPH_RULE_OUTPUT, eph::type_bit(EPH_ELEMENT_FLOAT)}}};

// The versions are those at which ONNX changed the operator, and which mean the same for floats.
// Add and Mul before version 7 broadcast by attributes, so they are left out; so is a version that
// has not been reviewed yet.
struct Operator {
  std::string_view name;
  int32_t since_version, until_version;
  Operation operation;
};
constexpr std::array<Operator, 3> kOperators = {{{"Relu", 6, 14, Operation::kRelu},
                                                 {"Add", 7, 14, Operation::kAdd},
                                                 {"Mul", 7, 14, Operation::kMul}}};

std::vector<eph_kernel_def> make_kernel_list() {
  std::vector<eph_kernel_def> list;
  for (const Operator& one : kOperators) {
    list.push_back({eph::to_abi(one.name),
                    {},
                    one.since_version,
                    one.until_version,
                    kFloatOnly.data(),
                    kFloatOnly.size()});
  }
  return list;
}

// Whether two values have one shape that is known before the run.
bool have_one_static_shape(const eph::ValueView& a, const eph::ValueView& b) {
  const eph::ArrayView<int64_t> x = a.shape();
  const eph::ArrayView<int64_t> y = b.shape();
  return a.has_static_shape() && b.has_static_shape() &&
         std::equal(x.begin(), x.end(), y.begin(), y.end());
}

// The number of elements of a value; the greatest number if it is not known.
uint64_t count_elements(const eph::ValueView& value) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  if (!value.has_static_shape()) return kMost;
  uint64_t count = 1;
  for (const int64_t extent : value.shape()) {
    const auto times = static_cast<uint64_t>(extent);
    if (times != 0 && count > kMost / times) return kMost;
    count *= times;
  }
  return count;
}

// ---- The provider -------------------------------------------------------------------------------

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
    return std::make_unique<AcmeProvider>(host, config.get_int("min_elements", 1));
  }
  AcmeProvider(eph::Host host, int64_t min_elements)
      : pool_(host), min_elements_(static_cast<uint64_t>(min_elements)) {}

  eph::ArrayView<eph_kernel_def> kernels() { return kernels_; }

  // Claims the nodes that a kernel matches, and says why it leaves others of them alone; the reason
  // appears in `ephost partition --explain`. Without this function, the host would claim all.
  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    for (uint32_t n = 0; n < graph.node_count(); ++n) {
      const eph::NodeView node = graph.node(n);
      if (node.is_taken() || !claims.has_kernel(n)) continue;
      if (count_elements(graph.value(node.output(0))) < min_elements_) {
        claims.decline(n, "its output is smaller than the option min_elements");
      } else {
        claims.claim_node(n);
      }
    }
  }

  // The host asks only for nodes that the kernel list matches.
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView& graph, uint32_t index) {
    const eph::NodeView node = graph.node(index);
    const auto* const found =
        std::find_if(kOperators.begin(), kOperators.end(),
                     [&](const Operator& one) { return one.name == node.op_type(); });
    const eph::ValueView output = graph.value(node.output(0));
    std::vector<eph_slot_pair> pairs;
    for (uint32_t i = 0; i < node.inputs().size(); ++i) {
      if (have_one_static_shape(graph.value(node.input(i)), output)) pairs.push_back({i, 0});
    }
    return std::make_unique<Kernel>(found->operation, std::move(pairs), pool_);
  }

 private:
  eph::ThreadPool pool_;
  uint64_t min_elements_;
  std::vector<eph_kernel_def> kernels_ = make_kernel_list();
};

}  // namespace

// The build defines the version, which it reads from the manifest.
EPH_DEFINE_PLUGIN("com.example.acme", PLUGIN_VERSION, AcmeProvider)
