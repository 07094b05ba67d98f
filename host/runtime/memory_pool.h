// Memory that the memory pattern does not place: blocks that a run takes and gives back, and that
// are kept for the next run. Not thread-safe; each frame has its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

// The size of the block that a pool takes for a value of `bytes` bytes.
[[nodiscard]] constexpr uint64_t pooled_size(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

[[nodiscard]] inline std::byte* address_of(const AlignedMemory& memory) { return memory.get(); }
template <class Memory>
[[nodiscard]] std::byte* address_of(const Memory& memory) {
  return memory.data();
}

// Blocks that are taken and given back in any order within a run. `Memory` owns a block.
template <class Memory>
class BlockPool {
 public:
  // The smallest free block that is large enough and not more than twice as large; null if there is
  // none.
  [[nodiscard]] std::byte* reuse(uint64_t needed) {
    Block* best = nullptr;
    for (Block& block : blocks_) {
      if (block.taken || block.bytes < needed || block.bytes / 2 > needed) continue;
      if (best == nullptr || block.bytes < best->bytes) best = &block;
    }
    if (best == nullptr) return nullptr;
    best->taken = best->used = true;
    return address_of(best->memory);
  }
  // Adds a block, which is taken from the start.
  std::byte* add(Memory memory, uint64_t bytes) {
    return address_of(blocks_.emplace_back(Block{std::move(memory), bytes, true, true}).memory);
  }
  void give_back(const std::byte* memory) {
    for (Block& block : blocks_) {
      if (address_of(block.memory) == memory) block.taken = false;
    }
  }
  // Ends a run: all blocks are free again, and those that this run did not use are released, so
  // that the pool does not grow when shapes keep changing.
  void end_run() {
    std::erase_if(blocks_, [](const Block& block) { return !block.used; });
    for (Block& block : blocks_) block.taken = block.used = false;
  }
  [[nodiscard]] uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.bytes;
    return bytes;
  }

 private:
  struct Block {
    Memory memory;
    uint64_t bytes = 0;
    bool taken = false;
    bool used = false;  // in this run
  };
  std::vector<Block> blocks_;
};

// A pool of host memory.
class MemoryPool : public BlockPool<AlignedMemory> {
 public:
  // `alignment` is that of all blocks, a power of two.
  explicit MemoryPool(uint64_t alignment = kAlignment) : alignment_(alignment) {}

  // A free block or a new one; null where memory runs out.
  [[nodiscard]] std::byte* take(uint64_t bytes);

 private:
  uint64_t alignment_;
};

// Scratch memory of a step; all blocks are freed when the step ends.
class ScratchArena {
 public:
  // Null where memory runs out.
  [[nodiscard]] std::byte* take(uint64_t bytes);
  // Whether the step has taken anything.
  [[nodiscard]] bool is_used() const { return used_ != 0; }
  // Frees everything. If the step took several blocks, one of their total size replaces them, so
  // that the same step allocates nothing the next time.
  void end_step() {
    if (used_ != 0) release();
  }

 private:
  struct Block {
    AlignedMemory memory;
    uint64_t bytes = 0;
  };
  void release();

  std::vector<Block> blocks_;
  uint64_t used_ = 0;  // of the last block; more than 0 if anything is taken
};

}  // namespace ephost::runtime
