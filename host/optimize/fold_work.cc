#include "host/optimize/fold_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace ephost::optimize {
namespace {

using graph::kNoValue;
using graph::Tensor;

// Products of untrusted extents cannot overflow as floating-point numbers.
double touched(const Tensor& tensor) {
  constexpr double kString = 16;
  if (tensor.strings) {
    double work = kString * static_cast<double>(tensor.strings->size());
    for (const std::string& element : *tensor.strings) work += static_cast<double>(element.size());
    return work;
  }
  return static_cast<double>(graph::element_count(tensor.shape).value_or(UINT64_MAX));
}

uint64_t to_work(double work) {
  constexpr double kMax = 1e18;
  return work < kMax ? static_cast<uint64_t>(work) : UINT64_MAX;
}

// A node, with the properties that the rules need.
class Operands {
 public:
  Operands(const graph::Graph& graph, const graph::Node& node) : graph_(graph), node_(node) {
    for (const graph::ValueId id : node.inputs) {
      if (id != kNoValue) inputs_ += touched(*graph.constant(id));
    }
    for (const graph::ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const graph::ValueType& type = graph.values[id].type;
      const bool is_known = type.shape && graph::is_static(*type.shape);
      is_output_known_ = is_output_known_ && is_known;
      if (!is_known) continue;
      outputs_ += static_cast<double>(graph::element_count(*type.shape).value_or(UINT64_MAX));
    }
  }

  // The number of elements of all inputs, and of all outputs of known size.
  [[nodiscard]] double inputs() const { return inputs_; }
  [[nodiscard]] double outputs() const { return outputs_; }
  [[nodiscard]] bool is_output_known() const { return is_output_known_; }

  // 0 for an omitted input.
  [[nodiscard]] double elements(size_t input) const {
    const Tensor* tensor = constant(input);
    return tensor == nullptr ? 0 : touched(*tensor);
  }
  // Negative axes count from the end; 1 for an axis that does not exist.
  [[nodiscard]] double extent(size_t input, int axis) const {
    const Tensor* tensor = constant(input);
    if (tensor == nullptr) return 1;
    const auto rank = static_cast<int>(tensor->shape.size());
    const int at = axis < 0 ? axis + rank : axis;
    return at < 0 || at >= rank ? 1 : std::max(1.0, static_cast<double>(tensor->shape[at]));
  }
  // The spatial dimensions, after batch and channels.
  [[nodiscard]] double spatial(size_t input) const {
    return elements(input) / (extent(input, 0) * extent(input, 1));
  }
  [[nodiscard]] double number(std::string_view attribute, int64_t fallback) const {
    return static_cast<double>(node_.integer(attribute).value_or(fallback));
  }
  template <class List>
  [[nodiscard]] const List* list(std::string_view attribute) const {
    const graph::AttributeValue* value = node_.attribute(attribute);
    return value == nullptr ? nullptr : std::get_if<List>(value);
  }
  [[nodiscard]] size_t input_count() const { return node_.inputs.size(); }

 private:
  [[nodiscard]] const Tensor* constant(size_t input) const {
    const bool is_there = input < node_.inputs.size() && node_.inputs[input] != kNoValue;
    return is_there ? graph_.constant(node_.inputs[input]) : nullptr;
  }

