// Collector of what a provider writes in get_ep_context_nodes: checked, and streamed to a sink.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ephost::bridge {

// More than any compatibility text has; a longer one is garbage.
inline constexpr uint64_t kMaxCompatibilitySize = 65536;

// Where a provider's part of the context cache goes. The session connects it with host/context.
class ContextSink {
 public:
  ContextSink() = default;
  ContextSink(const ContextSink&) = delete;
  ContextSink& operator=(const ContextSink&) = delete;
  virtual ~ContextSink() = default;

  // Starts a payload and returns its number. `compatibility` is the payload's own text, valid
  // UTF-8; empty: the provider's text holds.
  virtual Result<uint32_t> begin_payload(std::string_view compatibility) = 0;
  // Fails for a payload that was never begun.
  virtual Status append(uint32_t payload, std::span<const std::byte> bytes) = 0;
  // `node` is complete and names a computation that has no other node; the sink checks its payload.
  // Its strings are borrowed for the call.
  virtual Status add_node(const eph_context_node& node) = 0;
};

// The eph_context_writer of one get_ep_context_nodes call. After the first failure nothing reaches
// the sink any more.
class ContextCollector : public eph_context_writer {
 public:
  // `provider` is the provider's name, for messages; it and the sink are borrowed. `computations`
  // is the number of those that the provider is to write a node for.
  ContextCollector(std::string_view provider, ContextSink& sink, size_t computations);
  ContextCollector(const ContextCollector&) = delete;
  ContextCollector& operator=(const ContextCollector&) = delete;

  // The first failure of the sink or of a check. It takes precedence over the code that the plugin
  // returns.
  [[nodiscard]] const Status& status() const { return status_; }
  // Whether each computation has its node.
  [[nodiscard]] bool is_complete() const;

 private:
  static int32_t begin_payload(eph_context_writer* handle, eph_string compatibility,
                               uint32_t* out_payload, eph_error* error) noexcept;
  static int32_t write(eph_context_writer* handle, uint32_t payload, const void* data,
                       uint64_t size, eph_error* error) noexcept;
  static int32_t add_node(eph_context_writer* handle, const eph_context_node* given,
                          eph_error* error) noexcept;
  template <class Body>
  static int32_t run(eph_context_writer* handle, eph_error* error, Body body) noexcept;
  static const eph_context_writer_api kApi;

  std::string_view provider_;
  ContextSink& sink_;
  std::vector<bool> has_node_;  // by computation
  Status status_;
};

}  // namespace ephost::bridge
