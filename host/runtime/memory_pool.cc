#include "host/runtime/memory_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ephost::runtime {
namespace {

bool too_large(uint64_t bytes) { return bytes > std::numeric_limits<uint64_t>::max() / 4; }

}  // namespace

std::byte* MemoryPool::take(uint64_t bytes) {
  if (too_large(bytes)) return nullptr;
  const uint64_t needed = pooled_size(bytes);
  if (std::byte* const memory = reuse(needed)) return memory;
  AlignedMemory memory = allocate_aligned(needed, alignment_, Sharing::kWithWorkers);
  if (memory == nullptr) return nullptr;
  return add(std::move(memory), needed);
}

std::byte* ScratchArena::take(uint64_t bytes) {
  if (too_large(bytes)) return nullptr;
  const uint64_t needed = pooled_size(bytes);
  if (blocks_.empty() || blocks_.back().bytes - used_ < needed) {
    AlignedMemory memory = allocate_aligned(needed);
    if (memory == nullptr) return nullptr;
    blocks_.push_back({std::move(memory), needed});
    used_ = 0;
  }
  std::byte* taken = blocks_.back().memory.get() + used_;
  used_ += needed;
  return taken;
}

void ScratchArena::release() {
  used_ = 0;
  if (blocks_.size() <= 1) return;
  uint64_t total = 0;
  for (const Block& block : blocks_) total += block.bytes;
  blocks_.clear();
  if (AlignedMemory memory = allocate_aligned(total)) blocks_.push_back({std::move(memory), total});
}

}  // namespace ephost::runtime
