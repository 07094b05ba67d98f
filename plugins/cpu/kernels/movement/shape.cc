// Operators that keep the bytes and change the shape (Reshape, Flatten, Squeeze, Unsqueeze,
// Identity), and those that return the shape (Shape, Size).
#include <algorithm>
#include <cstring>
#include <optional>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

class Identity final : public Kernel {
 public:
  explicit Identity(const NodeContext& context)
      : Kernel(context), is_tensor_(context.holds_tensor(0)) {
    allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if (is_tensor_) {
      copy_reshaped(run, x, 0, dims_of(x));
    } else {
      run.set_output(0, x.kind == EPH_KIND_NONE ? nullptr : &x);
    }
  }

 private:
  bool is_tensor_;
};

class Reshape final : public Kernel {
 public:
  explicit Reshape(const NodeContext& context)
      : Kernel(context), zero_copies_(context.node().get_int("allowzero", 0) == 0) {
    allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    copy_reshaped(run, x, 0, resolve(dims_of(x), read_ints(*run.input(1))));
  }

 private:
  [[nodiscard]] Dims resolve(const Dims& from, const Dims& requested) const {
    if (requested.size() > kMaxRank) fail("the requested shape has too many dimensions");
    Dims to = requested;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] == 0 && zero_copies_) {
        if (i >= from.size()) {
          fail("dimension " + std::to_string(i) + " of shape " + to_string(requested) +
               " is 0, but the input " + to_string(from) + " has no such dimension to copy");
        }
        to[i] = from[i];
      } else if (to[i] == -1 && !open) {
        open = i;
        to[i] = 1;
      } else if (to[i] < 0) {
        fail("shape " + to_string(requested) + " has an extent below -1 or two of -1");
      }
    }
    const int64_t count = element_count(from);
    const int64_t known = element_count(to);
    if (open && known > 0) to[*open] = count / known;
    if (open && known == 0) to[*open] = 0;
    if (element_count(to) != count) {
      fail("shape " + to_string(requested) + " does not hold the " + std::to_string(count) +
           " elements of the input " + to_string(from));
    }
    return to;
  }

  bool zero_copies_;
};

class Flatten final : public Kernel {
 public:
  explicit Flatten(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", 1)) {
    allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const auto rank = static_cast<int64_t>(shape.size());
    // The axis may be the rank itself.
    const std::size_t axis = axis_ == rank ? shape.size() : normalize_axis(axis_, shape.size());
    copy_reshaped(run, x, 0,
                  {element_count(shape, 0, axis), element_count(shape, axis, shape.size())});
  }

 private:
  int64_t axis_;
};

// Axes are an attribute up to version 11 and an optional input from 13 on.
std::optional<Dims> find_axes(const eph::Run& run, const std::optional<Dims>& attribute) {
  if (attribute) return attribute;
  if (run.input(1) == nullptr) return std::nullopt;
  return read_ints(*run.input(1));
}

std::optional<Dims> axes_attribute(const NodeContext& context) {
  if (context.node().attribute("axes") == nullptr) return std::nullopt;
  return Dims(context.node().get_ints("axes"));
}

class Squeeze final : public Kernel {
 public:
  explicit Squeeze(const NodeContext& context) : Kernel(context), axes_(axes_attribute(context)) {
    allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::optional<Dims> axes = find_axes(run, axes_);
    std::array<bool, kMaxRank> dropped = {};
    if (axes) {
      for (const int64_t axis : *axes) dropped[normalize_axis(axis, shape.size())] = true;
    }
    Dims squeezed;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (dropped[i] && shape[i] != 1) {
        fail("axis " + std::to_string(i) + " of shape " + to_string(shape) + " is not 1");
      }
      if (!(axes ? dropped[i] : shape[i] == 1)) squeezed.push_back(shape[i]);
    }
    copy_reshaped(run, x, 0, squeezed);
  }

 private:
  std::optional<Dims> axes_;
};

class Unsqueeze final : public Kernel {
 public:
  explicit Unsqueeze(const NodeContext& context) : Kernel(context), axes_(axes_attribute(context)) {
    allow_alias(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::optional<Dims> axes = find_axes(run, axes_);
    if (!axes) fail("axes are missing");
    const std::size_t rank = shape.size() + axes->size();
    if (rank > kMaxRank) fail_unsupported("the output would have rank " + std::to_string(rank));
    std::array<bool, kMaxRank> added = {};
    for (const int64_t axis : *axes) {
      bool& slot = added[normalize_axis(axis, rank)];
      if (slot) fail("axis " + std::to_string(axis) + " is given twice");
      slot = true;
    }
    Dims expanded;
    for (std::size_t i = 0, next = 0; i < rank; ++i)
      expanded.push_back(added[i] ? 1 : shape[next++]);
    copy_reshaped(run, x, 0, expanded);
  }

 private:
  std::optional<Dims> axes_;
};

class Shape final : public Kernel {
 public:
  explicit Shape(const NodeContext& context)
      : Kernel(context), start_(context.node().get_int("start", 0)) {
    if (context.node().attribute("end") != nullptr) end_ = context.node().get_int("end", 0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    const auto rank = static_cast<int64_t>(shape.size());
    const auto clamp = [rank](int64_t index) {
      return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
    };
    const int64_t begin = clamp(start_);
    const int64_t end = std::max(begin, clamp(end_.value_or(rank)));
    const Dims extents = {end - begin};
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_INT64, extents);
    std::copy(shape.begin() + begin, shape.begin() + end, data<int64_t>(y));
  }

 private:
  int64_t start_;
  std::optional<int64_t> end_;
};

class Size final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const int64_t count = element_count(dims_of(*run.input(0)));
    *data<int64_t>(allocate_output(run, 0, EPH_ELEMENT_INT64, {})) = count;
  }
};

constexpr auto& kOfAny = kInputTypes<kAnyWidth>;
constexpr uint32_t kAllKinds = EPH_RULE_TENSOR | EPH_RULE_SEQUENCE | EPH_RULE_OPTIONAL;
constexpr SlotRule kValue = {kAllKinds, kAnyWidth};
constexpr SlotRule kValueOut = {kAllKinds | EPH_RULE_OUTPUT, kAnyWidth};
constexpr auto& kOfAnyAndShape = kInputTypes<kAnyWidth, kInt64>;

constexpr KernelEntry kShapeKernels[] = {
    {"Identity", 1, 13, {}, kOfAny, &make<Identity>},
    {"Identity", 14, kNewest, {}, kSlotRules<kValue, kValueOut>, &make<Identity>},
    {"Reshape", 5, kNewest, kTwoInputs, kOfAnyAndShape, &make<Reshape>},
    {"Flatten", 1, kNewest, {}, kOfAny, &make<Flatten>},
    {"Squeeze", 1, 11, {}, kOfAny, &make<Squeeze>},
    {"Squeeze", 13, kNewest, {}, kOfAnyAndShape, &make<Squeeze>},
    {"Unsqueeze", 1, 11, {}, kOfAny, &make<Unsqueeze>},
    {"Unsqueeze", 13, kNewest, kTwoInputs, kOfAnyAndShape, &make<Unsqueeze>},
    {"Shape", 1, kNewest, {}, kOfAny, &make<Shape>},
    {"Size", 1, kNewest, {}, kOfAny, &make<Size>},
};

}  // namespace

Table shape_kernels() { return kShapeKernels; }

}  // namespace ephost_cpu
