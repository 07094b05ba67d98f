// Checksums of the EP context that a provider writes, so that two writings can be compared.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/hash.h"
#include "host/layers/validate/finding.h"

namespace ephost::layers {

// Stands for the host's writer, and passes everything on to it if there is one. Otherwise it
// refuses what the host would refuse.
class ContextRecorder : public eph_context_writer {
 public:
  // Borrows both: the host's writer (null: it keeps checksums only), and the provider's name.
  ContextRecorder(eph_context_writer* inner, std::string_view provider)
      : eph_context_writer{&kApi}, inner_(inner), provider_(provider) {}
  ContextRecorder(const ContextRecorder&) = delete;
  ContextRecorder& operator=(const ContextRecorder&) = delete;

  // Nothing if the provider has written the same as to `first`.
  [[nodiscard]] std::vector<Finding> differences_from(const ContextRecorder& first) const;

 private:
  struct Payload {
    std::string compatibility;
    uint64_t size = 0;
    ContentHasher content;
  };

  static int32_t begin_payload(eph_context_writer* writer, eph_string compatibility,
                               uint32_t* out_payload, eph_error* error) noexcept;
  static int32_t write(eph_context_writer* writer, uint32_t payload, const void* data,
                       uint64_t size, eph_error* error) noexcept;
  static int32_t add_node(eph_context_writer* writer, const eph_context_node* node,
                          eph_error* error) noexcept;
  static constexpr eph_context_writer_api kApi = {sizeof(eph_context_writer_api), &begin_payload,
                                                  &write, &add_node};

  eph_context_writer* const inner_;
  const std::string_view provider_;
  std::vector<Payload> payloads_;
  std::vector<uint32_t> numbers_;   // of the payloads, as the host has given them
  std::vector<std::string> nodes_;  // their content as text
};

}  // namespace ephost::layers
