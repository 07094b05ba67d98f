// constants.h: where the assembler gets constants in the layouts that the primitives want: packed
// from the model's data when a partition is compiled, or found ready in a context binary.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Elements of the recipe's constants in row-major order of their dimensions.
class ConstantPool {
 public:
  // Adds data that stays where it is and must outlive the pool.
  void borrow(TensorId tensor, const float* data);
  // Adds data that a pass has created.
  void own(TensorId tensor, std::vector<float> data);
  // The constant must be in the pool.
  [[nodiscard]] const float* data(TensorId tensor) const { return data_[tensor]; }
  // Renumbers the tensors after those that are not live have been dropped.
  void renumber(const std::vector<bool>& live);

 private:
  std::vector<const float*> data_;  // by tensor
  std::vector<std::unique_ptr<std::vector<float>>> owned_;
};

// One constant in one layout.
struct PackedConstant {
  TensorId tensor = 0;
  std::string layout;          // descriptor_bytes of it
  const void* data = nullptr;  // aligned to kBufferAlignment
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
