#include "host/graph/sparse.h"

#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/graph/checks.h"

namespace ephost::graph {
namespace {

constexpr uint64_t kMaxDenseBytes = uint64_t{1} << 30;

// The position of the entry's value in the dense tensor, or nothing if it is out of range.
std::optional<uint64_t> dense_position(std::span<const int64_t> index, const Shape& shape,
                                       uint64_t count) {
  if (index.size() == 1 && shape.size() != 1) {
    if (index[0] < 0 || static_cast<uint64_t>(index[0]) >= count) return std::nullopt;
    return static_cast<uint64_t>(index[0]);
  }
  uint64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= shape[axis]) return std::nullopt;
    position = position * static_cast<uint64_t>(shape[axis]) + static_cast<uint64_t>(index[axis]);
  }
  return position;
}

}  // namespace

Result<Tensor> densify(const SparseTensor& sparse, const std::string& what) {
  const ElementType type = sparse.values.type;
  const std::optional<uint64_t> count = element_count(sparse.shape);
  const std::optional<uint64_t> size = byte_size(type, sparse.shape);
  const size_t element = element_bits(type) / 8;
  if (!count || !size || element == 0) return invalid_graph(what + ": cannot be made dense");
  if (*size > kMaxDenseBytes) {
    return invalid_graph(
        formatted("{}: its dense form needs {} bytes; more than 1 GiB is refused", what, *size));
  }
  const size_t entries = sparse.values.data.bytes.size() / element;
  const size_t width = sparse.indices.shape.size() == 2 ? sparse.shape.size() : 1;
  std::vector<std::byte> bytes(*size);
  std::vector<int64_t> index(width);
  for (size_t entry = 0; entry < entries; ++entry) {
    if (width > 0) {
      std::memcpy(index.data(), sparse.indices.data.bytes.data() + entry * width * sizeof(int64_t),
                  width * sizeof(int64_t));
    }
    const std::optional<uint64_t> position = dense_position(index, sparse.shape, *count);
    if (!position)
      return invalid_graph(formatted("{}: its index #{} is out of range", what, entry));
    std::memcpy(bytes.data() + *position * element,
                sparse.values.data.bytes.data() + entry * element, element);
  }
  return Tensor{.type = type, .shape = sparse.shape, .data = make_blob(std::move(bytes))};
}

}  // namespace ephost::graph
