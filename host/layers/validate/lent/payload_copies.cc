#include "host/layers/validate/lent/payload_copies.h"

#include <cstring>

namespace ephost::layers {
namespace {

constexpr size_t kPayloadAlignment = 64;

}  // namespace

eph_bytes PayloadCopies::copy(eph_bytes payload) {
  if (payload.data == nullptr || payload.size == 0) return payload;
  const std::lock_guard lock(mutex_);
  const std::pair key(payload.data, payload.size);
  auto known = copies_.find(key);
  if (known == copies_.end()) {
    const auto size = static_cast<size_t>(payload.size);
    GuardedMemory memory(size, kPayloadAlignment, guard_, std::byte{0},
                         "a payload for " + provider_);
    std::memcpy(memory.data(), payload.data, size);
    memory.make_read_only();
    known = copies_.emplace(key, std::move(memory)).first;
  }
  return {known->second.data(), payload.size};
}

void PayloadCopies::retire() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& [key, memory] : copies_) {
    memory.retire("a payload for " + provider_ + ", which was destroyed (rule 20)");
  }
}

size_t PayloadCopies::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = sizeof(*this);
  for (const auto& [key, memory] : copies_) bytes += memory.footprint();
  return bytes;
}

}  // namespace ephost::layers
