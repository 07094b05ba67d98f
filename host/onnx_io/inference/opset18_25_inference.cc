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

// The part of the input along an axis that is resized; nothing if it is not known.
std::optional<float> part_of(InferenceContext& context, size_t i, size_t axes) {
  const std::string mode =
      onnx::getAttribute(context, "coordinate_transformation_mode", std::string());
  if (mode != "tf_crop_and_resize") return 1.0F;
  const TensorProto* region = constant(context, 1);
  if (region == nullptr || region->data_type() != TensorProto::FLOAT) return std::nullopt;
  const std::vector<float> bounds = elements<float>(*region);
  if (bounds.size() != 2 * axes) return std::nullopt;
  return bounds[i + axes] - bounds[i];
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
      const auto part = part_of(context, i, axes.size());
      if (!part) continue;
      const float scaled = std::floor(static_cast<float>(*before) * *part * factors[i]);
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

}  // namespace ephost::onnx_io::infer
