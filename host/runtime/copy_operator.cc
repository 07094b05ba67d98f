#include "host/runtime/copy_operator.h"

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/host_step.h"
#include "host/runtime/program.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

class Copy : public HostOperator {
 public:
  // The device's numbers of its memories.
  Copy(std::shared_ptr<const bridge::Device> device, uint32_t from, uint32_t to, std::string value)
      : HostOperator({}),
        device_(std::move(device)),
        from_(from),
        to_(to),
        value_(std::move(value)) {}

  [[nodiscard]] std::string_view provider_name() const override { return device_->provider_name(); }

  // Allocates nothing unless it fails.
  Status run(HostStep& step) const override {
    const eph_value& from = *step.input(0);
    if (from.kind != EPH_KIND_TENSOR || from.element_type == EPH_ELEMENT_STRING) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("{} cannot copy {}, which came out as {}; only tensors of numbers "
                              "leave host memory",
                              step.describe(), value_, describe_value(from)));
    }
    EPHOST_ASSIGN_OR_RETURN(
        const eph_value* to,
        step.allocate(0, static_cast<ElementType>(from.element_type), {from.shape, from.rank}));
    // A graph input or output may lie on the device as well (device_ends.h).
    if (from.data == to->data && from.memory == to->memory) return Status::ok_status();
    const uint32_t from_memory =
        from.memory != bridge::kHostMemory && from_ == bridge::kHostMemory ? to_ : from_;
    const uint32_t to_memory =
        to->memory != bridge::kHostMemory && to_ == bridge::kHostMemory ? from_ : to_;
    Status status =
        step.stream() == nullptr
            ? device_->copy(to_memory, to->data, from_memory, from.data, from.byte_size, value_)
            : step.stream()->enqueue_copy(to_memory, to->data, from_memory, from.data,
                                          from.byte_size, step.number(), value_);
    if (status.ok()) return status;
    return std::move(status).with_context("running " + step.describe());
  }

 private:
  std::shared_ptr<const bridge::Device> device_;
  uint32_t from_;
  uint32_t to_;
  std::string value_;
};

}  // namespace

std::unique_ptr<HostOperator> make_copy(const graph::Graph& graph, const graph::Node& node,
                                        const plan::AllocationPlan& allocation,
                                        std::span<const DeviceLocation> devices) {
  const uint32_t from = allocation.values[node.inputs[0]].location;
  const uint32_t to = allocation.values[node.outputs[0]].location;
  const DeviceLocation& device = devices[(to == plan::kHostLocation ? from : to) - 1];
  const auto memory = [&](uint32_t location) {
    if (location == plan::kHostLocation) return bridge::kHostMemory;
    const bridge::DeviceMemory& there = devices[location - 1].memory;
    return there.device == device.memory.device ? there.number : bridge::kPeerMemory;
  };
  return std::make_unique<Copy>(device.memory.device, memory(from), memory(to),
                                "value " + quote(graph.values[node.inputs[0]].name));
}

}  // namespace ephost::runtime
