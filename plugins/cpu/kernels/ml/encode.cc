// Encoders of categories of ai.onnx.ml: CategoryMapper, LabelEncoder, OneHotEncoder.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {
namespace {

// A key or value of a mapping: text, or a number by its bits, so that NaN is equal to itself.
struct Item {
  std::string text;
  uint64_t bits = 0;
  friend bool operator==(const Item& a, const Item& b) {
    return a.bits == b.bits && a.text == b.text;
  }
};
struct ItemHash {
  std::size_t operator()(const Item& item) const {
    return std::hash<std::string>()(item.text) ^ std::hash<uint64_t>()(item.bits);
  }
};

struct Items {
  int32_t type = EPH_ELEMENT_UNDEFINED;
  std::vector<Item> items;
};

template <class T>
Item number_item(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    if (number == 0) number = 0;  // both zeros are one key
  }
  Item item;
  std::memcpy(&item.bits, &number, sizeof(T));
  return item;
}

Item item_at(const eph_value& tensor, int64_t i) {
  if (tensor.element_type == EPH_ELEMENT_STRING) {
    return {std::string(eph::view(data<const eph_string>(tensor)[i])), 0};
  }
  Item item;
  dispatch<float, double, int16_t, int32_t, int64_t>(tensor.element_type, [&](auto tag) {
    item = number_item(data<const typename decltype(tag)::type>(tensor)[i]);
  });
  return item;
}

Items items_of(const eph_value& tensor) {
  Items list{tensor.element_type, {}};
  for (int64_t i = 0; i < element_count(eph::shape_of(tensor)); ++i) {
    list.items.push_back(item_at(tensor, i));
  }
  return list;
}

// The one of the attributes <prefix>_strings, _int64s, _floats and _tensor that is given.
Items list_of(const eph::NodeView& node, const std::string& prefix) {
  if (const eph_value* tensor = node.get_tensor(prefix + "_tensor")) return items_of(*tensor);
  Items list;
  if (node.attribute(prefix + "_strings") != nullptr) {
    list.type = EPH_ELEMENT_STRING;
    for (const eph_string text : node.get_strings(prefix + "_strings")) {
      list.items.push_back({std::string(eph::view(text)), 0});
    }
  } else if (node.attribute(prefix + "_int64s") != nullptr) {
    list.type = EPH_ELEMENT_INT64;
    for (const int64_t number : node.get_ints(prefix + "_int64s")) {
      list.items.push_back(number_item(number));
    }
  } else if (node.attribute(prefix + "_floats") != nullptr) {
    list.type = EPH_ELEMENT_FLOAT;
    for (const float number : node.get_floats(prefix + "_floats")) {
      list.items.push_back(number_item(number));
    }
  } else {
    fail("no attribute '" + prefix + "_...' is given");
  }
  return list;
}

Item default_of(const eph::NodeView& node, int32_t type) {
  if (const eph_value* tensor = node.get_tensor("default_tensor")) {
    if (tensor->element_type != type || element_count(eph::shape_of(*tensor)) != 1) {
      fail("attribute 'default_tensor' is not a single " + type_name(type));
    }
    return item_at(*tensor, 0);
  }
  switch (type) {
    case EPH_ELEMENT_STRING:
      return {std::string(node.get_string("default_string", "_Unused")), 0};
    case EPH_ELEMENT_FLOAT:
      return number_item(node.get_float("default_float", -0.0F));
    case EPH_ELEMENT_DOUBLE:
      return number_item(static_cast<double>(node.get_float("default_float", -0.0F)));
    case EPH_ELEMENT_INT16:
      return number_item(static_cast<int16_t>(node.get_int("default_int64", -1)));
    case EPH_ELEMENT_INT32:
      return number_item(static_cast<int32_t>(node.get_int("default_int64", -1)));
    default:
      return number_item(node.get_int("default_int64", -1));
  }
}

// Maps every element by a table.
class Mapper : public Kernel {
 public:
  Mapper(const NodeContext& context, const Items& keys, const Items& values, Item fallback)
      : Kernel(context), from_(keys.type), to_(values.type), fallback_(std::move(fallback)) {
    if (keys.items.size() != values.items.size()) {
      fail(std::to_string(keys.items.size()) + " keys and " + std::to_string(values.items.size()) +
           " values do not form a mapping");
    }
    for (std::size_t i = 0; i < keys.items.size(); ++i) {
      table_.emplace(keys.items[i], values.items[i]);
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) final {
    const eph_value& x = *run.input(0);
    if (x.element_type != from_) {
      fail("the input is " + type_name(x.element_type) + ", and the keys are " + type_name(from_));
    }
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, to_, shape);
    const int64_t count = element_count(shape);
    for (int64_t i = 0; i < count; ++i) {
      const auto found = table_.find(item_at(x, i));
      const Item& item = found == table_.end() ? fallback_ : found->second;
      if (to_ == EPH_ELEMENT_STRING) {
        run.set_string(0, static_cast<uint64_t>(i), item.text);
      } else {
        const auto size = static_cast<std::size_t>(element_size(to_));
        std::memcpy(data<char>(y) + static_cast<std::size_t>(i) * size, &item.bits, size);
      }
    }
  }

 private:
  int32_t from_;
  int32_t to_;
  Item fallback_;
  std::unordered_map<Item, Item, ItemHash> table_;
};

