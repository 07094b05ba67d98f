#include "host/runtime/values/sparse_value.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/graph/types.h"
#include "host/runtime/values/device_value.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

Status invalid(const SparseTensor& sparse, std::string_view reason) {
  return Status(StatusCode::kInvalidArgument,
                formatted("a sparse tensor of {} is not valid: {}",
                          describe_tensor(sparse.values.element_type(), sparse.shape), reason));
}

uint64_t extent(const std::vector<int64_t>& shape, size_t axis) {
  return static_cast<uint64_t>(shape[axis]);
}

bool is_within(int64_t index, uint64_t end) {
  return index >= 0 && static_cast<uint64_t>(index) < end;
}

// The number of the first index that is not in [0, end), or -1.
int64_t find_outside(std::span<const int64_t> indices, uint64_t end) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!is_within(indices[i], end)) return static_cast<int64_t>(i);
  }
  return -1;
}

Status check_coo(const SparseTensor& sparse, uint64_t dense_count) {
  const uint64_t count = sparse.values.element_count();
  const size_t rank = sparse.shape.size();
  const std::vector<int64_t>& indices = sparse.indices;
  if (sparse.values.shape().size() != 1)
    return invalid(sparse, "its values do not have one dimension");
  if (indices.size() == count) {
    const int64_t outside = find_outside(indices, dense_count);
    if (outside < 0) return Status::ok_status();
    return invalid(sparse, formatted("index {} is {}, which is outside of the tensor", outside,
                                     indices[static_cast<size_t>(outside)]));
  }
  if (checked_mul<uint64_t>(count, rank) != indices.size()) {
    return invalid(sparse, formatted("it has {} values and {} indices; give one for each value, or "
                                     "one for each value and dimension",
                                     count, indices.size()));
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (is_within(indices[i], extent(sparse.shape, i % rank))) continue;
    return invalid(sparse, formatted("the index of value {} in dimension {} is {}, which is "
                                     "outside of the tensor",
                                     i / rank, i % rank, indices[i]));
  }
  return Status::ok_status();
}

Status check_csr(const SparseTensor& sparse) {
  const uint64_t count = sparse.values.element_count();
  const std::vector<int64_t>& outer = sparse.outer_indices;
  if (sparse.shape.size() != 2) return invalid(sparse, "CSR is for tensors of two dimensions");
  if (sparse.values.shape().size() != 1)
    return invalid(sparse, "its values do not have one dimension");
  if (sparse.indices.size() != count) {
    return invalid(sparse, formatted("it has {} values and {} columns; give one for each value",
                                     count, sparse.indices.size()));
  }
  if (const int64_t outside = find_outside(sparse.indices, extent(sparse.shape, 1)); outside >= 0) {
    return invalid(sparse, formatted("the column of value {} is {}, which is outside of the tensor",
                                     outside, sparse.indices[static_cast<size_t>(outside)]));
  }
  // Rows without any value need not be stated if there is none at all.
  if (outer.empty() && count == 0) return Status::ok_status();
  if (outer.size() - 1 != extent(sparse.shape, 0) || outer.front() != 0 ||
      outer.back() != static_cast<int64_t>(count) || !std::ranges::is_sorted(outer)) {
    return invalid(sparse, formatted("its outer indices are not {} ascending numbers from 0 to {}",
                                     extent(sparse.shape, 0) + 1, count));
  }
  return Status::ok_status();
}

Status check_blocks(const SparseTensor& sparse) {
  const std::vector<int64_t>& blocks = sparse.values.shape();
  if (sparse.shape.size() != 2) {
    return invalid(sparse, "blocks are for tensors of two dimensions");
  }
  if (blocks.size() != 3) return invalid(sparse, "its values are not blocks of two dimensions");
  for (const size_t axis : {0U, 1U}) {
    if (blocks[axis + 1] > 0 && sparse.shape[axis] % blocks[axis + 1] == 0) continue;
    return invalid(sparse,
                   formatted("blocks of {} do not divide dimension {}", blocks[axis + 1], axis));
  }
  if (checked_mul<uint64_t>(extent(blocks, 0), 2) != sparse.indices.size()) {
    return invalid(sparse, formatted("it has {} blocks and {} indices; give two for each block",
                                     blocks[0], sparse.indices.size()));
  }
  for (size_t i = 0; i < sparse.indices.size(); ++i) {
    const uint64_t end = extent(sparse.shape, i % 2) / extent(blocks, i % 2 + 1);
    if (is_within(sparse.indices[i], end)) continue;
    return invalid(sparse, formatted("the {} of block {} is {}, which is outside of the tensor",
                                     i % 2 == 0 ? "row" : "column", i / 2, sparse.indices[i]));
  }
  return Status::ok_status();
}

