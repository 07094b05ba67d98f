#include "host/session/pipeline/stream_planning.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "host/base/format.h"
#include "host/plan/check/checker.h"
#include "host/plan/copies.h"
#include "host/session/config/session_config.h"

namespace ephost::session {
namespace {

// The queue of the application for a provider; nothing if there is none.
std::optional<uint64_t> native_queue_of(const PreparedModel& model,
                                        const bridge::Provider& provider) {
  for (const std::string& name : {provider.name(), provider.short_name()}) {
    const auto found = model.native_queues.find(name);
    if (found != model.native_queues.end()) return found->second;
  }
  return std::nullopt;
}

class QueueFinder {
 public:
  QueueFinder(const PreparedModel& model, const PreparedGraph& prepared)
      : model_(model), prepared_(prepared), graph_(model.graph_of(prepared)) {
    // A location's owner is the device's number.
    for (size_t i = 0; i < model.locations.size(); ++i) {
      const uint32_t owner = model.locations[i].owner;
      if (owner == streams_.devices.size()) {
        streams_.devices.push_back(model.devices[i].memory.device);
        streams_.compute_streams.push_back(1);
        streams_.native_queues.push_back(0);
      }
    }
    for (const std::shared_ptr<bridge::Provider>& provider : model.providers) {
      for (const std::shared_ptr<const bridge::Device>& device : provider->devices()) {
        uint32_t& count = streams_.compute_streams[number_of(device.get())];
        count = std::max(count, provider->compute_streams());
        if (const auto queue = native_queue_of(model, *provider)) {
          streams_.native_queues[number_of(device.get())] = *queue;
          count = 1;  // which has an order of its own
        }
      }
    }
  }

  runtime::ProgramStreams run() && {
    for (size_t step = 0; step < prepared_.execution.steps.size(); ++step) {
      streams_.queues.push_back(queue_of(step));
    }
    return std::move(streams_);
  }

 private:
  // Whether the computation itself reads inputs in host memory, such as a shape.
  [[nodiscard]] static bool reads_in_host(const bridge::ComputationMemory& memory) {
    return memory.memory == bridge::kHostMemory ||
           std::ranges::any_of(memory.inputs, [](const bridge::SlotMemory& slot) {
             return slot.memory == bridge::kHostMemory;
           });
  }

  [[nodiscard]] uint32_t number_of(const bridge::Device* device) const {
    const auto is_it = [&](const auto& known) { return known.get() == device; };
    return static_cast<uint32_t>(std::ranges::find_if(streams_.devices, is_it) -
                                 streams_.devices.begin());
  }

  [[nodiscard]] plan::StepQueue queue_of(size_t step) const {
    if (const std::optional<bridge::Computation>& computation = prepared_.computations[step]) {
      if (computation->enqueues_on() == nullptr) return {};
      return {number_of(computation->enqueues_on()), plan::StreamPurpose::kCompute,
              reads_in_host(computation->memory())};
    }
    const graph::Node& node = graph_.nodes[prepared_.execution.steps[step].node];
    if (!plan::is_copy(node)) return {};
    const uint32_t from = prepared_.step_locations[step].inputs[0].location;
    const uint32_t to = prepared_.step_locations[step].location;
    const uint32_t device = model_.locations[(to == plan::kHostLocation ? from : to) - 1].owner;
    if (!streams_.devices[device]->has_streams()) return {};
    const plan::StreamPurpose purpose = from == plan::kHostLocation ? plan::StreamPurpose::kCopyIn
                                        : to == plan::kHostLocation ? plan::StreamPurpose::kCopyOut
                                                                    : plan::StreamPurpose::kCompute;
    return {device, purpose, false};
  }

  const PreparedModel& model_;
  const PreparedGraph& prepared_;
  const graph::Graph& graph_;
  runtime::ProgramStreams streams_;
};

}  // namespace

Status check_native_queues(const PreparedModel& model) {
  for (const auto& [name, queue] : model.native_queues) {
    const auto has_streams = [&](const std::shared_ptr<bridge::Provider>& provider) {
      return (provider->name() == name || provider->short_name() == name) &&
             std::ranges::any_of(provider->devices(),
                                 [](const auto& device) { return device->has_streams(); });
    };
    if (std::ranges::any_of(model.providers, has_streams)) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {}{} gives a queue to a provider that does not "
                            "use one in this session; name one whose devices have streams, and "
                            "that runs in the host's process",
                            kNativeQueuePrefix, name));
  }
  return Status::ok_status();
}

void find_queues(const PreparedModel& model, PreparedGraph& prepared) {
  const auto has_streams = [](const runtime::DeviceLocation& location) {
    return location.memory.device->has_streams();
  };
  prepared.streams = {};
  if (prepared.step_locations.empty() || std::ranges::none_of(model.devices, has_streams)) return;
  prepared.streams = QueueFinder(model, prepared).run();
}

Status assign_streams(PreparedGraph& prepared) {
  runtime::ProgramStreams& streams = prepared.streams;
  EPHOST_ASSIGN_OR_RETURN(streams.assignment,
                          plan::assign_streams(prepared.execution, prepared.allocation,
                                               streams.queues, streams.compute_streams));
  return Status::ok_status();
}

Status plan_streams(PreparedGraph& prepared) {
  runtime::ProgramStreams& streams = prepared.streams;
  streams.plan = plan::plan_streams(prepared.execution, prepared.allocation, prepared.pattern,
                                    streams.queues, streams.assignment);
#ifndef NDEBUG
  EPHOST_RETURN_IF_ERROR(plan::check_streams(prepared.execution, prepared.allocation,
                                             prepared.pattern, streams.queues, streams.plan));
#endif
  return Status::ok_status();
}

}  // namespace ephost::session
