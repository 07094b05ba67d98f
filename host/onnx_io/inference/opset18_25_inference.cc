#include "host/onnx_io/inference/opset18_25_inference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/onnx_io/inference/inference_facts.h"

namespace ephost::onnx_io::infer {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;
using Dimension = TensorShapeProto::Dimension;

void like_first(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  if (const auto* shape = input_shape(context, 0)) start_shape(context, 0) = *shape;
}

// onnx's own refuses types that came later.
void cast(InferenceContext& context) {
  set_element_type(context, 0, static_cast<int32_t>(onnx::getAttribute(context, "to", 0)));
  if (const auto* shape = input_shape(context, 0)) start_shape(context, 0) = *shape;
}

void broadcast_binary(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* a = input_shape(context, 0);
  const auto* b = input_shape(context, 1);
  if (a && b) onnx::bidirectionalBroadcastShapeInference(*a, *b, start_shape(context, 0));
}

void pad(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const auto pads = integers(context, 1);
  const auto given_axes = integers(context, 3);
  const bool knows_axes = given_axes || !is_given(context, 3);
  if (!pads || !knows_axes) {
    for (int d = 0; d < shape->dim_size(); ++d) add_dim(start_shape(context, 0), std::nullopt);
    return;
  }
  const std::vector<int> axes = checked_axes(given_axes, shape->dim_size());
  expect_size(*pads, 2 * axes.size(), "pads");
  std::vector<std::optional<int64_t>> extents;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto before = extent(*shape, axes[i]);
    const auto added = checked_add((*pads)[i], (*pads)[i + axes.size()]);
    extents.push_back(before && added ? checked_add(*before, *added) : std::nullopt);
    if (extents.back() && *extents.back() < 0) fail("pads remove more than there is");
  }
  set_shape_with(context, *shape, axes, extents);
}

void split(InferenceContext& context) {
  const auto* shape = input_shape(context, 0);
  const auto outputs = static_cast<int64_t>(context.getNumOutputs());
  for (size_t i = 0; i < context.getNumOutputs(); ++i) {
    set_element_type(context, i, element_type(context, 0));
  }
  if (shape == nullptr) return;
  const int axis = checked_axis(onnx::getAttribute(context, "axis", 0), shape->dim_size());
  const auto total = extent(*shape, axis);
  const auto parts = integers(context, 1);
  const int64_t count = onnx::getAttribute(context, "num_outputs", outputs);
  if (count != outputs) {
    fail(formatted("num_outputs is {}, but there are {}", count, outputs));
  }
  if (parts) expect_size(*parts, context.getNumOutputs(), "split");
  for (int64_t i = 0; i < outputs; ++i) {
    std::optional<int64_t> part;
    if (parts) {
      part = (*parts)[static_cast<size_t>(i)];
      if (*part < 0) fail(formatted("a part has the length {}", *part));
    } else if (total && !is_given(context, 1)) {
      // All parts have the same length except the last, which may be shorter.
      const int64_t length = *total / outputs + (*total % outputs != 0 ? 1 : 0);
      part = std::max<int64_t>(std::min(length, *total - i * length), 0);
    }
    TensorShapeProto changed = *shape;
    Dimension& dim = *changed.mutable_dim(axis);
    dim.Clear();
    if (part) dim.set_dim_value(*part);
    start_shape(context, static_cast<size_t>(i)) = changed;
  }
}

void center_crop_pad(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const std::vector<int> axes = checked_axes(attribute(context, "axes"), shape->dim_size());
  std::vector<std::optional<int64_t>> extents(axes.size());
  if (const auto target = integers(context, 1)) {
    expect_size(*target, axes.size(), "shape");
    for (size_t i = 0; i < axes.size(); ++i) {
      if ((*target)[i] < 0) fail(formatted("an extent is {}", (*target)[i]));
      extents[i] = (*target)[i];
    }
  }
  set_shape_with(context, *shape, axes, extents);
}

