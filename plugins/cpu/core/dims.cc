#include "plugins/cpu/core/dims.h"

#include <algorithm>

namespace ephost_cpu {

void fail(const std::string& message) { throw eph::Failure(EPH_INVALID_ARGUMENT, message); }
void fail_unsupported(const std::string& message) {
  throw eph::Failure(EPH_NOT_IMPLEMENTED, message);
}

void Dims::push_back(int64_t value) {
  if (size_ == kCapacity) {
    fail_unsupported("a list of dimensions has more than " + std::to_string(kCapacity) +
                     " entries, which is all that this provider handles");
  }
  values_[size_++] = value;
}

void Dims::insert(std::size_t position, int64_t value) {
  push_back(value);
  std::rotate(begin() + position, end() - 1, end());
}

void Dims::erase(std::size_t position) {
  std::copy(begin() + position + 1, end(), begin() + position);
  --size_;
}

Dims dims_of(const eph_value& value) {
  if (value.rank > kMaxRank) {
    fail_unsupported("a tensor has rank " + std::to_string(value.rank) +
                     "; this provider handles ranks up to " + std::to_string(kMaxRank));
  }
  return Dims(eph::shape_of(value));
}

bool is_equal(eph::ArrayView<int64_t> a, eph::ArrayView<int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail("a size overflows: " + std::to_string(a) + " * " + std::to_string(b));
  }
  return product;
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    fail("a size overflows: " + std::to_string(a) + " + " + std::to_string(b));
  }
  return sum;
}

int64_t element_count(eph::ArrayView<int64_t> shape, std::size_t begin, std::size_t end) {
  const int64_t* first = shape.data() + begin;
  const int64_t* last = shape.data() + end;
  if (std::find(first, last, 0) != last) return 0;
  int64_t count = 1;
  for (; first != last; ++first) count = checked_multiply(count, *first);
  return count;
}

int64_t element_count(eph::ArrayView<int64_t> shape) {
  return element_count(shape, 0, shape.size());
}

std::size_t normalize_axis(int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    fail("axis " + std::to_string(axis) + " is outside of [" + std::to_string(-signed_rank) + ", " +
         std::to_string(signed_rank) + "), the range for a tensor of rank " + std::to_string(rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

int64_t multiply_stride(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Dims dense_strides(eph::ArrayView<int64_t> shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = multiply_stride(strides[i], shape[i]);
  }
  return strides;
}

std::string to_string(eph::ArrayView<int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace ephost_cpu
