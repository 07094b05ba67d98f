// constants.h: sources of constants in the layouts that the primitives want, for the assembler:
// packed from the model's data when a partition is compiled, or found ready in a context binary.
#pragma once

#include <cstdint>
#include <ephost/plugin.hpp>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Integers in the model's memory that stand for floats: (integer - zero_point) * scale.
struct QuantizedConstant {
  const void* integers = nullptr;
  int32_t type = EPH_ELEMENT_UNDEFINED;  // EPH_ELEMENT_*: 8, 16 or 32 bits
  std::size_t count = 0;
  uint64_t byte_size = 0;
  std::vector<float> scales;
  std::vector<int32_t> zero_points;  // as many as scales
  std::size_t run = 0;               // number of consecutive elements with one scale

  [[nodiscard]] int32_t integer(std::size_t i) const;
  [[nodiscard]] std::size_t scale_of(std::size_t i) const { return i / run % scales.size(); }
  [[nodiscard]] std::vector<float> dequantized() const;
};

// Elements of the recipe's constants in row-major order of their dimensions.
class ConstantPool {
 public:
  // Adds data that stays where it is and must outlive the pool: elements of the tensor's type.
  void borrow(TensorId tensor, const void* data);
  // Adds data that a pass has created.
  void own(TensorId tensor, std::vector<float> data);
  void own(TensorId tensor, std::vector<int8_t> data);
  // Adds a constant of floats that become floats when they are needed.
  void add(TensorId tensor, QuantizedConstant constant);

  // These constants must be in the pool. Floats that are quantised are dequantised, and kept.
  [[nodiscard]] const float* data(TensorId tensor) const;
  // The elements, whatever their type; null if they are quantised and no floats were asked for.
  [[nodiscard]] const void* bytes(TensorId tensor) const { return data_[tensor]; }
  // What the floats of a constant are dequantised from; null if they are not.
  [[nodiscard]] const QuantizedConstant* quantized(TensorId tensor) const;

  // Renumbers the tensors after those that are not live have been dropped.
  void renumber(const std::vector<bool>& live);

 private:
  void grow(TensorId tensor);

  mutable std::vector<const void*> data_;                            // by tensor
  std::vector<std::shared_ptr<const QuantizedConstant>> quantized_;  // by tensor
  mutable std::vector<std::shared_ptr<const void>> owned_;
};

// One constant in one layout.
struct PackedConstant {
  TensorId tensor = 0;
  std::string layout;          // descriptor_bytes of it
  const void* data = nullptr;  // aligned to kBufferAlignment, or where the model has it
  uint64_t size = 0;
  std::shared_ptr<const void> owner;  // null where `data` belongs to a context binary
  // The request that it answers: the layout of the row-major elements, and the layout of `data`.
  Descriptor stored, wanted;
};

class ConstantSource {
 public:
  virtual ~ConstantSource() = default;
  // Constant `tensor` in the layout `wanted`. `stored` describes its row-major elements in the form
  // of `wanted`: a reshaped or transposed view. The order of the assembler's requests depends on
  // the recipe and the library's choices alone.
  virtual PackedConstant get(TensorId tensor, const Descriptor& stored,
                             const Descriptor& wanted) = 0;
};

// Called with data of the model that has been packed and is unlikely to be read again.
using ReleaseFunction = std::function<void(const void* data, uint64_t size)>;

// Converts the model's data with the library's reorders.
class PackingSource : public ConstantSource {
 public:
  PackingSource(const ConstantPool& pool, const dnnl::engine& engine, ReleaseFunction release)
      : pool_(pool), engine_(engine), release_(std::move(release)) {}
  PackedConstant get(TensorId tensor, const Descriptor& stored, const Descriptor& wanted) override;

 private:
  const ConstantPool& pool_;
  const dnnl::engine& engine_;
  ReleaseFunction release_;
};

// Leaves constants where they are: in the model's memory, which must outlive what reads them, or in
// the pool, which what it returns keeps alive. They must be requested in the layout that they have.
class BorrowingSource : public ConstantSource {
 public:
  explicit BorrowingSource(ConstantPool pool)
      : pool_(std::make_shared<const ConstantPool>(std::move(pool))) {}
  PackedConstant get(TensorId tensor, const Descriptor& stored, const Descriptor& wanted) override;

 private:
  std::shared_ptr<const ConstantPool> pool_;
};

// The layouts in a context binary are not those that the library chooses now.
class LayoutMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns constants that were packed before, in the same order. Throws LayoutMismatch if the
// assembler requests anything else.
class RestoringSource : public ConstantSource {
 public:
  explicit RestoringSource(const std::vector<PackedConstant>& constants) : constants_(constants) {}
  PackedConstant get(TensorId tensor, const Descriptor& stored, const Descriptor& wanted) override;
  // Throws LayoutMismatch unless all have been requested.
  void finish() const;

 private:
  const std::vector<PackedConstant>& constants_;
  std::size_t next_ = 0;
};

// Converts constants that were packed before to the layouts that other primitives need. The
// constants are borrowed; those that already have the right layout are shared.
class RepackingSource : public ConstantSource {
 public:
  RepackingSource(const std::vector<PackedConstant>& constants, const dnnl::engine& engine)
      : constants_(constants), engine_(engine) {}
  // Throws LayoutMismatch for a tensor that is not among them.
  PackedConstant get(TensorId tensor, const Descriptor& stored, const Descriptor& wanted) override;

 private:
  const std::vector<PackedConstant>& constants_;
  const dnnl::engine& engine_;
};

}  // namespace ephost_dnnl
