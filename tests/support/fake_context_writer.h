// fake_context_writer.h: the context model that get_ep_context_nodes writes: keeps its payloads and
// nodes.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string>
#include <vector>

namespace ephost::test {

class FakeContextWriter : public eph_context_writer {
 public:
  FakeContextWriter() : eph_context_writer{&kApi} {}
  struct ContextNode {
    uint32_t computation = EPH_NONE;
    uint32_t payload = EPH_NONE;
    std::string source, notes, sdk_version, hardware_architecture;
    std::vector<std::string> constants;
  };
  std::vector<std::string> payloads;
  std::vector<std::string> compatibilities;  // beside payloads
  std::vector<ContextNode> nodes;

 private:
  static FakeContextWriter& self(eph_context_writer* writer) {
    return static_cast<FakeContextWriter&>(*writer);
  }
  static int32_t begin_payload(eph_context_writer* writer, eph_string compatibility, uint32_t* out,
                               eph_error*) noexcept {
    *out = static_cast<uint32_t>(self(writer).payloads.size());
    self(writer).compatibilities.emplace_back(eph::view(compatibility));
    self(writer).payloads.emplace_back();
    return EPH_OK;
  }
  static int32_t write(eph_context_writer* writer, uint32_t payload, const void* data,
                       uint64_t size, eph_error*) noexcept {
    if (payload >= self(writer).payloads.size()) return EPH_INVALID_ARGUMENT;
    self(writer).payloads[payload].append(static_cast<const char*>(data), size);
    return EPH_OK;
  }
  static int32_t add_node(eph_context_writer* writer, const eph_context_node* node,
                          eph_error*) noexcept {
    const auto text = [](eph_string from) { return std::string(eph::view(from)); };
    self(writer).nodes.push_back({node->computation,
                                  node->payload,
                                  text(node->source),
                                  text(node->notes),
                                  text(node->sdk_version),
                                  text(node->hardware_architecture),
                                  {}});
    for (uint64_t i = 0; i < node->constant_count; ++i) {
      self(writer).nodes.back().constants.push_back(text(node->constants[i]));
    }
    return EPH_OK;
  }
  static constexpr eph_context_writer_api kApi = {sizeof(eph_context_writer_api), &begin_payload,
                                                  &write, &add_node};
};

}  // namespace ephost::test
