// A check of what manifests promise with `deterministic: true`: providers write the same bytes for
// the same input. A model is compiled twice, each time by new providers, and the checksums of what
// they write are compared. Used by compile_model.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/base/hash.h"

namespace ephost::session {

// Size and checksum of each payload that providers with the promise write.
class PayloadDigests {
 public:
  // To be called for each payload, and for all of its bytes in order. `payload` is unique among
  // those of all providers. The payloads of one provider follow each other.
  void begin(const std::string& provider, uint32_t payload);
  // Ignores a payload that was not begun here: it is of a provider that promises nothing.
  void append(uint32_t payload, std::span<const std::byte> bytes);
  // The partition is a node of the payload.
  void add_partition(uint32_t payload, const std::string& partition);

  // EP_FAIL with provider, payload and partitions for the first difference from `earlier`.
  [[nodiscard]] Status compare(const PayloadDigests& earlier) const;
  // The providers that wrote something and promise to do so again, in the order of writing.
  [[nodiscard]] std::vector<std::string> providers() const;

 private:
  struct Payload {
    std::string provider;
    uint64_t number = 0;  // among those of the provider
    uint64_t size = 0;
    ContentHasher hasher;
    std::vector<std::string> partitions;
  };

  static std::string describe(const Payload& payload);

  std::vector<Payload> payloads_;
  std::map<uint32_t, size_t> by_number_;  // index into payloads_, by number in the context model
};

}  // namespace ephost::session
