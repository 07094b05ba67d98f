#include "host/bridge/collect/context_collector.h"

#include <algorithm>
#include <string>

#include "host/base/format.h"
#include "host/bridge/callback.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any partition has; a node that names more is broken.
constexpr uint64_t kMaxConstants = uint64_t{1} << 24;

}  // namespace

const eph_context_writer_api ContextCollector::kApi = {
    sizeof(eph_context_writer_api), &ContextCollector::begin_payload, &ContextCollector::write,
    &ContextCollector::add_node};

ContextCollector::ContextCollector(std::string_view provider, ContextSink& sink,
                                   size_t computations)
    : eph_context_writer{&kApi}, provider_(provider), sink_(sink), has_node_(computations, false) {}

bool ContextCollector::is_complete() const { return !std::ranges::count(has_node_, false); }

template <class Body>
int32_t ContextCollector::run(eph_context_writer* handle, eph_error* error, Body body) noexcept {
  return run_callback(error, [&]() -> Status {
    auto& collector = *static_cast<ContextCollector*>(handle);
    if (collector.status_.ok()) collector.status_ = body(collector);
    return collector.status_;
  });
}

int32_t ContextCollector::begin_payload(eph_context_writer* handle, eph_string compatibility,
                                        uint32_t* out_payload, eph_error* error) noexcept {
  if (out_payload != nullptr) *out_payload = EPH_NONE;
  return run(handle, error, [&](ContextCollector& collector) -> Status {
    if (out_payload == nullptr) {
      return Status(
          StatusCode::kEpFail,
          formatted("begin_payload of {}: out_payload is null; report this to the plugin's vendor",
                    collector.provider_));
    }
    EPHOST_ASSIGN_OR_RETURN(
        const std::string_view text,
        plugin::adopt_text(compatibility, kMaxCompatibilitySize,
                           {collector.provider_, "begin_payload"}, "compatibility"));
    EPHOST_ASSIGN_OR_RETURN(*out_payload, collector.sink_.begin_payload(text));
    return Status::ok_status();
  });
}

int32_t ContextCollector::write(eph_context_writer* handle, uint32_t payload, const void* data,
                                uint64_t size, eph_error* error) noexcept {
  return run(handle, error, [&](ContextCollector& collector) -> Status {
    const plugin::CallSite site{collector.provider_, "write"};
    EPHOST_ASSIGN_OR_RETURN(
        const auto bytes,
        plugin::adopt_array(static_cast<const std::byte*>(data), size, UINT64_MAX, site, "data"));
    return bytes.empty() ? Status::ok_status() : collector.sink_.append(payload, bytes);
  });
}

int32_t ContextCollector::add_node(eph_context_writer* handle, const eph_context_node* given,
                                   eph_error* error) noexcept {
  return run(handle, error, [&](ContextCollector& collector) -> Status {
    EPHOST_ASSIGN_OR_RETURN(
        const auto node, plugin::adopt<eph_context_node>(given, {collector.provider_, "add_node"}));
    EPHOST_RETURN_IF_ERROR(plugin::check_array(node.constants, node.constant_count, kMaxConstants,
                                               {collector.provider_, "add_node"}, "constants"));
    std::vector<bool>& has_node = collector.has_node_;
    if (node.computation >= has_node.size() || has_node[node.computation]) {
      return Status(StatusCode::kEpFail,
                    formatted("the plugin writes a context node for computation {}, which does not "
                              "exist or has one already",
                              node.computation));
    }
    EPHOST_RETURN_IF_ERROR(collector.sink_.add_node(node));
    has_node[node.computation] = true;
    return Status::ok_status();
  });
}

}  // namespace ephost::bridge
