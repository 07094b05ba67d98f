// DLPack: tensors of other libraries, in the memory that these have. The structures are those of
// version 0 of its C interface, which all libraries understand.
#include <ephost/element_info.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/python/extension/arrays.h"

namespace ephost::python {
namespace {

struct DLDevice {
  int32_t type;
  int32_t id;
};
constexpr int32_t kCpu = 1;

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
enum TypeCode : uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t rank;
  DLDataType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void* manager;
  void (*deleter)(DLManagedTensor* self);
};

struct TypePair {
  ElementType type;
  TypeCode code;
  uint8_t bits;
};
constexpr std::array kTypePairs = {
    TypePair{ElementType::kFloat, kFloat, 32},
    TypePair{ElementType::kDouble, kFloat, 64},
    TypePair{ElementType::kFloat16, kFloat, 16},
    TypePair{ElementType::kBfloat16, kBfloat, 16},
    TypePair{ElementType::kInt8, kInt, 8},
    TypePair{ElementType::kInt16, kInt, 16},
    TypePair{ElementType::kInt32, kInt, 32},
    TypePair{ElementType::kInt64, kInt, 64},
    TypePair{ElementType::kUint8, kUint, 8},
    TypePair{ElementType::kUint16, kUint, 16},
    TypePair{ElementType::kUint32, kUint, 32},
    TypePair{ElementType::kUint64, kUint, 64},
    TypePair{ElementType::kComplex64, kComplex, 64},
    TypePair{ElementType::kComplex128, kComplex, 128},
    TypePair{ElementType::kBool, kBool, 8},
};

constexpr const char* kCapsuleName = "dltensor";
constexpr const char* kUsedCapsuleName = "used_dltensor";

// A tensor that is given away, with what it points to.
struct GivenTensor {
  DLManagedTensor managed = {};
  Value value;
  std::vector<int64_t> shape;
};

void destroy_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsuleName) == 0) return;  // its new owner destroys the tensor
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  managed->deleter(managed);
}

Status refuse(std::string problem) { return {StatusCode::kInvalidArgument, std::move(problem)}; }

bool is_row_major(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t stride = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

Status check_tensor(const DLTensor& tensor) {
  const bool is_impossible =
      tensor.rank < 0 || (tensor.rank > 0 && tensor.shape == nullptr) ||
      std::any_of(tensor.shape, tensor.shape + tensor.rank, [](int64_t one) { return one < 0; });
  if (is_impossible) return refuse("the DLPack tensor has an impossible shape");
  if (!is_row_major(tensor)) {
    return refuse("the DLPack tensor is not row-major; make it contiguous");
  }
  return {};
}

ElementType type_of_tensor(const DLTensor& tensor, bool is_bool) {
  const DLDataType& wanted = tensor.type;
  if (is_bool && wanted.code == kUint && wanted.bits == 8) return ElementType::kBool;
  for (const TypePair& pair : kTypePairs) {
    if (wanted.lanes == 1 && pair.code == wanted.code && pair.bits == wanted.bits) return pair.type;
  }
  raise_if_failed(refuse("the DLPack tensor has elements of type code " +
                         std::to_string(wanted.code) + " with " + std::to_string(wanted.bits) +
                         " bits in " + std::to_string(wanted.lanes) +
                         " lanes, which is not an element type of ONNX; convert it"));
  return ElementType::kUndefined;
}

DLManagedTensor* tensor_of(const py::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kCapsuleName) == 0) {
    raise_if_failed(
        refuse("from_dlpack takes an object with __dlpack__, or a capsule \"dltensor\" "
               "that was not used yet"));
  }
  return static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsuleName));
}

}  // namespace

