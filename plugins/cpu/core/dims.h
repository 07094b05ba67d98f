// Dims: a short list of extents, strides or axes without heap memory, and checked arithmetic over
// shapes. Used by every kernel; knows nothing of operators.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/graph_view.hpp>
#include <initializer_list>
#include <string>

namespace ephost_cpu {

// The highest rank of a tensor that the kernels take.
inline constexpr std::size_t kMaxRank = 16;

// At most twice kMaxRank numbers; that holds `pads` and the split dimensions of Tile.
class Dims {
 public:
  static constexpr std::size_t kCapacity = 2 * kMaxRank;

  Dims() = default;
  Dims(std::initializer_list<int64_t> values) {
    for (const int64_t value : values) push_back(value);
  }
  Dims(std::size_t count, int64_t value) {
    for (std::size_t i = 0; i < count; ++i) push_back(value);
  }
  explicit Dims(eph::ArrayView<int64_t> values) {
    for (const int64_t value : values) push_back(value);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int64_t* begin() { return values_.data(); }
  [[nodiscard]] int64_t* end() { return values_.data() + size_; }
  [[nodiscard]] const int64_t* begin() const { return values_.data(); }
  [[nodiscard]] const int64_t* end() const { return values_.data() + size_; }
  [[nodiscard]] const int64_t* data() const { return values_.data(); }
  int64_t& operator[](std::size_t i) { return values_[i]; }
  int64_t operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] int64_t back() const { return values_[size_ - 1]; }

  // Throws if the capacity is exhausted.
  void push_back(int64_t value);
  void pop_back() { --size_; }
  void insert(std::size_t position, int64_t value);
  void erase(std::size_t position);

  operator eph::ArrayView<int64_t>() const { return {data(), size()}; }  // NOLINT
  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::size_t size_ = 0;
  std::array<int64_t, kCapacity> values_;
};

// The shape of a tensor. Throws NOT_IMPLEMENTED if its rank exceeds kMaxRank.
[[nodiscard]] Dims dims_of(const eph_value& value);

[[nodiscard]] bool is_equal(eph::ArrayView<int64_t> a, eph::ArrayView<int64_t> b);

// Throws INVALID_ARGUMENT with the message.
[[noreturn]] void fail(const std::string& message);
// Throws NOT_IMPLEMENTED with the message.
[[noreturn]] void fail_unsupported(const std::string& message);

// Product of the extents in [begin, end), 1 if there are none. Throws if it overflows.
[[nodiscard]] int64_t element_count(eph::ArrayView<int64_t> shape);
[[nodiscard]] int64_t element_count(eph::ArrayView<int64_t> shape, std::size_t begin,
                                    std::size_t end);

// The product or sum of numbers from outside; throws if it overflows.
[[nodiscard]] int64_t checked_multiply(int64_t a, int64_t b);
[[nodiscard]] int64_t checked_add(int64_t a, int64_t b);

// The product, wrapping around: strides of a tensor without elements may be any number, and are not
// used.
[[nodiscard]] int64_t multiply_stride(int64_t a, int64_t b);

// `axis` counted from the front. Throws if it is outside of [-rank, rank).
[[nodiscard]] std::size_t normalize_axis(int64_t axis, std::size_t rank);

// Strides, in elements, of a dense row-major tensor.
[[nodiscard]] Dims dense_strides(eph::ArrayView<int64_t> shape);

// e.g. "[2,3,224]", for messages.
[[nodiscard]] std::string to_string(eph::ArrayView<int64_t> shape);

}  // namespace ephost_cpu
