// Memory for tensors and the arithmetic of their sizes: what frames, the evaluator and Value share.
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

namespace ephost::runtime {

inline constexpr size_t kAlignment = 64;

struct AlignedFree {
  void operator()(std::byte* memory) const noexcept;
};
using AlignedMemory = std::unique_ptr<std::byte[], AlignedFree>;

// At least one byte, aligned to kAlignment, uninitialised; null where memory runs out.
[[nodiscard]] AlignedMemory allocate_aligned(uint64_t bytes);

// FAIL: "out of memory: <what> needs <bytes> bytes".
[[nodiscard]] Status out_of_memory(uint64_t bytes, std::string_view what);

// What one value that nobody planned may grow to.
[[nodiscard]] uint64_t half_of_physical_memory();

// Where tensors without bytes point to, so that a null pointer always means "not allocated".
[[nodiscard]] void* empty_tensor_memory();

// Bytes of the data behind an eph_value of that type and shape; a string takes an eph_string.
// INVALID_ARGUMENT for a negative extent, an unknown type, or a size that does not fit.
[[nodiscard]] Result<uint64_t> tensor_bytes(ElementType type, std::span<const int64_t> shape);

// "float[1,3,224,224]".
[[nodiscard]] std::string describe_tensor(ElementType type, std::span<const int64_t> shape);

// The elements of a string tensor: owned text and the ABI's view of it.
class StringTensor {
 public:
  StringTensor() = default;
  explicit StringTensor(std::vector<std::string> strings);
  // `count` empty strings; keeps the memory of earlier uses.
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