py::capsule dlpack_of(Value value) {
  const TypePair* pair = nullptr;
  for (const TypePair& known : kTypePairs) {
    if (value.kind() == ValueKind::kTensor && known.type == value.element_type()) pair = &known;
  }
  if (pair == nullptr) {
    raise_if_failed(
        refuse("the value has no DLPack form: it is not a dense tensor of numbers that "
               "take whole bytes; use numpy()"));
    return {};
  }
  DLDevice device = {kCpu, 0};
  if (value.device_data() != nullptr) {
    const MemoryInfo memory = value.memory_info();
    if (memory.dlpack_type == 0) {
      raise_if_failed(refuse("the tensor lies in a memory that DLPack has no name for, " +
                             memory.name + "; share the copy that numpy() makes"));
    }
    device = {memory.dlpack_type, memory.dlpack_id};
  }
  auto given = std::make_unique<GivenTensor>();
  const std::span<const int64_t> shape = value.shape();
  given->shape.assign(shape.begin(), shape.end());
  given->value = std::move(value);
  void* const on_device = given->value.device_data();
  given->managed.tensor = {
      .data = device.type == kCpu ? given->value.mutable_bytes().data() : on_device,
      .device = device,
      .rank = static_cast<int32_t>(given->shape.size()),
      .type = {pair->code, pair->bits, 1},
      .shape = given->shape.data(),
      .strides = nullptr,
      .byte_offset = 0};
  given->managed.manager = given.get();
  given->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<GivenTensor*>(self->manager);
  };
  py::capsule capsule(&given->managed, kCapsuleName, destroy_unused);
  static_cast<void>(given.release());
  return capsule;
}

bool is_uint8_dlpack(const py::object& capsule) {
  const DLDataType type = tensor_of(capsule)->tensor.type;
  return type.code == kUint && type.bits == 8 && type.lanes == 1;
}

namespace {

void release(DLManagedTensor* used) {
  if (used->deleter != nullptr) used->deleter(used);
}

// A tensor in the memory of a device. Its producer has ordered its work before what the default
// queue of the device gets from then on.
Value import_tensor(const py::object& capsule, DLManagedTensor* managed, ElementType type,
                    std::span<const int64_t> shape, uint64_t bytes) {
  const DLTensor& tensor = managed->tensor;
  const MemoryInfo memory = MemoryInfo::of_dlpack(tensor.device.type, tensor.device.id);
  raise_if_failed(Value::wait_for(memory, {.kind = ExternalKind::kQueue}));
  const External from = {.kind = ExternalKind::kPointer,
                         .handle = reinterpret_cast<uintptr_t>(tensor.data),
                         .offset = tensor.byte_offset,
                         .size = bytes};
  // Owns the tensor only once there is a value.
  auto owner = std::make_shared<std::shared_ptr<DLManagedTensor>>();
  Value value = value_of(Value::import(memory, from, type, shape, owner));
  PyCapsule_SetName(capsule.ptr(), kUsedCapsuleName);
  *owner = std::shared_ptr<DLManagedTensor>(managed, release);
  return value;
}

}  // namespace

Value value_of_dlpack(const py::object& capsule, bool is_bool) {
  DLManagedTensor* const managed = tensor_of(capsule);
  const DLTensor& tensor = managed->tensor;
  raise_if_failed(check_tensor(tensor));
  const ElementType type = type_of_tensor(tensor, is_bool);
  const std::span<const int64_t> shape(tensor.shape, static_cast<size_t>(tensor.rank));
  const auto stated = tensor_bytes(type, shape);
  if (!stated) raise_if_failed(refuse("the DLPack tensor has an impossible shape"));
  const uint64_t bytes = *stated;
  auto* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.device.type != kCpu) return import_tensor(capsule, managed, type, shape, bytes);
  // Fails before the capsule is used up.
  value_of(Value::borrow(type, shape, {data, bytes}));
  PyCapsule_SetName(capsule.ptr(), kUsedCapsuleName);
  const std::shared_ptr<const void> owner = std::shared_ptr<DLManagedTensor>(managed, release);
  if (reinterpret_cast<uintptr_t>(data) % (tensor.type.bits / 8) == 0) {
    return value_of(Value::share(type, shape, {data, bytes}, owner));
  }
  Value copy = value_of(Value::allocate(type, shape));
  std::memcpy(copy.mutable_bytes().data(), data, bytes);
  return copy;
}

}  // namespace ephost::python
