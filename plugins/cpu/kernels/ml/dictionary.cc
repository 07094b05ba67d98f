// Maps of ai.onnx.ml: CastMap and DictVectorizer read one, ZipMap makes a sequence of them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <unordered_map>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {
namespace {

// Keys and values of a map whose values are one tensor, or a sequence of tensors with one element.
class MapView {
 public:
  explicit MapView(const eph_value& map) : keys_(eph::parts_of(map)[0]) {
    const eph_value& values = eph::parts_of(map)[1];
    count_ = static_cast<std::size_t>(keys_.shape[0]);
    if (values.kind == EPH_KIND_TENSOR) {
      tensor_ = &values;
      type_ = values.element_type;
      return;
    }
    parts_ = eph::parts_of(values);
    for (const eph_value& part : parts_) {
      if (part.kind != EPH_KIND_TENSOR || element_count(eph::shape_of(part)) != 1) {
        fail("the map has a value that is not a single number or string");
      }
      type_ = part.element_type;
    }
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const eph_value& keys() const { return keys_; }
  // EPH_ELEMENT_UNDEFINED for an empty map.
  [[nodiscard]] int32_t value_type() const { return type_; }
  template <class T>
  [[nodiscard]] T value(std::size_t i) const {
    return tensor_ != nullptr ? data<const T>(*tensor_)[i] : *data<const T>(parts_[i]);
  }

 private:
  const eph_value& keys_;
  const eph_value* tensor_ = nullptr;
  eph::ArrayView<eph_value> parts_;
  std::size_t count_ = 0;
  int32_t type_ = EPH_ELEMENT_UNDEFINED;
};

// One of the cast operators' types, with the conversions between them.
struct Cell {
  double number = 0;
  std::string text;
};

float parse_float(const std::string& text) {
  float number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    fail(quoted(text) + " is not a number");
  }
  return number;
}

int64_t parse_int(const std::string& text) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    fail(quoted(text) + " is not an integer");
  }
  return number;
}

std::string print_float(float number) {
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%g", static_cast<double>(number));
  return {text, static_cast<std::size_t>(size)};
}

class CastMap final : public Kernel {
 public:
  explicit CastMap(const NodeContext& context)
      : Kernel(context), max_map_(context.node().get_int("max_map", 1)) {
    const std::string_view form = context.node().get_string("map_form", "DENSE");
    if (form != "DENSE" && form != "SPARSE") fail(quoted(form) + " is not a map_form");
    is_sparse_ = form == "SPARSE";
    const std::string_view target = context.node().get_string("cast_to", "TO_FLOAT");
    if (target == "TO_FLOAT") {
      type_ = EPH_ELEMENT_FLOAT;
    } else if (target == "TO_STRING") {
      type_ = EPH_ELEMENT_STRING;
    } else if (target == "TO_INT64") {
      type_ = EPH_ELEMENT_INT64;
    } else {
      fail(quoted(target) + " is not a cast target");
    }
  }

 protected:
  // Writes values in the order of their keys; in the sparse form each at the index that is its key.
  void run(eph::Run& run, eph::State*) override {
    const MapView map(*run.input(0));
    const auto keys = eph::elements<int64_t>(map.keys());
    std::vector<std::size_t> order(map.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    const auto count = static_cast<int64_t>(map.size());
    const int64_t width = is_sparse_ ? max_map_ : count;
    if (width < 0) fail("attribute 'max_map' is negative");
    const Dims shape = {1, width};
    const eph_value& y = allocate_output(run, 0, type_, shape);
    if (type_ == EPH_ELEMENT_FLOAT) std::fill_n(data<float>(y), width, 0.0F);
    if (type_ == EPH_ELEMENT_INT64) std::fill_n(data<int64_t>(y), width, int64_t{0});
    if (type_ == EPH_ELEMENT_STRING) {
      for (int64_t i = 0; i < width; ++i) run.set_string(0, static_cast<uint64_t>(i), "");
    }
    int64_t next = 0;
    for (const std::size_t i : order) {
      const int64_t place = is_sparse_ ? keys[i] : next++;
      if (place < 0 || place >= width) {
        fail("key " + std::to_string(place) + " is outside of 0.." + std::to_string(width - 1));
      }
      store(run, y, place, map, i);
    }
  }

 private:
  void store(eph::Run& run, const eph_value& y, int64_t place, const MapView& map,
             std::size_t i) const {
    const bool is_text = map.value_type() == EPH_ELEMENT_STRING;
    if (!is_text && map.value_type() != EPH_ELEMENT_FLOAT) {
      fail_unsupported("a map to " + type_name(map.value_type()));
    }
    const std::string text = is_text ? std::string(eph::view(map.value<eph_string>(i))) : "";
    const float number = is_text ? 0 : map.value<float>(i);
    if (type_ == EPH_ELEMENT_STRING) {
      run.set_string(0, static_cast<uint64_t>(place), is_text ? text : print_float(number));
    } else if (type_ == EPH_ELEMENT_FLOAT) {
      data<float>(y)[place] = is_text ? parse_float(text) : number;
    } else if (is_text) {
      data<int64_t>(y)[place] = parse_int(text);
    } else {
      if (!(number > -0x1p63F && number < 0x1p63F)) fail("a value does not fit into int64");
      data<int64_t>(y)[place] = static_cast<int64_t>(number);
    }
  }

  bool is_sparse_ = false;
  int32_t type_ = EPH_ELEMENT_FLOAT;
  int64_t max_map_;
};

class DictVectorizer final : public Kernel {
 public:
  explicit DictVectorizer(const NodeContext& context)
      : Kernel(context), vocabulary_(context, "string_vocabulary", "int64_vocabulary") {
    for (std::size_t i = 0; i < vocabulary_.size(); ++i) {
      if (vocabulary_.is_text()) {
        texts_.emplace(vocabulary_.texts()[i], i);
      } else {
        numbers_.emplace(vocabulary_.numbers()[i], i);
      }
    }
  }