class LabelEncoder final : public Mapper {
 public:
  explicit LabelEncoder(const NodeContext& context)
      : LabelEncoder(context, list_of(context.node(), "keys"), list_of(context.node(), "values")) {}

 private:
  LabelEncoder(const NodeContext& context, const Items& keys, const Items& values)
      : Mapper(context, keys, values, default_of(context.node(), values.type)) {}
};

// Maps between strings and the integers 0, 1, ..., in the direction that the input's type
// determines.
struct Direction {
  Items keys;
  Items values;
};
Direction direction_of(const NodeContext& context, Items numbers, const char* strings) {
  Items texts{EPH_ELEMENT_STRING, {}};
  for (const eph_string text : context.node().get_strings(strings)) {
    texts.items.push_back({std::string(eph::view(text)), 0});
  }
  if (numbers.items.empty()) {
    for (std::size_t i = 0; i < texts.items.size(); ++i) {
      numbers.items.push_back(number_item(static_cast<int64_t>(i)));
    }
  }
  const bool from_text = context.input_type(0) == EPH_ELEMENT_STRING ||
                         (context.input_type(0) == EPH_ELEMENT_UNDEFINED &&
                          context.node().attribute("default_string") == nullptr);
  return from_text ? Direction{texts, numbers} : Direction{numbers, texts};
}

class ClassEncoder final : public Mapper {
 public:
  explicit ClassEncoder(const NodeContext& context)
      : ClassEncoder(context, direction_of(context, {EPH_ELEMENT_INT64, {}}, "classes_strings")) {}

 private:
  ClassEncoder(const NodeContext& context, const Direction& direction)
      : Mapper(context, direction.keys, direction.values,
               default_of(context.node(), direction.values.type)) {}
};

Items integers_of(const eph::NodeView& node) {
  Items list{EPH_ELEMENT_INT64, {}};
  for (const int64_t number : node.get_ints("cats_int64s")) {
    list.items.push_back(number_item(number));
  }
  return list;
}

class CategoryMapper final : public Mapper {
 public:
  explicit CategoryMapper(const NodeContext& context)
      : CategoryMapper(context,
                       direction_of(context, integers_of(context.node()), "cats_strings")) {}

 private:
  CategoryMapper(const NodeContext& context, const Direction& direction)
      : Mapper(context, direction.keys, direction.values,
               default_of(context.node(), direction.values.type)) {}
};

class OneHotEncoder final : public Kernel {
 public:
  explicit OneHotEncoder(const NodeContext& context)
      : Kernel(context),
        labels_(context, "cats_strings", "cats_int64s"),
        allows_unknown_(context.node().get_int("zeros", 1) != 0) {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      index_.emplace(
          labels_.is_text() ? Item{labels_.texts()[i], 0} : number_item(labels_.numbers()[i]), i);
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if (labels_.is_text() != (x.element_type == EPH_ELEMENT_STRING)) {
      fail("the input is " + type_name(x.element_type) + ", and the categories are " +
           type_name(labels_.element_type()));
    }
    const Dims shape = dims_of(x);
    const auto width = static_cast<int64_t>(labels_.size());
    Dims out = shape;
    out.push_back(width);
    float* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, out));
    const int64_t count = element_count(shape);
    std::fill_n(y, element_count(out), 0.0F);
    for (int64_t i = 0; i < count; ++i) {
      const auto found = index_.find(key_at(x, i));
      if (found != index_.end()) {
        y[i * width + static_cast<int64_t>(found->second)] = 1;
      } else if (!allows_unknown_) {
        fail("element " + std::to_string(i) + " is not one of the categories");
      }
    }
  }

 private:
  // Numbers are cast to integers; a number that no integer can hold is not a category.
  static Item key_at(const eph_value& x, int64_t i) {
    if (x.element_type == EPH_ELEMENT_STRING) return item_at(x, i);
    Item key;
    dispatch<float, double, int32_t, int64_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T number = data<const T>(x)[i];
      if constexpr (std::is_floating_point_v<T>) {
        const bool fits = number > T(-0x1p63) && number < T(0x1p63);
        key = fits ? number_item(static_cast<int64_t>(number)) : Item{"no category", 0};
      } else {
        key = number_item(static_cast<int64_t>(number));
      }
    });
    return key;
  }

  ClassLabels labels_;
  bool allows_unknown_;
  std::unordered_map<Item, std::size_t, ItemHash> index_;
};

constexpr uint64_t kEncoded =
    kLabels | kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE, EPH_ELEMENT_INT16, EPH_ELEMENT_INT32>;

constexpr KernelEntry kMlEncodeKernels[] = {
    {"CategoryMapper", 1, 1, {}, kInputTypes<kLabels>, &make<CategoryMapper>, kMlDomain},
    {"LabelEncoder", 1, 1, {}, kInputTypes<kLabels>, &make<ClassEncoder>, kMlDomain},
    {"LabelEncoder", 2, 4, {}, kInputTypes<kEncoded>, &make<LabelEncoder>, kMlDomain},
    {"OneHotEncoder", 1, 1, {}, kInputTypes<kFeatures | kString>, &make<OneHotEncoder>, kMlDomain},
};

}  // namespace

Table ml_encode_kernels() { return kMlEncodeKernels; }

}  // namespace ephost_cpu