namespace {

// Sizes may be a bound that preserves the aspect ratio.
std::vector<std::optional<int64_t>> sizes_of(InferenceContext& context,
                                             const TensorShapeProto& shape,
                                             const std::vector<int>& axes, const Numbers& sizes) {
  std::vector<std::optional<int64_t>> extents(sizes.begin(), sizes.end());
  const std::string policy =
      onnx::getAttribute(context, "keep_aspect_ratio_policy", std::string("stretch"));
  if (policy == "stretch") return extents;
  std::optional<float> scale;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto before = extent(shape, axes[i]);
    if (!before || *before <= 0) {
      return std::vector<std::optional<int64_t>>(axes.size());
    }
    const float ratio = static_cast<float>(sizes[i]) / static_cast<float>(*before);
    const bool takes = !scale || (policy == "not_larger" ? ratio < *scale : ratio > *scale);
    if (takes) scale = ratio;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    // Halves are rounded up.
    const float scaled = *scale * static_cast<float>(*extent(shape, axes[i]));
    if (!(scaled < 1e12F)) {
      extents[i] = std::nullopt;
    } else {
      extents[i] = static_cast<int64_t>(std::floor(scaled + 0.5F));
    }
  }
  return extents;
}

}  // namespace

void resize(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const std::vector<int> axes = checked_axes(attribute(context, "axes"), shape->dim_size());
  std::vector<std::optional<int64_t>> extents(axes.size());
  const TensorProto* scales = constant(context, 2);
  if (const auto sizes = integers(context, 3); sizes && !sizes->empty()) {
    expect_size(*sizes, axes.size(), "sizes");
    for (const int64_t size : *sizes) {
      if (size < 0) fail(formatted("a size is {}", size));
    }
    extents = sizes_of(context, *shape, axes, *sizes);
  } else if (scales != nullptr && scales->data_type() == TensorProto::FLOAT &&
             scales->raw_data().size() == axes.size() * sizeof(float)) {
    const std::vector<float> factors = elements<float>(*scales);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto before = extent(*shape, axes[i]);
      if (!before) continue;
      const float scaled = std::floor(static_cast<float>(*before) * factors[i]);
      if (scaled >= 0 && scaled < 1e12F) extents[i] = static_cast<int64_t>(scaled);
    }
  }
  set_shape_with(context, *shape, axes, extents);
}

void column_to_image(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr || shape->dim_size() != 3) return;
  const auto image = integers(context, 1);
  const auto block = integers(context, 2);
  if (!image || !block) return;
  expect_size(*block, image->size(), "block_shape");
  std::optional<int64_t> channels = extent(*shape, 1);
  for (const int64_t size : *block) {
    if (size < 1) fail(formatted("block_shape has the extent {}", size));
    if (channels) channels = *channels / size;
  }
  TensorShapeProto& out = start_shape(context, 0);
  *out.add_dim() = shape->dim(0);
  add_dim(out, channels);
  for (const int64_t size : *image) {
    if (size < 0) fail(formatted("image_shape has the extent {}", size));
    add_dim(out, size);
  }
}

void optional_get_element(InferenceContext& context) {
  const onnx::TypeProto* type = context.getInputType(0);
  if (type == nullptr) return;
  *context.getOutputType(0) = type->has_optional_type() ? type->optional_type().elem_type() : *type;
}

void optional_has_element(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::BOOL);
  start_shape(context, 0);
}

void quantize(InferenceContext& context) {
  int32_t type = element_type(context, 2);
  if (type == TensorProto::UNDEFINED) {
    type = static_cast<int32_t>(onnx::getAttribute(context, "output_dtype", 0));
  }
  if (type == TensorProto::UNDEFINED && !is_given(context, 2)) type = TensorProto::UINT8;
  set_element_type(context, 0, type);
  if (const auto* shape = input_shape(context, 0)) start_shape(context, 0) = *shape;
}

void dequantize(InferenceContext& context) {
  const auto stated = static_cast<int32_t>(onnx::getAttribute(context, "output_dtype", 0));
  set_element_type(context, 0, stated != 0 ? stated : element_type(context, 1));
  if (const auto* shape = input_shape(context, 0)) start_shape(context, 0) = *shape;
}

void affine_grid(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto size = integers(context, 1);
  if (!size) return;
  if (size->size() != 4 && size->size() != 5) fail("size must have 4 or 5 values");
  TensorShapeProto& out = start_shape(context, 0);
  for (size_t i = 0; i < size->size(); ++i) {
    if ((*size)[i] < 0) fail(formatted("an extent is {}", (*size)[i]));
    if (i != 1) add_dim(out, (*size)[i]);  // without channels
  }
  add_dim(out, static_cast<int64_t>(size->size()) - 2);
}

