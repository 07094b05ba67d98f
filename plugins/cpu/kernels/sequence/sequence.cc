// Sequences of tensors: SequenceEmpty, SequenceConstruct, SequenceAt, SequenceInsert,
// SequenceErase, SequenceLength, SplitToSequence, ConcatFromSequence. The host assembles sequences
// and shares their elements, so that only tensors that enter or leave one are copied.
#include <cstring>
#include <vector>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// A position counted from the front. `end`: whether the position after the last element is valid.
uint64_t resolve_position(const eph_value& given, std::size_t size, bool end) {
  const int64_t position = read_int(given);
  const auto count = static_cast<int64_t>(size);
  if (position < -count || position > count - (end ? 0 : 1)) {
    fail("position " + std::to_string(position) + " is not in a sequence of " +
         std::to_string(count) + " elements");
  }
  return static_cast<uint64_t>(position < 0 ? position + count : position);
}

class SequenceEmpty final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override { run.set_output(0, &run.make_sequence({})); }
};

class SequenceConstruct final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    std::vector<const eph_value*> elements;
    for (uint32_t i = 0; i < run.input_count(); ++i) {
      if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
      elements.push_back(run.input(i));
    }
    run.set_output(0, &run.make_sequence(elements));
  }
};

class SequenceAt final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const auto elements = eph::parts_of(*run.input(0));
    run.set_output(0, &elements[resolve_position(*run.input(1), elements.size(), false)]);
  }
};

class SequenceInsert final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const std::size_t size = eph::parts_of(*run.input(0)).size();
    const uint64_t position =
        run.input(2) == nullptr ? size : resolve_position(*run.input(2), size, true);
    const std::vector<const eph_value*> inserted = {run.input(1)};
    run.set_output(0, &run.splice(run.input(0), position, 0, inserted));
  }
};

class SequenceErase final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const std::size_t size = eph::parts_of(*run.input(0)).size();
    if (size == 0) fail("an empty sequence has nothing to erase");
    const uint64_t position =
        run.input(1) == nullptr ? size - 1 : resolve_position(*run.input(1), size, false);
    run.set_output(0, &run.splice(run.input(0), position, 1, {}));
  }
};

class SequenceLength final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const auto count = static_cast<int64_t>(eph::parts_of(*run.input(0)).size());
    *data<int64_t>(allocate_output(run, 0, EPH_ELEMENT_INT64, {})) = count;
  }
};

// ---- Between tensors and sequences ------------------------------------------------------------

// A tensor as `outer` blocks: the dimensions before an axis, and those from it on.
struct Blocks {
  int64_t outer = 1;
  int64_t elements = 1;  // of one block
};

Blocks blocks_of(const Dims& shape, std::size_t axis) {
  return {element_count(shape, 0, axis), element_count(shape, axis, shape.size())};
}

class SplitToSequence final : public Kernel {
 public:
  explicit SplitToSequence(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", 0)),
        keeps_axis_(context.node().get_int("keepdims", 1) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    const bool drops_axis = run.input(1) == nullptr && !keeps_axis_;
    const Blocks whole = blocks_of(shape, axis);
    std::vector<const eph_value*> parts;
    int64_t offset = 0;  // along the axis
    for (const int64_t size : sizes(run.input(1), shape[axis])) {
      Dims part_shape = shape;
      part_shape[axis] = size;
      const Blocks part = blocks_of(part_shape, axis);
      if (drops_axis) part_shape.erase(axis);
      eph_value& to = run.make_tensor(part_shape, x.element_type);
      const int64_t step = shape[axis] == 0 ? 0 : whole.elements / shape[axis];
      for (int64_t row = 0; row < whole.outer; ++row) {
        copy(run, x, row * whole.elements + offset * step, to, row * part.elements, part.elements);
      }
      offset += size;
      parts.push_back(&to);
    }
    run.set_output(0, &run.make_sequence(parts));
  }

 private:
  // A scalar is the size of all parts but the last; without sizes each part has an extent of 1.
  static std::vector<int64_t> sizes(const eph_value* given, int64_t extent) {
    if (given != nullptr && given->rank != 0) return listed_sizes(*given, extent);
    const int64_t size = given == nullptr ? 1 : read_int(*given);
    if (size < 1) fail("a split of " + std::to_string(size) + " is not possible");
    std::vector<int64_t> equal(static_cast<std::size_t>(extent / size), size);
    if (extent % size != 0) equal.push_back(extent % size);
    return equal;
  }

  static std::vector<int64_t> listed_sizes(const eph_value& given, int64_t extent) {
    if (given.rank != 1) fail("input 'split' does not have rank 0 or 1");
    std::vector<int64_t> listed;
    dispatch<int64_t, int32_t>(given.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto* sizes = data<const T>(given);
      listed.assign(sizes, sizes + given.shape[0]);
    });
    int64_t sum = 0;
    for (const int64_t size : listed) {
      if (size < 0) fail("a split of " + std::to_string(size) + " is not possible");
      sum = checked_add(sum, size);
    }
    if (sum != extent) {
      fail("splits that add up to " + std::to_string(sum) + " do not split an extent of " +
           std::to_string(extent));
    }
    return listed;
  }

