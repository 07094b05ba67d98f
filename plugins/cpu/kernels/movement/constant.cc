// Constant, ConstantOfShape and Range: tensors made from attributes or a few numbers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/indices.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// Keeps a copy of the attribute.
class Constant final : public Kernel {
 public:
  explicit Constant(const NodeContext& context) : Kernel(context) { keep(context.node()); }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& y = allocate_output(run, 0, type_, shape_);
    for (std::size_t i = 0; i < texts_.size(); ++i) run.set_string(0, i, texts_[i]);
    if (!bytes_.empty()) std::memcpy(y.data, bytes_.data(), bytes_.size());
  }

 private:
  void keep(const eph::NodeView& node) {
    if (const eph_value* value = node.get_tensor("value")) return keep_tensor(*value);
    if (const eph_attribute* sparse = node.attribute("sparse_value")) return keep_sparse(*sparse);
    if (node.attribute("value_int") != nullptr) return keep_number(node.get_int("value_int", 0));
    if (node.attribute("value_float") != nullptr) {
      return keep_number(node.get_float("value_float", 0));
    }
    if (node.attribute("value_ints") != nullptr) return keep_list(node.get_ints("value_ints"));
    if (node.attribute("value_floats") != nullptr)
      return keep_list(node.get_floats("value_floats"));
    if (node.attribute("value_string") != nullptr) {
      texts_.emplace_back(node.get_string("value_string", ""));
    } else if (node.attribute("value_strings") != nullptr) {
      for (const eph_string text : node.get_strings("value_strings")) {
        texts_.emplace_back(eph::view(text));
      }
      shape_.push_back(static_cast<int64_t>(texts_.size()));
    } else {
      fail_unsupported(
          "none of the attributes value, sparse_value, value_int(s), value_float(s), "
          "value_string(s)");
    }
    type_ = EPH_ELEMENT_STRING;
  }
  void keep_tensor(const eph_value& value) {
    type_ = value.element_type;
    shape_ = dims_of(value);
    const int64_t count = element_count(shape_);
    if (type_ == EPH_ELEMENT_STRING) {
      for (int64_t i = 0; i < count; ++i) {
        texts_.emplace_back(eph::view(data<const eph_string>(value)[i]));
      }
      return;
    }
    keep_bytes(value.data, storage_size(type_, count));
  }
  // Keeps the values at their positions, and zeros elsewhere.
  void keep_sparse(const eph_attribute& attribute) {
    if (attribute.kind != EPH_ATTRIBUTE_SPARSE_TENSOR) fail("sparse_value is not a sparse tensor");
    const auto& sparse = *static_cast<const eph_value*>(attribute.values);
    const auto* parts = static_cast<const eph_value*>(sparse.data);
    const eph_value& values = parts[0];
    const eph_value& indices = parts[1];
    type_ = values.element_type;
    shape_ = dims_of(sparse);
    const int64_t size = element_size(type_);
    const int64_t bytes = checked_multiply(element_count(shape_), size);
    const int64_t count = element_count(eph::shape_of(values));
    // An index is a position in the whole tensor, or one for each axis.
    const auto axes = indices.rank == 2 ? shape_.size() : std::size_t{1};
    const bool fits = (indices.rank == 1 || indices.rank == 2) &&
                      indices.element_type == EPH_ELEMENT_INT64 && type_ != EPH_ELEMENT_STRING &&
                      element_count(eph::shape_of(indices)) ==
                          checked_multiply(count, static_cast<int64_t>(axes));
    if (!fits) fail("the indices of sparse_value do not fit its values and shape");
    if (bytes > kMaxDenseBytes) fail_unsupported("sparse_value is larger than 1 GiB when dense");
    bytes_.assign(static_cast<std::size_t>(bytes), 0);
    const Dims extents = indices.rank == 2 ? shape_ : Dims{element_count(shape_)};
    const auto* index = data<const int64_t>(indices);
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      for (std::size_t d = 0; d < axes; ++d) {
        at = at * extents[d] + checked_index(*index++, extents[d]);
      }
      std::memcpy(bytes_.data() + at * size, data<const char>(values) + i * size,
                  static_cast<std::size_t>(size));
    }
  }
  template <class T>
  void keep_number(T number) {
    type_ = eph::element_type_of<T>();
    keep_bytes(&number, sizeof(T));
  }
  template <class T>
  void keep_list(eph::ArrayView<T> list) {
    type_ = eph::element_type_of<T>();
    shape_.push_back(static_cast<int64_t>(list.size()));
    keep_bytes(list.data(), static_cast<int64_t>(list.size() * sizeof(T)));
  }
  void keep_bytes(const void* from, int64_t count) {
    const char* first = static_cast<const char*>(from);
    if (count > 0) bytes_.assign(first, first + count);
  }

  static constexpr int64_t kMaxDenseBytes = int64_t{1} << 30;

  int32_t type_ = EPH_ELEMENT_UNDEFINED;
  Dims shape_;
  std::vector<char> bytes_;
  std::vector<std::string> texts_;
};