void dft(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  const int rank = shape->dim_size();
  if (rank < 2) fail("input 0 must have rank 2 or more");
  TensorShapeProto out = *shape;
  out.mutable_dim(rank - 1)->set_dim_value(2);
  const auto axes = integers(context, 2);
  if (!axes && is_given(context, 2)) {  // an unknown axis changes
    for (int d = 0; d + 1 < rank; ++d) out.mutable_dim(d)->Clear();
  } else {
    if (axes) expect_size(*axes, 1, "axis");
    const int axis = checked_axis(axes ? axes->front() : -2, rank);
    if (axis == rank - 1) fail("the last axis holds the complex parts");
    std::optional<int64_t> length = extent(*shape, axis);
    if (is_given(context, 1)) {
      const auto known = integers(context, 1);
      length = known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
    }
    if (length && *length < 1) fail(formatted("dft_length is {}", *length));
    if (length && onnx::getAttribute(context, "onesided", 0) != 0) *length = *length / 2 + 1;
    out.mutable_dim(axis)->Clear();
    if (length) out.mutable_dim(axis)->set_dim_value(*length);
  }
  start_shape(context, 0) = out;
}

void grid_sample(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  const auto* grid = input_shape(context, 1);
  if (shape == nullptr || grid == nullptr) return;
  const int rank = shape->dim_size();
  if (rank < 3 || grid->dim_size() != rank) fail("input and grid must be of one rank above 2");
  TensorShapeProto& out = start_shape(context, 0);
  *out.add_dim() = shape->dim(0);
  *out.add_dim() = shape->dim(1);
  for (int d = 1; d + 1 < rank; ++d) *out.add_dim() = grid->dim(d);
}

void image_decoder(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::UINT8);
  TensorShapeProto& out = start_shape(context, 0);
  for (int d = 0; d < 3; ++d) out.add_dim();
}

void regex_full_match(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::BOOL);
  if (const auto* shape = input_shape(context, 0)) start_shape(context, 0) = *shape;
}

void string_split(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::STRING);
  set_element_type(context, 1, TensorProto::INT64);
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr) return;
  TensorShapeProto parts = *shape;
  parts.add_dim();
  start_shape(context, 0) = parts;
  if (context.getNumOutputs() > 1) start_shape(context, 1) = *shape;
}

namespace {

// The number of heads, the sequence length and the head size of one of the three inputs of
// Attention, which have rank 4 or, with the heads concatenated, rank 3.
struct Heads {
  std::optional<int64_t> count;
  std::optional<int64_t> length;
  std::optional<int64_t> size;
};

Heads heads_of(const TensorShapeProto& shape, int64_t stated_count) {
  if (shape.dim_size() == 4) return {extent(shape, 1), extent(shape, 2), extent(shape, 3)};
  if (stated_count < 1) fail("the number of heads must be stated for inputs of rank 3");
  const auto width = extent(shape, 2);
  return {stated_count, extent(shape, 1),
          width ? std::optional(*width / stated_count) : std::nullopt};
}

void set_heads(InferenceContext& context, size_t output, const Dimension& batch,
               std::optional<int64_t> count, std::optional<int64_t> length,
               std::optional<int64_t> size) {
  if (output >= context.getNumOutputs()) return;
  TensorShapeProto& out = start_shape(context, output);
  *out.add_dim() = batch;
  add_dim(out, count);
  add_dim(out, length);
  add_dim(out, size);
}

}  // namespace

void attention(InferenceContext& context) {
  for (const size_t output : {0, 1, 3}) set_element_type(context, output, element_type(context, 0));
  set_element_type(context, 1, element_type(context, 1));
  set_element_type(context, 2, element_type(context, 2));
  const auto* q = input_shape(context, 0);
  const auto* k = input_shape(context, 1);
  const auto* v = input_shape(context, 2);
  if (!q || !k || !v) return;
  const int rank = q->dim_size();
  if ((rank != 3 && rank != 4) || k->dim_size() != rank || v->dim_size() != rank) {
    fail("Q, K and V must all be of rank 3 or of rank 4");
  }
  const int64_t kv_heads = onnx::getAttribute(context, "kv_num_heads", 0);
  const Heads query = heads_of(*q, onnx::getAttribute(context, "q_num_heads", 0));
  const Heads key = heads_of(*k, kv_heads);
  const Heads value = heads_of(*v, kv_heads);
  if (rank == 4) {
    set_heads(context, 0, q->dim(0), query.count, query.length, value.size);
  } else {
    TensorShapeProto& out = start_shape(context, 0);
    *out.add_dim() = q->dim(0);
    *out.add_dim() = q->dim(1);
    add_dim(out, query.count && value.size ? checked_mul(*query.count, *value.size) : std::nullopt);
  }
  std::optional<int64_t> total = key.length;
  if (is_given(context, 4)) {
    const auto* past = input_shape(context, 4);
    const auto past_length = past ? extent(*past, 2) : std::nullopt;
    total = total && past_length ? checked_add(*total, *past_length) : std::nullopt;
  }
  set_heads(context, 1, q->dim(0), key.count, total, key.size);
  set_heads(context, 2, q->dim(0), value.count, total, value.size);
  set_heads(context, 3, q->dim(0), query.count, query.length, total);
}

