// queue_provider.cc: an asynchronous provider in C++. Its device has memory of its own and streams,
// queues that work beside the host: each is a thread here, where a driver has a hardware queue. The
// values of a model stay on the device from one computation to the next, calls return as soon as
// their work is in the queue, and a failure is found later.
//
//   memory      "queue" is memory of the process, so that the example runs anywhere. Nothing but
//               this file reads or writes it.
//   streams     Computations and copies are tasks of a Queue, which it does one after the other. A
//               point is the number of a task.
//   failures    A task that throws fails its queue: all points after it, and all queues that wait
//   for
//               one of them.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <ephost/plugin.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr uint32_t kDeviceMemory = 1;
constexpr std::size_t kAlignment = 64;

// One memory, numbered 1, and any number of queues.
class Queue : public eph::Stream {
 public:
  Queue() : thread_([this] { work(); }) {}
  ~Queue() override {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // `step` names the task if it fails.
  void add(std::function<void()> task, uint64_t step) {
    const std::lock_guard lock(mutex_);
    check();
    tasks_.push_back({std::move(task), step});
    ++enqueued_;
    changed_.notify_all();
  }

  void enqueue(eph::ArrayView<eph_copy> copies, uint64_t step) override {
    for (const eph_copy& copy : copies) {
      add([copy] { std::memcpy(copy.to, copy.from, copy.size); }, step);
    }
  }

  // A task of its own, so that points grow and none is 0.
  eph_point record() override {
    add([] {}, EPH_NO_STEP);
    const std::lock_guard lock(mutex_);
    return enqueued_;
  }

  void wait(eph::Stream& other, eph_point point) override {
    auto& awaited = static_cast<Queue&>(other);
    add([&awaited, point] { awaited.wait_host(point, UINT64_MAX); }, EPH_NO_STEP);
  }

  eph_point last_reached() override {
    const std::lock_guard lock(mutex_);
    check();
    return done_;
  }

  bool wait_host(eph_point point, uint64_t timeout_ns) override {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return done_ >= point || failure_.has_value(); };
    if (timeout_ns == UINT64_MAX) {
      changed_.wait(lock, is_over);
    } else {
      changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over);
    }
    if (point != 0 && done_ >= point) return true;
    check();
    return point == 0;
  }

  void notify(eph_point point, void (*done)(void* context, int32_t code), void* context) override {
    int32_t code = EPH_OK;
    {
      const std::lock_guard lock(mutex_);
      if (done_ < point) {
        if (!failure_) {
          waiting_.push_back({point, done, context});
          return;
        }
        code = failure_->code();
      }
    }
    done(context, code);
  }

 private:
  struct Task {
    std::function<void()> work;
    uint64_t step = EPH_NO_STEP;
  };
  struct Waiting {
    eph_point point = 0;
    void (*done)(void* context, int32_t code) = nullptr;
    void* context = nullptr;
  };

  void check() const {
    if (failure_) throw eph::StreamFailure(*failure_);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
      if (is_closed_) return;
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      std::optional<eph::StreamFailure> failure;
      try {
        task.work();
      } catch (const eph::StreamFailure& of_another_queue) {
        failure = of_another_queue;
      } catch (const eph::Failure& thrown) {
        failure.emplace(thrown.code(), thrown.what(), task.step);
      } catch (const std::exception& thrown) {
        failure.emplace(EPH_FAIL, thrown.what(), task.step);
      }
      lock.lock();
      if (failure) {
        failure_ = std::move(failure);
        tasks_.clear();
      } else {
        ++done_;
      }
      tell(lock);
    }
  }

  // Calls what waits for points that have been reached or have failed.
  void tell(std::unique_lock<std::mutex>& lock) {
    const auto is_pending = [this](const Waiting& one) { return one.point > done_ && !failure_; };
    const auto first = std::partition(waiting_.begin(), waiting_.end(), is_pending);
    const std::vector<Waiting> over(first, waiting_.end());
    waiting_.erase(first, waiting_.end());
    const eph_point done = done_;
    const int32_t code = failure_ ? failure_->code() : int32_t{EPH_OK};
    changed_.notify_all();
    lock.unlock();
    for (const Waiting& one : over) one.done(one.context, one.point <= done ? EPH_OK : code);
    lock.lock();
  }

  std::mutex mutex_;  // guards everything below but the thread
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  eph_point enqueued_ = 0;  // tasks so far
  eph_point done_ = 0;
  std::optional<eph::StreamFailure> failure_;
  std::vector<Waiting> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

