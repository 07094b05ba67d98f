// The common part of the kernels of ai.onnx.ml: rows of numbers, labels, and the transforms of
// scores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {

inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
// Element types of feature tensors.
inline constexpr uint64_t kFeatures =
    kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE, EPH_ELEMENT_INT32, EPH_ELEMENT_INT64>;
inline constexpr uint64_t kLabels = kTypeSet<EPH_ELEMENT_STRING, EPH_ELEMENT_INT64>;

// 'text', for messages.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  std::string out(1, '\'');
  out.append(text);
  out += '\'';
  return out;
}

// A tensor of features as rows [N, F]; rank 1 is one row, and higher ranks have the features in all
// dimensions but the first. Reads every type of kFeatures, and float16, as double.
class Features {
 public:
  explicit Features(const eph_value& value);

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t columns() const { return columns_; }
  // One row; valid until the next call.
  [[nodiscard]] const std::vector<double>& row(int64_t index);

 private:
  const eph_value& value_;
  int64_t rows_ = 1;
  int64_t columns_ = 0;
  std::vector<double> row_;
};

// Names of classes: strings or integers, as two attributes of which one must be given.
class ClassLabels {
 public:
  ClassLabels(const NodeContext& context, const char* strings, const char* integers);

  [[nodiscard]] std::size_t size() const { return is_text() ? texts_.size() : numbers_.size(); }
  [[nodiscard]] bool is_text() const { return !texts_.empty(); }
  [[nodiscard]] int32_t element_type() const {
    return is_text() ? EPH_ELEMENT_STRING : EPH_ELEMENT_INT64;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<int64_t>& numbers() const { return numbers_; }
  // Writes label `label` to an element of output 0, which has its memory.
  void write(eph::Run& run, int64_t element, std::size_t label) const;

 private:
  std::vector<std::string> texts_;
  std::vector<int64_t> numbers_;
};

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// The transform of that name. Throws if there is none.
[[nodiscard]] PostTransform post_transform_of(std::string_view name);
// Applies a transform to the scores of one row.
void apply(PostTransform transform, std::vector<double>& scores);

// The index of the largest score, the first of equal ones.
[[nodiscard]] std::size_t index_of_largest(const std::vector<double>& scores);

// The scores of two classes from that of the second one: {1 - s, s} if s is a probability, else
// {-s, s}, transformed.
[[nodiscard]] std::vector<double> two_scores(double score, bool is_probability,
                                             PostTransform transform);

// Gives output `i` the scores of all rows, as float; does nothing if it is not wanted.
class ScoreTable {
 public:
  ScoreTable(eph::Run& run, uint32_t output, int64_t rows, int64_t columns,
             int32_t element_type = EPH_ELEMENT_FLOAT);
  void set(int64_t row, const std::vector<double>& scores);

 private:
  eph_value* value_ = nullptr;
  int64_t columns_ = 0;
};

// The elements of an attribute that is a list of floats or, where `as_tensor` is given instead, a
// tensor of any floating-point type.
[[nodiscard]] std::vector<double> numbers_of(const eph::NodeView& node, const std::string& name);
[[nodiscard]] std::vector<double> numbers_in(const eph_value& tensor);
[[nodiscard]] inline std::vector<int64_t> ints_of(const eph::NodeView& node,
                                                  std::string_view name) {
  return node.get_ints(name).to_vector();
}

}  // namespace ephost_cpu
