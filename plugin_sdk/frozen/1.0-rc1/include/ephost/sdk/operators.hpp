// operators.hpp: operators that a plugin defines (ephost.operators/1). One provider class of the
// plugin declares them in a static function:
//
//   static const eph::Operators& operators() {
//     static const eph::Operators all = {
//         eph::Operator("com.acme", "Crop", 1)
//             .description("Cuts a border off the last two axes.")
//             .input("X", "T", eph::types<float, int8_t>())
//             .input("border", "", eph::types<int64_t>(), eph::kOptional)
//             .output("Y", "T", eph::types<float, int8_t>())
//             .attribute("mode", "crop")
//             .required_attribute("factor", EPH_ATTRIBUTE_FLOAT)
//             .infer([](eph::Inference& node) { node.set_output_like(0, 0); }),
//     };
//     return all;
//   }
#pragma once

#include <ephost/ext/operators.h>

#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <ephost/sdk/graph_view.hpp>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace eph {

// The bits of element types, e.g. types<float, int8_t>(); type_bit gives one without a C++ type.
template <class... T>
[[nodiscard]] constexpr uint64_t types() {
  static_assert(((element_type_of<T>() != EPH_ELEMENT_UNDEFINED) && ...),
                "a type has no number; use type_bit(EPH_ELEMENT_...)");
  return (type_bit(element_type_of<T>()) | ...);
}

// Flags of parameters.
inline constexpr uint32_t kOptional = EPH_PARAMETER_OPTIONAL;
inline constexpr uint32_t kVariadic = EPH_PARAMETER_VARIADIC;
inline constexpr uint32_t kHeterogeneous = EPH_PARAMETER_HETEROGENEOUS;

// One call of an inference function: a node, and the types of its outputs to be found.
class Inference {
 public:
  explicit Inference(eph_inference* inference) : inference_(inference) {}

  // With the defaults of the attributes that the model omits.
  [[nodiscard]] NodeView node() const {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    detail::ThrowingError error;
    error.check(inference_->api->get_node(inference_, &info, &error));
    return {0, info};
  }
  // Whether the node has the input.
  [[nodiscard]] bool has_input(uint32_t input) const {
    eph_value_info info = {};
    detail::ThrowingError error;
    return get_input(input, info, error) == EPH_OK;
  }
  // Throws Failure(EPH_NOT_FOUND) for an input that the node omits.
  [[nodiscard]] ValueView input(uint32_t input) const {
    eph_value_info info = {};
    detail::ThrowingError error;
    error.check(get_input(input, info, error));
    return {0, info};
  }
  // The symbol of each dimension of the input, empty for one without; nothing if no dimension has
  // one. Throws like `input`.
  [[nodiscard]] ArrayView<eph_string> dim_names(uint32_t input) const {
    eph_value_info info = {};
    detail::ThrowingError error;
    error.check(get_input(input, info, error));
    const bool has_names = info.dim_names != nullptr && info.rank > 0;
    return {info.dim_names, has_names ? static_cast<std::size_t>(info.rank) : 0};
  }

  // `shape` has -1 for an unknown extent, and `dim_names`, if it is not empty, an entry for each
  // extent.
  void set_output(uint32_t output, int32_t element_type, ArrayView<int64_t> shape,
                  ArrayView<eph_string> dim_names = {}) {
    set(output, element_type, shape.data(), dim_names.empty() ? nullptr : dim_names.data(),
        static_cast<int32_t>(shape.size()));
  }
  // The shape is unknown.
  void set_output(uint32_t output, int32_t element_type) {
    set(output, element_type, nullptr, nullptr, -1);
  }
  // The output has element type and shape of the input, as far as they are known.
  void set_output_like(uint32_t output, uint32_t input) {
    eph_value_info info = {};
    detail::ThrowingError error;
    error.check(get_input(input, info, error));
    set(output, info.element_type, info.shape, info.dim_names, info.rank);
  }

 private:
  int32_t get_input(uint32_t input, eph_value_info& info, detail::ThrowingError& error) const {
    info.struct_size = sizeof(info);
    return inference_->api->get_input(inference_, input, &info, &error);
  }
  void set(uint32_t output, int32_t element_type, const int64_t* shape, const eph_string* dim_names,
           int32_t rank) {
    detail::ThrowingError error;
    error.check(inference_->api->set_output(inference_, output, element_type, shape, dim_names,
                                            rank, &error));
  }

  eph_inference* inference_;
};

// The definition of one version of an operator. Texts are borrowed: literals, mostly. They must
// live as long as the library is loaded.
class Operator {
 public:
  using Infer = void (*)(Inference&);

  Operator(std::string_view domain, std::string_view op_type, int32_t since_version) {
    record_.struct_size = sizeof(eph_operator_def);
    record_.domain = to_abi(domain);
    record_.op_type = to_abi(op_type);
    record_.since_version = since_version;
  }