class Device : public eph::StreamDevice {
 public:
  eph::ArrayView<eph_memory_info> memories() override {
    static constexpr eph_memory_info kMemory = eph::make_memory("queue", kAlignment);
    return {&kMemory, 1};
  }
  void* allocate(uint32_t, uint64_t size) override {
    return ::operator new(size, std::align_val_t(kAlignment), std::nothrow);
  }
  void release(uint32_t, void* data) noexcept override {
    ::operator delete(data, std::align_val_t(kAlignment));
  }
  // For what is copied once, such as constants, and under hosts without streams.
  void copy(const eph_copy& copy) override { std::memcpy(copy.to, copy.from, copy.size); }
  std::unique_ptr<eph::Stream> create_stream(const eph_stream_config&) override {
    return std::make_unique<Queue>();
  }
};

float apply(std::string_view op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Mul") return a * b;
  return std::max(a, 0.0F);  // Relu
}

// A kernel for operands of one shape.
class Elementwise : public eph::Computation {
 public:
  explicit Elementwise(std::string_view op) : op_(op) {}

  void describe(eph_computation_info& info) override {
    info.memory = kDeviceMemory;
    info.flags = EPH_COMPUTATION_ENQUEUES;
  }

  // The values that `run` points to go when this returns; the memory that they lie in stays.
  void compute(eph::Run& run, eph::State*) override {
    if (run.output(0) == nullptr) return;
    const eph_value& first = *run.input(0);
    const eph_value& last = *run.input(run.input_count() - 1);
    const eph_value& output = run.allocate(0, eph::shape_of(first), EPH_ELEMENT_FLOAT);
    const auto* const a = static_cast<const float*>(first.data);
    const auto* const b = static_cast<const float*>(last.data);
    auto* const to = static_cast<float*>(output.data);
    const auto task = [op = op_, a, b, to, count = output.byte_size / sizeof(float)] {
      for (uint64_t i = 0; i < count; ++i) to[i] = apply(op, a[i], b[i]);
    };
    if (run.stream() == nullptr) return task();
    static_cast<Queue&>(eph::Stream::of(run.stream())).add(task, run.step());
  }

 private:
  const std::string_view op_;
};

class QueueProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "QueueExecutionProvider";
  static constexpr std::string_view kName = "queue";
  static constexpr std::string_view kVendor = "ephost examples";

  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("queue:0");
    device.name = EPH_STRING("a device that works beside the host");
    device.type = EPH_DEVICE_OTHER;
    list.add(device);
  }
  static std::unique_ptr<Device> open_device(eph::Host, const eph_device&) {
    return std::make_unique<Device>();
  }
  static std::unique_ptr<QueueProvider> create(eph::Host, const eph::Config&) {
    return std::make_unique<QueueProvider>();
  }

  // Two branches of a model may use two queues at the same time.
  void describe(eph_provider_info& info) {
    info.max_concurrent = UINT32_MAX;
    info.compute_streams = 2;
  }

  eph::ArrayView<eph_kernel_def> kernels() {
    static constexpr eph_type_rule kFloats = {0, 0, eph::type_bit(EPH_ELEMENT_FLOAT)};
    static constexpr std::array<eph_kernel_def, 3> kKernels = {
        {{EPH_STRING("Add"), {}, 7, 100, &kFloats, 1},
         {EPH_STRING("Mul"), {}, 7, 100, &kFloats, 1},
         {EPH_STRING("Relu"), {}, 6, 100, &kFloats, 1}}};
    return {kKernels.data(), kKernels.size()};
  }

  void get_capability(const eph::GraphView& graph, eph::Claims& claims) {
    for (uint32_t i = 0; i < graph.node_count(); ++i) {
      if (!claims.has_kernel(i)) continue;
      if (has_one_shape(graph, i)) {
        claims.claim_node(i);
      } else {
        claims.decline(i, "its operands differ in shape, or are open");
      }
    }
  }

  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView& graph, uint32_t node) {
    const std::string_view op = graph.node(node).op_type();
    for (const std::string_view known : {"Add", "Mul", "Relu"}) {
      if (op == known) return std::make_unique<Elementwise>(known);
    }
    throw eph::Failure(EPH_NOT_IMPLEMENTED, "the provider has kernels for Add, Mul and Relu only");
  }

 private:
  static bool has_one_shape(const eph::GraphView& graph, uint32_t node) {
    const eph::ArrayView<uint32_t> inputs = graph.node(node).inputs();
    const eph::ArrayView<int64_t> first = graph.value(inputs[0]).shape();
    return std::all_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
      const eph::ArrayView<int64_t> shape = graph.value(input).shape();
      return graph.value(input).has_static_shape() &&
             std::equal(shape.begin(), shape.end(), first.begin(), first.end());
    });
  }
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.examples.queue", "1.0.0", QueueProvider)
