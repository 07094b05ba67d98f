// fake_host.h: the handles that a host passes to a provider, as plain recorders: errors, claims,
// context payloads, devices, and the arguments of a run. With fake_graph.h it takes the host's
// place in tests that call a provider through the C ABI.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fake_graph.h"

namespace ephost::test {

// Keeps the last message.
class FakeError : public eph_error {
 public:
  FakeError();
  std::string message;

 private:
  static void set_message(eph_error* error, eph_string message) noexcept;
  static const eph_error_api kApi;
};

// Keeps every claim and every reason.
class FakeClaims : public eph_claims {
 public:
  FakeClaims();
  struct Fused {
    std::vector<uint32_t> nodes;
    uint32_t flags = 0;
  };
  std::vector<Fused> fused;
  std::map<uint32_t, std::string> declined;

 private:
  static int32_t claim_node(eph_claims* claims, uint32_t node, eph_error* error) noexcept;
  static int32_t claim_fused(eph_claims* claims, const eph_fused_claim* claim,
                             eph_error* error) noexcept;
  static int32_t has_kernel(eph_claims* claims, uint32_t node) noexcept;
  static void decline(eph_claims* claims, uint32_t node, eph_string reason) noexcept;
  static const eph_claims_api kApi;
};

// Keeps payloads and nodes.
class FakeContextWriter : public eph_context_writer {
 public:
  FakeContextWriter();
  struct Node {
    uint32_t computation = 0;
    uint32_t payload = 0;
    std::string source, sdk_version, hardware_architecture;
  };
  std::vector<std::string> payloads;
  std::vector<Node> nodes;

 private:
  static int32_t begin_payload(eph_context_writer* writer, uint32_t* out, eph_error* e) noexcept;
  static int32_t write(eph_context_writer* writer, uint32_t payload, const void* data,
                       uint64_t size, eph_error* e) noexcept;
  static int32_t add_node(eph_context_writer* writer, const eph_context_node* node,
                          eph_error* e) noexcept;
  static const eph_context_writer_api kApi;
};

class FakeDeviceList : public eph_device_list {
 public:
  FakeDeviceList();
  std::vector<std::string> architectures;

 private:
  static int32_t add(eph_device_list* list, const eph_device* device, eph_error* e) noexcept;
  static const eph_device_list_api kApi;
};

// Keeps what is logged. Splits loops, without threads, and has no other extension.
class FakeHost : public eph_host {
 public:
  FakeHost();
  [[nodiscard]] std::vector<std::string> logged() const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> logged_;
  static void log(const eph_host* host, int32_t severity, eph_string message) noexcept;
  static const void* get_extension(const eph_host* host, eph_string id) noexcept;
  static const eph_host_api kApi;
};

// Memory aligned to 64 bytes, as a host gives it. Who reads or writes beyond its last 64 bytes
// crashes, generated code included.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size);
  explicit AlignedBytes(const std::string& bytes);
  [[nodiscard]] void* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::shared_ptr<void> memory_;
  std::size_t size_ = 0;
};

// A float tensor with memory of its own.
class FloatTensor {
 public:
  FloatTensor(Shape shape, const std::vector<float>& data);
  explicit FloatTensor(Shape shape);  // filled with a value that no result has
  [[nodiscard]] std::vector<float> values() const;
  eph_value value = {};

 private:
  Shape shape_;
  AlignedBytes bytes_;
};

// The functions of eph_run_api that make values, for hosts that have tensors only: all refuse.
int32_t refuse_make_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value** out,
                           eph_error*) noexcept;
int32_t refuse_set_element(eph_run*, eph_value*, uint64_t, eph_string, eph_error*) noexcept;
int32_t refuse_make_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                             const eph_value* const*, uint64_t, const eph_value** out,
                             eph_error*) noexcept;
int32_t refuse_make_map(eph_run*, const eph_value*, const eph_value*, const eph_value** out,
                        eph_error*) noexcept;
int32_t refuse_set_output(eph_run*, uint32_t, const eph_value*, eph_error*) noexcept;

// Calls compute once: inputs and outputs are bound, the workspace is filled with garbage.
class FakeRun : public eph_run {
 public:
  FakeRun(std::vector<FloatTensor*> run_inputs, std::vector<FloatTensor*> run_outputs,
          uint64_t workspace_bytes);
  bool cancelled = false;

 private:
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept;
  static int32_t set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept;
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept;
  static int32_t is_cancelled(const eph_run* run) noexcept;
  static const eph_run_api kApi;

  std::vector<const eph_value*> input_values_;
  std::vector<eph_value*> output_values_;
  AlignedBytes workspace_;
  std::vector<AlignedBytes> scratch_;
};

}  // namespace ephost::test