  Operator& description(std::string_view text) {
    record_.description = to_abi(text);
    return *this;
  }
  Operator& deprecated() {
    record_.is_deprecated = 1;
    return *this;
  }
  // `type_name`: parameters with the same one have the same type; empty: none. `element_types`:
  // types<...>(). `flags`: kOptional, kVariadic, kHeterogeneous.
  Operator& input(std::string_view name, std::string_view type_name, uint64_t element_types,
                  uint32_t flags = 0, std::string_view description = {}) {
    inputs_.push_back(parameter(name, type_name, element_types, flags, description));
    return *this;
  }
  Operator& output(std::string_view name, std::string_view type_name, uint64_t element_types,
                   uint32_t flags = 0, std::string_view description = {}) {
    outputs_.push_back(parameter(name, type_name, element_types, flags, description));
    return *this;
  }
  Operator& required_attribute(std::string_view name, int32_t kind,
                               std::string_view description = {}) {
    attributes_.push_back({to_abi(name), to_abi(description), kind, 1, nullptr});
    return *this;
  }
  Operator& optional_attribute(std::string_view name, int32_t kind,
                               std::string_view description = {}) {
    attributes_.push_back({to_abi(name), to_abi(description), kind, 0, nullptr});
    return *this;
  }
  // Optional, with a default.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Operator& attribute(std::string_view name, Number value, std::string_view description = {}) {
    if constexpr (std::is_integral_v<Number>) {
      return add_default(name, EPH_ATTRIBUTE_INT, std::vector<int64_t>{value}, description);
    } else {
      return add_default(name, EPH_ATTRIBUTE_FLOAT, std::vector<float>{static_cast<float>(value)},
                         description);
    }
  }
  Operator& attribute(std::string_view name, const char* value, std::string_view description = {}) {
    return add_default(name, EPH_ATTRIBUTE_STRING,
                       std::vector<eph_string>{to_abi(std::string_view(value))}, description);
  }
  Operator& attribute(std::string_view name, std::vector<int64_t> values,
                      std::string_view description = {}) {
    return add_default(name, EPH_ATTRIBUTE_INTS, std::move(values), description);
  }
  Operator& attribute(std::string_view name, std::vector<float> values,
                      std::string_view description = {}) {
    return add_default(name, EPH_ATTRIBUTE_FLOATS, std::move(values), description);
  }
  // Computes the types of the outputs. Throws Failure(EPH_INVALID_GRAPH, why) for a node that makes
  // no sense. May be called in several threads at once.
  Operator& infer(Infer function) {
    infer_ = function;
    return *this;
  }

 private:
  friend class Operators;

  static eph_parameter parameter(std::string_view name, std::string_view type_name,
                                 uint64_t element_types, uint32_t flags,
                                 std::string_view description) {
    return {to_abi(name), to_abi(description), to_abi(type_name), element_types, flags, 0};
  }
  template <class Item>
  Operator& add_default(std::string_view name, int32_t kind, std::vector<Item> items,
                        std::string_view description) {
    struct Kept {
      std::vector<Item> items;
      eph_attribute attribute;
    };
    auto kept = std::make_shared<Kept>(Kept{std::move(items), {}});
    kept->attribute = {to_abi(name), kept->items.data(), kept->items.size(), kind, 0};
    attributes_.push_back({to_abi(name), to_abi(description), kind, 0, &kept->attribute});
    defaults_.push_back(std::move(kept));
    return *this;
  }

  eph_operator_def record_ = {};
  std::vector<eph_parameter> inputs_;
  std::vector<eph_parameter> outputs_;
  std::vector<eph_attribute_def> attributes_;
  std::vector<std::shared_ptr<const void>> defaults_;  // what the attributes point to
  Infer infer_ = nullptr;
};

// All operators that a plugin defines.
class Operators {
 public:
  Operators(std::initializer_list<Operator> operators)
      : Operators(std::vector<Operator>(operators)) {}
  explicit Operators(std::vector<Operator> operators) : operators_(std::move(operators)) {
    records_.reserve(operators_.size());
    for (const Operator& one : operators_) {
      Record record;
      static_cast<eph_operator_def&>(record) = one.record_;
      record.inputs = one.inputs_.data();
      record.input_count = one.inputs_.size();
      record.outputs = one.outputs_.data();
      record.output_count = one.outputs_.size();
      record.attributes = one.attributes_.data();
      record.attribute_count = one.attributes_.size();
      record.function = one.infer_;
      if (one.infer_ != nullptr) record.infer = &Operators::infer;
      records_.push_back(record);
    }
  }
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;

  [[nodiscard]] const eph_operator_def* data() const { return records_.data(); }
  [[nodiscard]] uint64_t size() const { return records_.size(); }
  [[nodiscard]] static constexpr uint64_t stride() { return sizeof(Record); }

 private:
  // What the host hands back as `self`.
  struct Record : eph_operator_def {
    Record() : eph_operator_def{} {}
    Operator::Infer function = nullptr;
  };

  static int32_t infer(const eph_operator_def* self, eph_inference* inference,
                       eph_error* error) noexcept {
    return detail::guard(error, [&] {
      Inference node(inference);
      static_cast<const Record*>(self)->function(node);
    });
  }

  std::vector<Operator> operators_;
  std::vector<Record> records_;
};

namespace detail {

// The functions of eph_operators_api for a provider class that declares `operators`.
template <class P>
struct OperatorsTable {
  static constexpr bool has_operators() { return declares<P>(0); }
  template <class C>
  static constexpr auto declares(int) -> decltype(C::operators(), true) {
    return true;
  }
  template <class C>
  static constexpr bool declares(...) {
    return false;
  }
  static int32_t get_operators(const eph_operators_api*, const eph_operator_def** out,
                               uint64_t* out_stride, uint64_t* out_count,
                               eph_error* error) noexcept {
    *out = nullptr;
    *out_stride = 0;
    *out_count = 0;
    return guard(error, [&] {
      const Operators& all = P::operators();
      *out = all.data();
      *out_stride = Operators::stride();
      *out_count = all.size();
    });
  }
  static constexpr eph_operators_api kApi = {sizeof(eph_operators_api), &get_operators};
};

}  // namespace detail

}  // namespace eph
