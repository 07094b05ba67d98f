#include "host/onnx_io/inference/corrected_inference.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/onnx_io/inference/inference_facts.h"

namespace ephost::onnx_io::infer {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;

void broadcast_all(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  std::vector<const TensorShapeProto*> shapes;
  for (size_t i = 0; i < context.getNumInputs(); ++i) {
    shapes.push_back(input_shape(context, i));
    if (shapes.back() == nullptr) return;
  }
  if (shapes.empty()) return;
  onnx::multidirectionalBroadcastShapeInference(shapes, start_shape(context, 0));
}

void gemm(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* a = input_shape(context, 0);
  const auto* b = input_shape(context, 1);
  if (a == nullptr || b == nullptr) return;
  if (a->dim_size() != 2 || b->dim_size() != 2) fail("A and B must have rank 2");
  const auto transposes = [&](const char* name) {
    const onnx::AttributeProto* found = context.getAttribute(name);
    return found != nullptr && found->i() != 0;
  };
  TensorShapeProto out;
  *out.add_dim() = a->dim(transposes("transA") ? 1 : 0);
  *out.add_dim() = b->dim(transposes("transB") ? 0 : 1);
  start_shape(context, 0) = out;
}

// onnx 1.17 leaves the dimensions of the input out of what it gives.
void one_hot_encoder(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::FLOAT);
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  int categories = 0;
  for (const char* name : {"cats_int64s", "cats_strings"}) {
    const onnx::AttributeProto* found = context.getAttribute(name);
    if (found != nullptr) categories += found->ints_size() + found->strings_size();
  }
  TensorShapeProto& out = start_shape(context, 0);
  out = *shape;
  add_dim(out, categories);
}

void squeeze(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const bool has_input = is_given(context, 1);
  const auto axes = has_input ? integers(context, 1) : attribute(context, "axes");
  if (has_input && !axes) return;
  const int rank = shape->dim_size();
  std::vector<char> is_dropped(static_cast<size_t>(rank), 0);
  for (const int axis : checked_axes(axes, rank)) {
    const std::optional<int64_t> known = extent(*shape, axis);
    if (!axes && !known) return;  // whether it goes depends on the run
    if (axes && known.value_or(1) != 1) fail(formatted("axis {} is not 1", axis));
    is_dropped[static_cast<size_t>(axis)] = axes || *known == 1 ? 1 : 0;
  }
  TensorShapeProto out;
  for (int d = 0; d < rank; ++d) {
    if (is_dropped[static_cast<size_t>(d)] == 0) *out.add_dim() = shape->dim(d);
  }
  start_shape(context, 0) = out;
}

void transpose(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const int rank = shape->dim_size();
  Numbers order = attribute(context, "perm").value_or(Numbers());
  if (order.empty()) {
    for (int d = rank; d-- > 0;) order.push_back(d);
  }
  expect_size(order, static_cast<size_t>(rank), "perm");
  TensorShapeProto out;
  std::vector<char> seen(order.size(), 0);
  for (const int64_t axis : order) {
    if (axis < 0 || axis >= rank || std::exchange(seen[static_cast<size_t>(axis)], 1) != 0) {
      fail("perm is not a permutation of the axes");
    }
    *out.add_dim() = shape->dim(static_cast<int>(axis));
  }
  start_shape(context, 0) = out;
}

void unsqueeze(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  const auto axes = context.getNumInputs() > 1 ? integers(context, 1) : attribute(context, "axes");
  if (shape == nullptr || !axes) return;
  const int rank = shape->dim_size() + static_cast<int>(std::min<size_t>(axes->size(), 4096));
  std::vector<char> is_new(static_cast<size_t>(rank), 0);
  for (const int axis : checked_axes(axes, rank)) {
    if (std::exchange(is_new[static_cast<size_t>(axis)], 1) != 0) {
      fail(formatted("axis {} is given twice", axis));
    }
  }
  TensorShapeProto out;
  int from = 0;
  for (const char is_one : is_new) {
    if (is_one != 0) {
      add_dim(out, 1);
    } else {
      *out.add_dim() = shape->dim(from++);
    }
  }
  start_shape(context, 0) = out;
}

namespace {

// Bounds and steps of Slice: attributes in version 1, inputs from version 10 on. Nothing for a list
// that is not known.
struct SliceLists {
  std::optional<Numbers> starts, ends, axes, steps;
};

SliceLists slice_lists(InferenceContext& context, int rank) {
  const bool has_inputs = context.getNumInputs() > 1;
  const auto list = [&](const char* name, size_t input) {
    return has_inputs ? integers(context, input) : attribute(context, name);
  };
  SliceLists lists = {list("starts", 1), list("ends", 2), list("axes", 3), list("steps", 4)};
  size_t count = lists.starts ? lists.starts->size() : static_cast<size_t>(rank);
  if (!lists.axes && !is_given(context, 3)) {
    if (const auto* starts = lists.starts ? nullptr : input_shape(context, 1)) {
      count = static_cast<size_t>(std::min<int64_t>(extent(*starts, 0).value_or(rank), rank));
    }
    lists.axes.emplace();
    for (size_t i = 0; i < count; ++i) lists.axes->push_back(static_cast<int64_t>(i));
  }
  if (!lists.steps && !is_given(context, 4)) {
    lists.steps = Numbers(lists.axes ? lists.axes->size() : count, 1);
  }
  return lists;
}

// As in Python, negative bounds count from the end, and bounds outside are clamped.
int64_t sliced_extent(int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (step == 0) fail("a step is 0");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? extent : extent - 1;
  const auto place = [&](int64_t bound) {
    return std::clamp(bound < 0 ? bound + extent : bound, low, high);
  };
  const int64_t distance = step > 0 ? place(end) - place(start) : place(start) - place(end);
  if (distance <= 0) return 0;
  const uint64_t stride =
      step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1);
}

}  // namespace

