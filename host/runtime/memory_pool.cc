#include "host/runtime/memory_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ephost::runtime {
namespace {

uint64_t round_up(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

bool too_large(uint64_t bytes) { return bytes > std::numeric_limits<uint64_t>::max() / 4; }

}  // namespace

std::byte* MemoryPool::take(uint64_t bytes) {
  if (too_large(bytes)) return nullptr;
  const uint64_t needed = round_up(bytes);
  Block* best = nullptr;
  for (Block& block : blocks_) {
    if (block.taken || block.bytes < needed || block.bytes > 2 * needed) continue;
    if (best == nullptr || block.bytes < best->bytes) best = &block;
  }
  if (best == nullptr) {
    AlignedMemory memory = allocate_aligned(needed);
    if (memory == nullptr) return nullptr;
    best = &blocks_.emplace_back(Block{std::move(memory), needed, false, false});
  }
  best->taken = true;
  best->used = true;
  return best->memory.get();
}

void MemoryPool::give_back(const std::byte* memory) {
  for (Block& block : blocks_) {
    if (block.memory.get() == memory) block.taken = false;
  }
}

void MemoryPool::end_run() {
  std::erase_if(blocks_, [](const Block& block) { return !block.used; });
  for (Block& block : blocks_) block.taken = block.used = false;
}

uint64_t MemoryPool::bytes() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

std::byte* ScratchArena::take(uint64_t bytes) {
  if (too_large(bytes)) return nullptr;
  const uint64_t needed = round_up(bytes);
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
