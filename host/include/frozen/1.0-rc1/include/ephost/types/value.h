// Kinds of values, and the element types of C++'s arithmetic types.
#pragma once

#include <ephost/element_type.h>
#include <ephost/float16.h>

#include <cstdint>
#include <type_traits>

namespace ephost {

enum class ValueKind : uint8_t {
  kNone,    // no value, also an optional without content
  kTensor,  // dense, row-major
  kSequence,
  kMap,
  kSparseTensor,  // as an input of a run; the host gives its dense form to the model
};

// ONNX Runtime's OrtSparseFormat, value for value.
enum class SparseFormat : int32_t { kUndefined = 0, kCoo = 1, kCsr = 2, kBlockSparse = 4 };

template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat;
  if constexpr (std::is_same_v<T, double>) return ElementType::kDouble;
  if constexpr (std::is_same_v<T, Float16>) return ElementType::kFloat16;
  if constexpr (std::is_same_v<T, BFloat16>) return ElementType::kBfloat16;
  if constexpr (std::is_same_v<T, bool>) return ElementType::kBool;
  if constexpr (std::is_same_v<T, int8_t>) return ElementType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return ElementType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, uint16_t>) return ElementType::kUint16;
  if constexpr (std::is_same_v<T, uint32_t>) return ElementType::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return ElementType::kUint64;
  return ElementType::kUndefined;
}

}  // namespace ephost
