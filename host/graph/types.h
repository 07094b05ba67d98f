// Types of values: element types, shapes, and constant data. Plain values; the numbering follows
// ONNX, so that the importer, the C ABI and messages agree.
#pragma once

#include <ephost/element_type.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::graph {

using ephost::ElementType;

// The size of one element in bits; 0 for undefined and string. Elements of 4 and 2 bits are packed
// two and four to a byte, the first one into its lowest bits.
[[nodiscard]] uint32_t element_bits(ElementType type);

// Whether an element of the type may lie at this address, which C++ gives the type that stands for
// it; always for strings and packed elements.
[[nodiscard]] bool is_aligned(const void* address, ElementType type);

// ONNX's lower-case name, e.g. "float", "int64", "bfloat16"; "undefined" for unknown types.
[[nodiscard]] std::string_view element_type_name(ElementType type);

// A dimension is an extent >= 0, unknown, or a symbol of the model ("batch").
inline constexpr int64_t kUnknownDim = -1;
[[nodiscard]] constexpr bool is_static_dim(int64_t dim) { return dim >= 0; }
[[nodiscard]] constexpr bool is_symbolic_dim(int64_t dim) { return dim <= -2; }
[[nodiscard]] constexpr int64_t symbolic_dim(uint32_t symbol) { return -2 - int64_t{symbol}; }
// The index into Model::symbols; `dim` must be symbolic.
[[nodiscard]] constexpr uint32_t dim_symbol(int64_t dim) { return static_cast<uint32_t>(-2 - dim); }

using Shape = std::vector<int64_t>;

[[nodiscard]] bool is_static(const Shape& shape);

// The number of elements; nothing if a dimension is not static or the product overflows.
[[nodiscard]] std::optional<uint64_t> element_count(std::span<const int64_t> shape);

// The size of a dense tensor in bytes; nothing for strings, dynamic dimensions and overflow.
[[nodiscard]] std::optional<uint64_t> byte_size(ElementType type, std::span<const int64_t> shape);

enum class ValueKind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };

struct ValueType {
  ValueKind kind = ValueKind::kUnknown;
  ElementType element = ElementType::kUndefined;  // of tensors; of a map's keys
  std::optional<Shape> shape;                     // of tensors; nothing if the rank is unknown
  std::shared_ptr<const ValueType> nested;        // of sequence, optional and a map's values
};

[[nodiscard]] bool operator==(const ValueType& a, const ValueType& b);

// The element type of a tensor, of the tensors in a sequence or optional, or of a map's keys.
[[nodiscard]] ElementType content_element(const ValueType& type);

// For example "float[1,3,batch,?]", "seq(int64[?])".
[[nodiscard]] std::string to_string(const ValueType& type, std::span<const std::string> symbols);

// Bytes inside another object: a mapped file, a parsed message, a vector. `owner` keeps that object
// alive; copies of a Blob share it, which is why it is a shared_ptr.
struct Blob {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Makes a Blob that owns `bytes`.
[[nodiscard]] Blob make_blob(std::vector<std::byte> bytes);

// Where data lies outside the model file.
struct ExternalLocation {
  std::string location;        // as given in a model: relative to the model's folder
  std::filesystem::path path;  // the file, canonical
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A constant dense tensor: row-major, little-endian, packed as element_bits says.
// `strings` holds the elements if the type is kString, `data` otherwise.
struct Tensor {
  ElementType type = ElementType::kUndefined;
  Shape shape;
  Blob data;
  std::shared_ptr<const std::vector<std::string>> strings;
  // The external data file from which `data` came, if any.
  std::shared_ptr<const ExternalLocation> external;
};

// The elements of a tensor, which are of type Element, as numbers of type Number.
template <class Element, class Number>
[[nodiscard]] std::vector<Number> read_elements(const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.data.bytes;
  std::vector<Number> numbers;
  for (size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
    Element element{};
    std::memcpy(&element, bytes.data() + at, sizeof(element));
    numbers.push_back(static_cast<Number>(element));
  }
  return numbers;
}

// A constant sparse tensor as in ONNX: values [nnz], indices [nnz] or [nnz, rank].
struct SparseTensor {
  Tensor values;
  Tensor indices;
  Shape shape;
};

}  // namespace ephost::graph