void tree_ensemble(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  if (shape == nullptr || shape->dim_size() == 0) return;
  TensorShapeProto& out = start_shape(context, 0);
  if (shape->dim_size() == 1) {
    add_dim(out, 1);
  } else {
    *out.add_dim() = shape->dim(0);
  }
  add_dim(out, std::max<int64_t>(onnx::getAttribute(context, "n_targets", 1), 1));
}

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

namespace {

// How many positions a window has along one axis, without those that begin in the padding at the
// end if the number is rounded up.
std::optional<int64_t> positions(int64_t extent, int64_t begin, int64_t end, int64_t span,
                                 int64_t stride, bool rounds_up) {
  const auto begins_before = checked_add(extent, begin);
  const auto padded = begins_before ? checked_add(*begins_before, end) : std::nullopt;
  if (!padded) return std::nullopt;
  if (*padded < span)
    fail(formatted("a window of {} does not fit into {} elements", span, *padded));
  const int64_t room = *padded - span;
  const int64_t whole = room / stride + 1;
  if (!rounds_up) return whole;
  const int64_t last = room / stride + (room % stride == 0 ? 0 : 1);
  const auto start = checked_mul(last, stride);
  return start && *start < *begins_before ? last + 1 : last;
}

}  // namespace

void pool(InferenceContext& context) {
  const bool has_indices = context.getNumOutputs() > 1;
  set_element_type(context, 0, element_type(context, 0));
  if (has_indices) set_element_type(context, 1, TensorProto::INT64);
  const auto* shape = input_shape(context, 0);
  const auto kernel = attribute(context, "kernel_shape");
  if (shape == nullptr || !kernel) return;
  const int rank = shape->dim_size() - 2;
  if (rank < 1) fail(formatted("the input has {} dimensions", shape->dim_size()));
  const auto axes = static_cast<size_t>(rank);
  const Numbers strides = attribute(context, "strides").value_or(Numbers(axes, 1));
  const Numbers dilations = attribute(context, "dilations").value_or(Numbers(axes, 1));
  const std::string mode = onnx::getAttribute(context, "auto_pad", std::string("NOTSET"));
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Numbers pads = attribute(context, "pads").value_or(Numbers(2 * axes, 0));
  if (mode == "VALID") pads.assign(2 * axes, 0);
  expect_size(*kernel, axes, "kernel_shape");
  expect_size(strides, axes, "strides");
  expect_size(dilations, axes, "dilations");
  expect_size(pads, 2 * axes, "pads");
  const bool rounds_up = onnx::getAttribute(context, "ceil_mode", 0) != 0;
  TensorShapeProto pooled;
  *pooled.add_dim() = shape->dim(0);
  *pooled.add_dim() = shape->dim(1);
  for (size_t i = 0; i < axes; ++i) {
    if ((*kernel)[i] < 1 || strides[i] < 1 || dilations[i] < 1) fail("a window is empty");
    const auto before = extent(*shape, static_cast<int>(i) + 2);
    const auto reach = checked_mul((*kernel)[i] - 1, dilations[i]);
    const auto span = reach ? checked_add(*reach, int64_t{1}) : std::nullopt;
    std::optional<int64_t> after;
    if (before && is_same) after = *before / strides[i] + (*before % strides[i] == 0 ? 0 : 1);
    if (before && span && !is_same) {
      after = positions(*before, pads[i], pads[i + axes], *span, strides[i], rounds_up);
    }
    add_dim(pooled, after);
  }
  start_shape(context, 0) = pooled;
  if (has_indices) start_shape(context, 1) = pooled;
}

}  // namespace ephost::onnx_io::infer