class ConstantOfShape final : public Kernel {
 public:
  explicit ConstantOfShape(const NodeContext& context) : Kernel(context) {
    const eph_value* value = context.node().get_tensor("value");
    if (value == nullptr) return;
    if (element_count(eph::shape_of(*value)) != 1) {
      fail("attribute 'value' has shape " + to_string(eph::shape_of(*value)));
    }
    if (((kFixedSize | kPacked) & eph::type_bit(value->element_type)) == 0) {
      fail_unsupported("a value of type " + type_name(value->element_type));
    }
    type_ = value->element_type;
    std::memcpy(element_.data(), value->data, static_cast<std::size_t>(storage_size(type_, 1)));
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = read_ints(*run.input(0));
    if (shape.size() > kMaxRank) fail("the requested shape has too many dimensions");
    for (const int64_t extent : shape) {
      if (extent < 0) fail("shape " + to_string(shape) + " has a negative extent");
    }
    const int64_t count = element_count(shape);
    const eph_value& y = allocate_output(run, 0, type_, shape);
    if (is_packed(type_)) {
      std::memset(y.data, repeat_element(type_, static_cast<uint8_t>(element_[0])),
                  static_cast<std::size_t>(storage_size(type_, count)));
      return;
    }
    dispatch_size(element_size(type_), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T value;
      std::memcpy(&value, element_.data(), sizeof(T));
      std::fill_n(data<T>(y), count, value);
    });
  }

 private:
  int32_t type_ = EPH_ELEMENT_FLOAT;
  std::array<char, 16> element_ = {};
};

class Range final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    for (uint32_t i = 0; i < 3; ++i) {
      if (element_count(eph::shape_of(*run.input(i))) != 1) {
        fail("start, limit and delta must be scalars");
      }
    }
    dispatch<float, double, int16_t, int32_t, int64_t>(
        run.input(0)->element_type, [&](auto tag) { fill<typename decltype(tag)::type>(run); });
  }

 private:
  template <class T>
  static void fill(eph::Run& run) {
    const T start = *run.input_data<T>(0);
    const T delta = *run.input_data<T>(2);
    const int64_t count = length(start, *run.input_data<T>(1), delta);
    T* y = data<T>(allocate_output(run, 0, eph::element_type_of<T>(), {count}));
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        y[i] = start + static_cast<T>(i) * delta;
      } else {
        y[i] = static_cast<T>(static_cast<uint64_t>(start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      }
    }
  }

  template <class T>
  static int64_t length(T start, T limit, T delta) {
    if (delta == T{0}) fail("delta is 0");
    if constexpr (std::is_floating_point_v<T>) {
      const double steps = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                     static_cast<double>(delta));
      if (!(steps < 0x1p62)) fail("the range is infinite or too long");
      return static_cast<int64_t>(std::max(0.0, steps));
    } else {
      if (delta > 0 ? start >= limit : start <= limit) return 0;
      const auto low = static_cast<uint64_t>(delta > 0 ? start : limit);
      const auto high = static_cast<uint64_t>(delta > 0 ? limit : start);
      const auto step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
      const uint64_t steps = (high - low - 1) / step + 1;
      if (steps > INT64_MAX) fail("the range is too long");
      return static_cast<int64_t>(steps);
    }
  }
};

constexpr uint64_t kRange =
    kFloat | kTypeSet<EPH_ELEMENT_INT16, EPH_ELEMENT_INT32, EPH_ELEMENT_INT64>;

constexpr KernelEntry kConstantKernels[] = {
    {"Constant", 1, kNewest, kNoInputs, {}, &make<Constant>},
    {"ConstantOfShape", 9, kNewest, {}, kInputTypes<kInt64>, &make<ConstantOfShape>},
    {"Range", 11, kNewest, kThreeAlike, kInputTypes<kRange, kRange, kRange>, &make<Range>},
};

}  // namespace

Table constant_kernels() { return kConstantKernels; }

}  // namespace ephost_cpu
