// Memory for tensors, and the computation of their sizes. Used by frames, the evaluator and Value.
#pragma once

#include <ephost/element_type.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/memory/shared_memory.h"

namespace ephost::runtime {

inline constexpr size_t kAlignment = 64;

struct AlignedFree {
  void operator()(std::byte* memory) const noexcept;

  SharedMemory* shared = nullptr;  // owned; null: the memory is the heap's
};
using AlignedMemory = std::unique_ptr<std::byte[], AlignedFree>;

// The processes that will use memory. kWithWorkers is for what is kept for several runs: while
// there are providers in workers it is shared memory, which they can read and never write, unless
// it is too small to be worth it, there is a lot of it already or it has to be aligned to more than
// a page.
enum class Sharing : bool { kPrivate, kWithWorkers };

// At least one byte, aligned to `alignment`, a power of two, uninitialised; null where memory runs
// out.
[[nodiscard]] AlignedMemory allocate_aligned(uint64_t bytes, uint64_t alignment = kAlignment,
                                             Sharing sharing = Sharing::kPrivate);

// OUT_OF_MEMORY: "out of memory: <what> needs <bytes> bytes".
[[nodiscard]] Status out_of_memory(uint64_t bytes, std::string_view what);

// The address of tensors without bytes; a null pointer always means "not allocated".
[[nodiscard]] void* empty_tensor_memory();

// Size in bytes of a tensor's data in the ABI, where a string is an eph_string. INVALID_ARGUMENT
// for a negative extent, an unknown type, or a size that overflows.
[[nodiscard]] Result<uint64_t> tensor_bytes(ElementType type, std::span<const int64_t> shape);

// "float[1,3,224,224]".
[[nodiscard]] std::string describe_tensor(ElementType type, std::span<const int64_t> shape);

// The elements of a string tensor: the text, and its views in the ABI.
class StringTensor {
 public:
  StringTensor() = default;
  explicit StringTensor(std::vector<std::string> strings);
  // Sets `count` empty strings; reuses the memory of earlier ones.
  eph_string* reset(size_t count);
  // False if there is no such element.
  [[nodiscard]] bool set(uint64_t element, eph_string text);
  [[nodiscard]] const std::vector<std::string>& strings() const { return strings_; }
  [[nodiscard]] const std::vector<eph_string>& views() const { return views_; }

 private:
  std::vector<std::string> strings_;
  std::vector<eph_string> views_;
};

}  // namespace ephost::runtime
