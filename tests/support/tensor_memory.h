// tensor_memory.h: memory and tensors as a host gives them to a plugin.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace ephost::test {

using Shape = std::vector<int64_t>;

[[nodiscard]] std::size_t element_count(const Shape& shape);

// Memory aligned to 64 bytes, which copies share. Code that reads or writes beyond its last 64
// bytes crashes, generated code included.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size);
  explicit AlignedBytes(const std::string& bytes);
  [[nodiscard]] void* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::shared_ptr<void> memory_;
  std::size_t size_ = 0;
};

// A float tensor with memory of its own, which copies share.
class FloatTensor {
 public:
  FloatTensor(Shape shape, const std::vector<float>& data);
  explicit FloatTensor(const Shape& shape);  // filled with a value that no result has
  [[nodiscard]] const Shape& shape() const { return *shape_; }
  [[nodiscard]] std::vector<float> values() const;
  eph_value value = {};

 private:
  std::shared_ptr<const Shape> shape_;
  AlignedBytes bytes_;
};

}  // namespace ephost::test
