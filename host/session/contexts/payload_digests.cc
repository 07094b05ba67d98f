#include "host/session/contexts/payload_digests.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

Status broken_promise(const std::string& provider, const std::string& how) {
  return Status(
      StatusCode::kEpFail,
      formatted(
          "{} says \"deterministic: true\" in its manifest, but {} in two compilations of the "
          "same model; report this to the plugin's vendor",
          provider, how));
}

}  // namespace

void PayloadDigests::begin(const std::string& provider, uint32_t payload) {
  Payload begun;
  begun.provider = provider;
  begun.number =
      static_cast<uint64_t>(std::ranges::count(payloads_, begun.provider, &Payload::provider));
  by_number_[payload] = payloads_.size();
  payloads_.push_back(std::move(begun));
}

void PayloadDigests::append(uint32_t payload, std::span<const std::byte> bytes) {
  const auto known = by_number_.find(payload);
  if (known == by_number_.end()) return;
  Payload& one = payloads_[known->second];
  one.size += bytes.size();
  one.hasher.update(bytes);
}

void PayloadDigests::add_partition(uint32_t payload, const std::string& partition) {
  const auto known = by_number_.find(payload);
  if (known != by_number_.end()) payloads_[known->second].partitions.push_back(partition);
}

std::string PayloadDigests::describe(const Payload& payload) {
  std::vector<std::string> names;
  for (const std::string& partition : payload.partitions) names.push_back(quote(partition));
  return formatted("payload {} (of {})", payload.number,
                   names.empty() ? "no partition" : "partition " + join(names, ", "));
}

Status PayloadDigests::compare(const PayloadDigests& earlier) const {
  for (size_t i = 0; i < std::max(payloads_.size(), earlier.payloads_.size()); ++i) {
    if (i >= payloads_.size() || i >= earlier.payloads_.size()) {
      const Payload& more = i < payloads_.size() ? payloads_[i] : earlier.payloads_[i];
      return broken_promise(more.provider, formatted("wrote {} and {} payloads",
                                                     earlier.payloads_.size(), payloads_.size()));
    }
    const Payload& before = earlier.payloads_[i];
    const Payload& now = payloads_[i];
    if (before.partitions != now.partitions || before.provider != now.provider) {
      return broken_promise(now.provider,
                            formatted("wrote {} and {}", describe(before), describe(now)));
    }
    if (before.size != now.size) {
      return broken_promise(
          now.provider, formatted("{} has {} and {} bytes", describe(now), before.size, now.size));
    }
    if (before.hasher.checksum() != now.hasher.checksum()) {
      return broken_promise(now.provider,
                            formatted("{} has {} different bytes", describe(now), now.size));
    }
  }
  return {};
}

std::vector<std::string> PayloadDigests::providers() const {
  std::vector<std::string> names;
  for (const Payload& payload : payloads_) {
    if (names.empty() || names.back() != payload.provider) names.push_back(payload.provider);
  }
  return names;
}

}  // namespace ephost::session