 protected:
  // Keys that are not in the vocabulary are left out.
  void run(eph::Run& run, eph::State*) override {
    const MapView map(*run.input(0));
    if (map.size() != 0 && map.keys().element_type != vocabulary_.element_type()) {
      fail("the keys are " + type_name(map.keys().element_type) + ", and the vocabulary is " +
           type_name(vocabulary_.element_type()));
    }
    const auto width = static_cast<int64_t>(vocabulary_.size());
    int32_t type = map.value_type();
    if (type == EPH_ELEMENT_UNDEFINED) type = run.output(0)->element_type;
    if (type == EPH_ELEMENT_UNDEFINED) type = EPH_ELEMENT_FLOAT;
    const Dims shape = {1, width};
    const eph_value& y = allocate_output(run, 0, type, shape);
    if (y.element_type == EPH_ELEMENT_STRING) {
      for (int64_t i = 0; i < width; ++i) run.set_string(0, static_cast<uint64_t>(i), "");
      for (std::size_t i = 0; i < map.size(); ++i) {
        const std::size_t place = place_of(map.keys(), i);
        if (place < vocabulary_.size()) {
          run.set_string(0, place, eph::view(map.value<eph_string>(i)));
        }
      }
      return;
    }
    dispatch<float, double, int64_t>(y.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(data<T>(y), width, T{0});
      for (std::size_t i = 0; i < map.size(); ++i) {
        const std::size_t place = place_of(map.keys(), i);
        if (place < vocabulary_.size()) data<T>(y)[place] = map.value<T>(i);
      }
    });
  }

 private:
  // The size of the vocabulary if the key is unknown.
  [[nodiscard]] std::size_t place_of(const eph_value& keys, std::size_t i) const {
    if (vocabulary_.is_text()) {
      const auto found = texts_.find(std::string(eph::view(data<const eph_string>(keys)[i])));
      return found == texts_.end() ? vocabulary_.size() : found->second;
    }
    const auto found = numbers_.find(data<const int64_t>(keys)[i]);
    return found == numbers_.end() ? vocabulary_.size() : found->second;
  }

  ClassLabels vocabulary_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::unordered_map<int64_t, std::size_t> numbers_;
};

// Makes one map for each row; all of them share their keys.
class ZipMap final : public Kernel {
 public:
  explicit ZipMap(const NodeContext& context)
      : Kernel(context), labels_(context, "classlabels_strings", "classlabels_int64s") {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.empty() || shape.size() > 2) {
      fail("the input " + to_string(shape) + " is neither a row nor rows");
    }
    const auto width = static_cast<int64_t>(labels_.size());
    if (shape.back() != width) {
      fail("the input " + to_string(shape) + " does not have one column for each of the " +
           std::to_string(width) + " labels");
    }
    eph_value& keys = run.make_tensor(Dims{width}, labels_.element_type());
    for (int64_t i = 0; i < width; ++i) {
      const auto label = static_cast<std::size_t>(i);
      if (labels_.is_text()) {
        run.set_element(keys, label, labels_.texts()[label]);
      } else {
        data<int64_t>(keys)[i] = labels_.numbers()[label];
      }
    }
    std::vector<const eph_value*> maps;
    const int64_t rows = shape.size() == 2 ? shape[0] : 1;
    for (int64_t row = 0; row < rows; ++row) {
      eph_value& values = run.make_tensor(Dims{width}, EPH_ELEMENT_FLOAT);
      std::copy_n(data<const float>(x) + row * width, width, data<float>(values));
      maps.push_back(&run.make_map(keys, values));
    }
    run.set_output(0, &run.make_sequence(maps));
  }

 private:
  ClassLabels labels_;
};

constexpr SlotRule kMap = {EPH_RULE_MAP, kLabels};
constexpr SlotRule kIntegerMap = {EPH_RULE_MAP, kInt64};
constexpr SlotRule kFloatTensor = {0, kOnlyFloat};
constexpr SlotRule kMaps = {EPH_RULE_SEQUENCE | EPH_RULE_OUTPUT, kLabels};

constexpr KernelEntry kMlDictionaryKernels[] = {
    {"CastMap", 1, 1, {}, kSlotRules<kIntegerMap>, &make<CastMap>, kMlDomain},
    {"DictVectorizer", 1, 1, {}, kSlotRules<kMap>, &make<DictVectorizer>, kMlDomain},
    {"ZipMap", 1, 1, {}, kSlotRules<kFloatTensor, kMaps>, &make<ZipMap>, kMlDomain},
};

}  // namespace

Table ml_dictionary_kernels() { return kMlDictionaryKernels; }

}  // namespace ephost_cpu