// Calls place(value, position, length) for values that lie side by side in the dense form too: the
// first one, its place in row-major order, and their number.
template <class Place>
void for_each_run(const SparseTensor& sparse, const Place& place) {
  const std::vector<int64_t>& indices = sparse.indices;
  const uint64_t count = sparse.values.element_count();
  const auto index = [&](uint64_t i) { return static_cast<uint64_t>(indices[i]); };
  if (sparse.format == SparseFormat::kBlockSparse) {
    const std::vector<int64_t>& blocks = sparse.values.shape();
    const uint64_t height = extent(blocks, 1);
    const uint64_t width = extent(blocks, 2);
    for (uint64_t line = 0; line < extent(blocks, 0) * height; ++line) {
      const uint64_t block = line / height;
      const uint64_t row = index(2 * block) * height + line % height;
      place(line * width, row * extent(sparse.shape, 1) + index(2 * block + 1) * width, width);
    }
    return;
  }
  if (sparse.format == SparseFormat::kCsr) {
    for (uint64_t row = 0; row + 1 < sparse.outer_indices.size(); ++row) {
      const auto end = static_cast<uint64_t>(sparse.outer_indices[row + 1]);
      for (auto i = static_cast<uint64_t>(sparse.outer_indices[row]); i < end; ++i) {
        place(i, row * extent(sparse.shape, 1) + index(i), 1);
      }
    }
    return;
  }
  const size_t rank = sparse.shape.size();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t position = 0;
    if (indices.size() == count) {
      position = index(i);
    } else {
      for (size_t axis = 0; axis < rank; ++axis) {
        position = position * extent(sparse.shape, axis) + index(i * rank + axis);
      }
    }
    place(i, position, 1);
  }
}

}  // namespace

Status check_sparse(const SparseTensor& sparse) {
  const ElementType type = sparse.values.element_type();
  const auto count = graph::element_count(sparse.shape);
  const bool is_text = type == ElementType::kString;
  const bool has_whole_bytes = is_text || (graph::element_bits(type) >= 8);
  if (sparse.values.kind() != ValueKind::kTensor || !has_whole_bytes) {
    return invalid(sparse, "its values are not a tensor whose elements are whole bytes or strings");
  }
  if (!count || !tensor_bytes(type, sparse.shape).ok()) {
    return invalid(sparse, "its shape has a negative extent or is too large");
  }
  if (sparse.format != SparseFormat::kCsr && !sparse.outer_indices.empty()) {
    return invalid(sparse, "only CSR has outer indices");
  }
  switch (sparse.format) {
    case SparseFormat::kCoo:
      return check_coo(sparse, *count);
    case SparseFormat::kCsr:
      return check_csr(sparse);
    case SparseFormat::kBlockSparse:
      return check_blocks(sparse);
    case SparseFormat::kUndefined:
      break;
  }
  return invalid(sparse, "its format is not COO, CSR or block sparse");
}

Result<Value> make_dense(const SparseTensor& sparse) {
  if (sparse.values.element_type() == ElementType::kString) {
    std::vector<std::string> strings(graph::element_count(sparse.shape).value_or(0));
    const std::vector<std::string>& values = sparse.values.strings();
    for_each_run(sparse, [&](uint64_t value, uint64_t position, uint64_t length) {
      for (uint64_t i = 0; i < length; ++i) strings[position + i] = values[value + i];
    });
    return Value::of_strings(sparse.shape, std::move(strings));
  }
  EPHOST_ASSIGN_OR_RETURN(Value dense, Value::allocate(sparse.values.element_type(), sparse.shape));
  const uint64_t size = graph::element_bits(sparse.values.element_type()) / 8;
  const std::byte* const from = sparse.values.bytes().data();
  std::byte* const to = dense.mutable_bytes().data();
  for_each_run(sparse, [&](uint64_t value, uint64_t position, uint64_t length) {
    std::memcpy(to + position * size, from + value * size, length * size);
  });
  return dense;
}

Result<Value> Value::of_sparse(SparseTensor sparse) {
  EPHOST_ASSIGN_OR_RETURN(sparse.values, to_host(sparse.values));
  EPHOST_RETURN_IF_ERROR(check_sparse(sparse));
  Value value;
  value.kind_ = ValueKind::kSparseTensor;
  value.type_ = sparse.values.element_type();
  value.shape_ = sparse.shape;
  value.owner_ = std::make_shared<SparseTensor>(std::move(sparse));
  return value;
}

const SparseTensor* Value::sparse() const {
  return kind_ == ValueKind::kSparseTensor ? static_cast<const SparseTensor*>(owner_.get())
                                           : nullptr;
}

Result<Value> Value::to_dense(uint64_t max_bytes) const {
  if (kind_ != ValueKind::kSparseTensor) return *this;
  EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type_, shape_));
  if (bytes > max_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the dense form of a sparse tensor of {} needs {} bytes, but {} remain "
                            "of session.sparse_initializers_max_bytes; raise that limit",
                            describe_tensor(type_, shape_), bytes, max_bytes));
  }
  return make_dense(*sparse());
}

}  // namespace ephost::runtime
