// Memory of a frame for what the memory pattern does not place: blocks that a run takes and gives
// back, kept for the next run. Not thread-safe; each frame has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/runtime/tensor_memory.h"

namespace ephost::runtime {

// Blocks of any lifetime within a run.
class MemoryPool {
 public:
  // Null where memory runs out. Takes the smallest free block that is large enough and not more
  // than twice as large, or a new one.
  [[nodiscard]] std::byte* take(uint64_t bytes);
  void give_back(const std::byte* memory);
  // Ends a run: everything is free again, and what this run did not use is released, so that runs
  // of changing shapes do not add up.
  void end_run();
  [[nodiscard]] uint64_t bytes() const;

 private:
  struct Block {
    AlignedMemory memory;
    uint64_t bytes = 0;
    bool taken = false;
    bool used = false;  // in this run
  };
  std::vector<Block> blocks_;
};

// Blocks that all end with the step.
class ScratchArena {
 public:
  // Null where memory runs out.
  [[nodiscard]] std::byte* take(uint64_t bytes);
  // Frees everything. One block as large as the step's need replaces several, so that the same step
  // takes no memory the next time.
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