// onnx makes one element of an empty axis that is sliced backwards.
void slice(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const int rank = shape->dim_size();
  const SliceLists lists = slice_lists(context, rank);
  if (!lists.axes) {  // any of them changes
    TensorShapeProto& out = start_shape(context, 0);
    for (int d = 0; d < rank; ++d) out.add_dim();
    return;
  }
  const size_t count = lists.axes->size();
  for (const auto& [list, name] :
       {std::pair(&lists.starts, "starts"), std::pair(&lists.ends, "ends"),
        std::pair(&lists.steps, "steps")}) {
    if (*list) expect_size(**list, count, name);
  }
  const std::vector<int> axes = checked_axes(lists.axes, rank);
  std::vector<std::optional<int64_t>> extents(count);
  for (size_t i = 0; i < count && lists.starts && lists.ends && lists.steps; ++i) {
    const auto before = extent(*shape, axes[i]);
    if (before) {
      extents[i] = sliced_extent((*lists.starts)[i], (*lists.ends)[i], (*lists.steps)[i], *before);
    }
  }
  set_shape_with(context, *shape, axes, extents);
}

void split_to_sequence(InferenceContext& context) {
  const int32_t element = element_type(context, 0);
  if (element == TensorProto::UNDEFINED) return;
  auto& part = *context.getOutputType(0)
                    ->mutable_sequence_type()
                    ->mutable_elem_type()
                    ->mutable_tensor_type();
  part.set_elem_type(element);
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const int rank = shape->dim_size();
  const onnx::AttributeProto* stated = context.getAttribute("axis");
  const int axis = checked_axis(stated == nullptr ? 0 : stated->i(), rank);
  const auto lengths = integers(context, 1);
  const bool drops_axis = !is_given(context, 1) && onnx::getAttribute(context, "keepdims", 1) == 0;
  TensorShapeProto out;
  for (int d = 0; d < rank; ++d) {
    if (d == axis && drops_axis) continue;
    *out.add_dim() = shape->dim(d);
    // Parts differ in length, unless each is one element long.
    if (d != axis) continue;
    out.mutable_dim(d)->Clear();
    if (!is_given(context, 1)) out.mutable_dim(d)->set_dim_value(1);
  }
  *part.mutable_shape() = out;
}

namespace {

// `axis` is nothing if it is not known.
void transform(InferenceContext& context, std::optional<int64_t> stated_axis) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const int rank = shape->dim_size();
  if (rank < 2) fail("input 0 must have rank 2 or more");
  const bool is_onesided = onnx::getAttribute(context, "onesided", 0) != 0;
  // A one-sided inverse transform gives real numbers, of which it is told the first half.
  const bool unfolds = is_onesided && onnx::getAttribute(context, "inverse", 0) != 0;
  TensorShapeProto out = *shape;
  out.mutable_dim(rank - 1)->set_dim_value(unfolds ? 1 : 2);
  if (!stated_axis) {
    for (int d = 0; d + 1 < rank; ++d) out.mutable_dim(d)->Clear();
    start_shape(context, 0) = out;
    return;
  }
  const int axis = checked_axis(*stated_axis, rank);
  if (axis == rank - 1) fail("the last axis holds the complex parts");
  std::optional<int64_t> length = extent(*shape, axis);
  if (length && unfolds) length = checked_mul(*length - 1, int64_t{2});
  if (is_given(context, 1)) {
    const auto known = integers(context, 1);
    length = known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
  }
  if (length && *length < 1) fail(formatted("dft_length is {}", *length));
  if (length && is_onesided && !unfolds) *length = *length / 2 + 1;
  out.mutable_dim(axis)->Clear();
  if (length) out.mutable_dim(axis)->set_dim_value(*length);
  start_shape(context, 0) = out;
}

}  // namespace

void dft_17(InferenceContext& context) {
  const onnx::AttributeProto* axis = context.getAttribute("axis");
  transform(context, axis == nullptr ? 1 : axis->i());
}

void dft_20(InferenceContext& context) {
  if (!is_given(context, 2)) return transform(context, -2);
  const auto axes = integers(context, 2);
  if (axes) expect_size(*axes, 1, "axis");
  transform(context, axes ? std::optional(axes->front()) : std::nullopt);
}

// onnx counts the frames of a one-sided transform as if they were half as long.
void stft(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* signal = input_shape(context, 0);
  if (signal == nullptr) return;
  // Real numbers may come without the last dimension.
  if (signal->dim_size() != 2 && signal->dim_size() != 3) fail("the signal must have rank 2 or 3");
  const auto number = [&](size_t input) -> std::optional<int64_t> {
    const auto known = integers(context, input);
    if (!known || known->size() != 1) return std::nullopt;
    if (known->front() < 1) fail(formatted("input {} is {}", input, known->front()));
    return known->front();
  };
  const auto step = number(1);
  std::optional<int64_t> length = number(3);
  if (!length && !is_given(context, 3)) {
    if (const auto* window = input_shape(context, 2)) length = extent(*window, 0);
  }
  const auto samples = extent(*signal, 1);
  std::optional<int64_t> frames;
  if (samples && step && length) {
    if (*length > *samples) fail("a frame is longer than the signal");
    frames = (*samples - *length) / *step + 1;
  }
  if (length && onnx::getAttribute(context, "onesided", 1) != 0) length = *length / 2 + 1;
  TensorShapeProto& out = start_shape(context, 0);
  *out.add_dim() = signal->dim(0);
  add_dim(out, frames);
  add_dim(out, length);
  add_dim(out, 2);
}

}  // namespace ephost::onnx_io::infer