  static void copy(eph::Run& run, const eph_value& from, int64_t from_offset, eph_value& to,
                   int64_t to_offset, int64_t count) {
    if (count == 0) return;
    if (from.element_type == EPH_ELEMENT_STRING) {
      for (int64_t i = 0; i < count; ++i) {
        run.set_element(to, static_cast<uint64_t>(to_offset + i),
                        eph::view(data<const eph_string>(from)[from_offset + i]));
      }
      return;
    }
    const int64_t bytes = element_size(from.element_type);
    std::memcpy(data<char>(to) + to_offset * bytes, data<const char>(from) + from_offset * bytes,
                static_cast<std::size_t>(count * bytes));
  }

  int64_t axis_;
  bool keeps_axis_;
};

class ConcatFromSequence final : public Kernel {
 public:
  explicit ConcatFromSequence(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", 0)),
        adds_axis_(context.node().get_int("new_axis", 0) == 1) {
    if (context.node().attribute("axis") == nullptr) fail("attribute 'axis' is missing");
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const auto parts = eph::parts_of(*run.input(0));
    if (parts.empty()) fail("an empty sequence cannot be concatenated");
    Dims out = dims_of(parts[0]);
    const std::size_t axis = normalize_axis(axis_, out.size() + (adds_axis_ ? 1 : 0));
    if (adds_axis_) out.insert(axis, 1);
    const Dims first = out;
    for (std::size_t i = 1; i < parts.size(); ++i) add(parts[i], first, axis, out);
    const eph_value& y = allocate_output(run, 0, parts[0].element_type, out);
    const Blocks whole = blocks_of(out, axis);
    int64_t offset = 0;
    for (const eph_value& part : parts) {
      const int64_t elements = whole.outer == 0 ? 0 : element_count(dims_of(part)) / whole.outer;
      for (int64_t row = 0; row < whole.outer; ++row) {
        copy(run, part, row * elements, y, row * whole.elements + offset, elements);
      }
      offset += elements;
    }
  }

 private:
  void add(const eph_value& part, const Dims& first, std::size_t axis, Dims& out) const {
    Dims shape = dims_of(part);
    if (adds_axis_ && shape.size() + 1 == first.size()) shape.insert(axis, 1);
    bool fits = shape.size() == first.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) {
      fits = (d == axis && !adds_axis_) || shape[d] == first[d];
    }
    if (!fits) {
      fail("a tensor of shape " + to_string(dims_of(part)) + " cannot be concatenated with " +
           to_string(first) + " along axis " + std::to_string(axis));
    }
    out[axis] = checked_add(out[axis], shape[axis]);
  }

  static void copy(eph::Run& run, const eph_value& from, int64_t from_offset, const eph_value& to,
                   int64_t to_offset, int64_t count) {
    if (count == 0) return;
    if (from.element_type == EPH_ELEMENT_STRING) {
      for (int64_t i = 0; i < count; ++i) {
        run.set_string(0, static_cast<uint64_t>(to_offset + i),
                       eph::view(data<const eph_string>(from)[from_offset + i]));
      }
      return;
    }
    const int64_t bytes = element_size(from.element_type);
    std::memcpy(data<char>(to) + to_offset * bytes, data<const char>(from) + from_offset * bytes,
                static_cast<std::size_t>(count * bytes));
  }

  int64_t axis_;
  bool adds_axis_;
};

constexpr SlotRule kSequence = {EPH_RULE_SEQUENCE, kAny};
constexpr SlotRule kSequenceOut = {EPH_RULE_SEQUENCE | EPH_RULE_OUTPUT, kAny};
constexpr SlotRule kTensor = {0, kAny};
constexpr SlotRule kTensors = {EPH_RULE_VARIADIC, kAny};
constexpr SlotRule kPosition = {0, kIndices};

constexpr KernelEntry kSequenceKernels[] = {
    {"SequenceEmpty", 11, 11, kNoInputs, kSlotRules<kSequenceOut>, &make<SequenceEmpty>},
    {"SequenceConstruct", 11, 11, {}, kSlotRules<kTensors, kSequenceOut>, &make<SequenceConstruct>},
    {"SequenceAt", 11, 11, kTwoInputs, kSlotRules<kSequence, kPosition>, &make<SequenceAt>},
    {"SequenceInsert", 11, 11, kTwoInputs, kSlotRules<kSequence, kTensor, kPosition, kSequenceOut>,
     &make<SequenceInsert>},
    {"SequenceErase",
     11,
     11,
     {},
     kSlotRules<kSequence, kPosition, kSequenceOut>,
     &make<SequenceErase>},
    {"SequenceLength", 11, 11, {}, kSlotRules<kSequence>, &make<SequenceLength>},
    {"SplitToSequence",
     11,
     24,
     {},
     kSlotRules<kTensor, kPosition, kSequenceOut>,
     &make<SplitToSequence>},
    {"ConcatFromSequence", 11, 11, {}, kSlotRules<kSequence>, &make<ConcatFromSequence>},
};

}  // namespace

Table sequence_kernels() { return kSequenceKernels; }

}  // namespace ephost_cpu
