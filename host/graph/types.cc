#include "host/graph/types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/checked_math.h"

namespace ephost::graph {
namespace {

struct ElementInfo {
  uint32_t bits;
  std::string_view name;
};

// Indexed by the value of ElementType.
constexpr std::array<ElementInfo, 27> kElements = {{
    {0, "undefined"},      {32, "float"},       {8, "uint8"},          {8, "int8"},
    {16, "uint16"},        {16, "int16"},       {32, "int32"},         {64, "int64"},
    {0, "string"},         {8, "bool"},         {16, "float16"},       {64, "double"},
    {32, "uint32"},        {64, "uint64"},      {64, "complex64"},     {128, "complex128"},
    {16, "bfloat16"},      {8, "float8e4m3fn"}, {8, "float8e4m3fnuz"}, {8, "float8e5m2"},
    {8, "float8e5m2fnuz"}, {4, "uint4"},        {4, "int4"},           {4, "float4e2m1"},
    {8, "float8e8m0"},     {2, "uint2"},        {2, "int2"},
}};

const ElementInfo& element_info(ElementType type) {
  const auto index = static_cast<size_t>(type);
  return kElements[index < kElements.size() ? index : 0];
}

std::string dim_text(int64_t dim, std::span<const std::string> symbols) {
  if (is_static_dim(dim)) return std::to_string(dim);
  if (is_symbolic_dim(dim) && dim_symbol(dim) < symbols.size()) return symbols[dim_symbol(dim)];
  return "?";
}

std::string tensor_text(const ValueType& type, std::span<const std::string> symbols) {
  std::string text{element_type_name(type.element)};
  if (!type.shape) return text;
  text += '[';
  for (size_t i = 0; i < type.shape->size(); ++i) {
    if (i > 0) text += ',';
    text += dim_text((*type.shape)[i], symbols);
  }
  return text + ']';
}

}  // namespace

uint32_t element_bits(ElementType type) { return element_info(type).bits; }

bool is_aligned(const void* address, ElementType type) {
  const bool is_pair = type == ElementType::kComplex64 || type == ElementType::kComplex128;
  const uint64_t alignment = std::max<uint64_t>(element_bits(type) / (is_pair ? 16 : 8), 1);
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;  // a power of two
}

std::string_view element_type_name(ElementType type) { return element_info(type).name; }

bool is_static(const Shape& shape) {
  for (const int64_t dim : shape) {
    if (!is_static_dim(dim)) return false;
  }
  return true;
}

std::optional<uint64_t> element_count(std::span<const int64_t> shape) {
  const std::optional<int64_t> count = checked_product(shape);
  if (!count) return std::nullopt;
  return static_cast<uint64_t>(*count);
}

std::optional<uint64_t> byte_size(ElementType type, std::span<const int64_t> shape) {
  const uint64_t bits = element_bits(type);
  const std::optional<uint64_t> count = element_count(shape);
  if (bits == 0 || !count) return std::nullopt;
  if (bits < 8) {
    const uint64_t per_byte = 8 / bits;
    return *count / per_byte + (*count % per_byte != 0 ? 1 : 0);
  }
  return checked_mul<uint64_t>(*count, bits / 8);
}

ElementType content_element(const ValueType& type) {
  const bool holds_others = type.kind == ValueKind::kSequence || type.kind == ValueKind::kOptional;
  if (!holds_others) return type.element;
  return type.nested ? content_element(*type.nested) : ElementType::kUndefined;
}

bool operator==(const ValueType& a, const ValueType& b) {
  const bool same_nested =
      a.nested && b.nested ? *a.nested == *b.nested : a.nested == nullptr && b.nested == nullptr;
  return a.kind == b.kind && a.element == b.element && a.shape == b.shape && same_nested;
}

std::string to_string(const ValueType& type, std::span<const std::string> symbols) {
  const auto nested = [&] { return type.nested ? to_string(*type.nested, symbols) : "?"; };
  switch (type.kind) {
    case ValueKind::kTensor:
      return tensor_text(type, symbols);
    case ValueKind::kSparseTensor:
      return "sparse(" + tensor_text(type, symbols) + ")";
    case ValueKind::kSequence:
      return "seq(" + nested() + ")";
    case ValueKind::kOptional:
      return "optional(" + nested() + ")";
    case ValueKind::kMap:
      return "map(" + std::string(element_type_name(type.element)) + "," + nested() + ")";
    case ValueKind::kUnknown:
      break;
  }
  return "?";
}

Blob make_blob(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.bytes = *owner, .owner = owner};
}

}  // namespace ephost::graph