  const graph::Graph& graph_;
  const graph::Node& node_;
  double inputs_ = 0;
  double outputs_ = 0;
  bool is_output_known_ = true;
};

double product(const Operands& node) { return node.outputs() * node.extent(0, -1); }
double gemm(const Operands& node) {
  return node.outputs() * node.extent(0, node.number("transA", 0) != 0 ? 0 : 1);
}
template <size_t kFilter>
double convolution(const Operands& node) {
  return node.outputs() * node.elements(kFilter) / node.extent(kFilter, 0);
}
double transposed_convolution(const Operands& node) {
  return node.elements(0) * node.elements(1) / node.extent(1, 0);
}
// Assumes that no two operands have a label in common.
double einsum(const Operands& node) {
  double work = 1;
  for (size_t i = 0; i < node.input_count(); ++i) work *= std::max(1.0, node.elements(i));
  return work;
}
double recurrent(const Operands& node) {
  return node.elements(0) / node.extent(0, -1) * (node.elements(1) + node.elements(2));
}
double pool(const Operands& node) {
  double window = 1;
  if (const auto* kernel = node.list<std::vector<int64_t>>("kernel_shape")) {
    for (const int64_t extent : *kernel) window *= std::max(1.0, static_cast<double>(extent));
  }
  return node.outputs() * window;
}
double region_pool(const Operands& node) { return node.outputs() * node.spatial(0); }
double normalize_channels(const Operands& node) { return node.outputs() * node.number("size", 1); }
double determinant(const Operands& node) { return node.inputs() * node.extent(0, -1); }
double transform(const Operands& node) {
  constexpr double kStages = 128;
  return kStages * (node.inputs() + node.outputs());
}
double suppress(const Operands& node) { return node.elements(1) * node.extent(1, -1); }
double resize(const Operands& node) {
  constexpr double kTaps = 64;
  const bool is_antialiased = node.number("antialias", 0) != 0;
  return node.outputs() * (kTaps + (is_antialiased ? node.spatial(0) : 0));
}
double sample(const Operands& node) { return node.outputs() * 64; }
double sort(const Operands& node) { return 8 * node.inputs() * std::log2(node.inputs() + 2); }
double attend(const Operands& node) { return 2 * node.outputs() * node.extent(1, -2); }
double count_ngrams(const Operands& node) {
  const double skips = std::clamp(node.number("max_skip_count", 0), 0.0, node.extent(0, -1));
  return node.inputs() * (skips + 1) * std::max(1.0, node.number("max_gram_length", 1));
}
double normalize_strings(const Operands& node) {
  const auto* words = node.list<std::vector<std::string>>("stopwords");
  return node.inputs() * (words == nullptr ? 1.0 : static_cast<double>(words->size()) + 1);
}

struct WorkRule {
  std::string_view op_type;
  double (*work)(const Operands&);
  bool needs_outputs = true;  // whether the output sizes must be known
};

// Operators that do more than access each element a few times.
constexpr std::array kRules = {
    WorkRule{"Attention", &attend},
    WorkRule{"AveragePool", &pool},
    WorkRule{"Conv", &convolution<1>},
    WorkRule{"ConvInteger", &convolution<1>},
    WorkRule{"ConvTranspose", &transposed_convolution, false},
    WorkRule{"DFT", &transform},
    WorkRule{"DeformConv", &convolution<1>},
    WorkRule{"Det", &determinant, false},
    WorkRule{"Einsum", &einsum, false},
    WorkRule{"GRU", &recurrent, false},
    WorkRule{"Gemm", &gemm},
    WorkRule{"GridSample", &sample},
    WorkRule{"LRN", &normalize_channels},
    WorkRule{"LSTM", &recurrent, false},
    WorkRule{"LpPool", &pool},
    WorkRule{"MatMul", &product},
    WorkRule{"MatMulInteger", &product},
    WorkRule{"MaxPool", &pool},
    WorkRule{"MaxRoiPool", &region_pool},
    WorkRule{"NonMaxSuppression", &suppress, false},
    WorkRule{"QLinearConv", &convolution<3>},
    WorkRule{"QLinearMatMul", &product},
    WorkRule{"RNN", &recurrent, false},
    WorkRule{"Resize", &resize},
    WorkRule{"RoiAlign", &region_pool},
    WorkRule{"STFT", &transform},
    WorkRule{"StringNormalizer", &normalize_strings, false},
    WorkRule{"TfIdfVectorizer", &count_ngrams, false},
    WorkRule{"TopK", &sort, false},
    WorkRule{"Unique", &sort, false},
    WorkRule{"Upsample", &resize},
};

}  // namespace

uint64_t access_work(const Tensor& tensor) { return to_work(touched(tensor)); }

std::optional<uint64_t> evaluation_work(const graph::Graph& graph, const graph::Node& node) {
  const Operands operands(graph, node);
  double work = static_cast<double>(kEvaluationWork) + operands.inputs() + operands.outputs();
  const auto* rule = std::find_if(kRules.begin(), kRules.end(), [&](const WorkRule& candidate) {
    return candidate.op_type == node.op_type;
  });
  if (rule != kRules.end()) {
    if (rule->needs_outputs && !operands.is_output_known()) return std::nullopt;
    work += rule->work(operands);
  }
  return to_work(work);
}

}  // namespace ephost::optimize
