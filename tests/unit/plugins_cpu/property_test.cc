// Every kernel of the provider's list, fed with random tensors, attributes and numbers of inputs
// and outputs, sound ones and senseless ones: it gives a status that names the node, and nothing
// worse. Most worth under AddressSanitizer and UndefinedBehaviorSanitizer. A crash names no kernel;
// run with EPHOST_TRACE_KERNELS=1 to see the last one.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <random>

#include "tests/unit/plugins_cpu/cpu_test.h"
#include "tests/unit/plugins_cpu/onnx_attributes.h"

namespace ephost::test {
namespace {

constexpr int kRounds = 40;

class Randomness {
 public:
  explicit Randomness(uint64_t seed) : engine_(seed) {}

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound));
  }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int64_t>(choices.size())))];
  }

  int64_t integer() {
    static const std::vector<int64_t> kOdd = {std::numeric_limits<int64_t>::min(),
                                              std::numeric_limits<int64_t>::max(),
                                              1LL << 31,
                                              -(1LL << 31),
                                              1LL << 40,
                                              1LL << 62,
                                              -7,
                                              100};
    return chance(95) ? below(6) - 2 : one_of(kOdd);
  }
  float real() {
    static const std::vector<float> kOdd = {0, -1, 1e30F, -INFINITY, NAN, 0.5F};
    return chance(80) ? static_cast<float>(below(8)) / 4 : one_of(kOdd);
  }
  std::string text() {
    static const std::vector<std::string> kTexts = {
        "",           "none",    "add",    "constant", "reflect",    "edge",    "linear",
        "nearest",    "cubic",   "NOTSET", "VALID",    "SAME_UPPER", "forward", "bidirectional",
        "ij,jk->ik",  "...i->i", "mean",   "sum",      "LOWER",      "TF",      "DCR",
        "asymmetric", "\xFF",    "a+",     "tanh",     "Sigmoid",    "RIGHT",   "zeros",
        "half_pixel"};
    return one_of(kTexts);
  }
  template <class T, class Make>
  std::vector<T> list(Make make) {
    std::vector<T> made(static_cast<std::size_t>(below(6)));
    for (T& element : made) element = make();
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

// Bits of an element; 0 for strings.
int64_t element_bits(int32_t type) {
  switch (type) {
    case EPH_STRING_ELEMENT:
      return 0;
    case EPH_UINT4:
    case EPH_INT4:
    case EPH_FLOAT4E2M1:
      return 4;
    case EPH_UINT16:
    case EPH_INT16:
    case EPH_FLOAT16:
    case EPH_BFLOAT16:
      return 16;
    case EPH_FLOAT:
    case EPH_INT32:
    case EPH_UINT32:
      return 32;
    case EPH_DOUBLE:
    case EPH_INT64:
    case EPH_UINT64:
    case EPH_COMPLEX64:
      return 64;
    case EPH_COMPLEX128:
      return 128;
    default:
      return 8;
  }
}

class RandomNode {
 public:
  RandomNode(const eph_kernel_def& kernel, const std::vector<OnnxAttribute>& attributes,
             uint64_t seed)
      : kernel_(kernel), attributes_(attributes), random_(seed) {}

  std::unique_ptr<SingleNodeGraph> make() {
    const int32_t newest = std::max(kernel_.since_version, kernel_.until_version);
    const auto version = static_cast<int32_t>(kernel_.since_version +
                                              random_.below(newest - kernel_.since_version + 1));
    auto node = std::make_unique<SingleNodeGraph>(std::string(eph::view(kernel_.op_type)), version);
    node->state(
        random_.one_of<Stated>({Stated::kNothing, Stated::kTypes, Stated::kTypesAndShapes}));
    base_ = shape();
    type_choice_ = random_.below(64);
    const int64_t inputs =
        std::max<int64_t>(input_count() - random_.below(2) * random_.below(3), 0);
    for (int64_t i = 0; i < inputs; ++i) add_input(*node, static_cast<uint32_t>(i));
    const int64_t outputs = 1 + (random_.chance(50) ? random_.below(4) : 0);
    for (int64_t i = 0; i < outputs; ++i) {
      if (random_.chance(10)) {
        node->skip_output();
      } else {
        node->output();
      }
    }
    for (const OnnxAttribute& attribute : attributes_) {
      if (random_.chance(60)) add_attribute(*node, attribute);
    }
    return node;
  }

 private:
  int64_t input_count() {
    int64_t count = 0;
    for (uint64_t i = 0; i < kernel_.rule_count; ++i) {
      const eph_type_rule& rule = kernel_.rules[i];
      if ((rule.flags & EPH_RULE_OUTPUT) != 0) continue;
      const int64_t more = (rule.flags & EPH_RULE_VARIADIC) != 0 ? random_.below(3) : 0;
      count = std::max<int64_t>(count, int64_t{rule.slot} + 1 + more);
    }
    // Some kernels have rules for their first inputs only.
    return random_.chance(80) ? count : count + random_.below(4);
  }

  uint64_t allowed_types(uint32_t input) {
    uint64_t types = eph::type_bit(EPH_FLOAT) | eph::type_bit(EPH_INT64);
    for (uint64_t i = 0; i < kernel_.rule_count; ++i) {
      const eph_type_rule& rule = kernel_.rules[i];
      const bool variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
      if ((rule.flags & EPH_RULE_OUTPUT) != 0) continue;
      if (rule.slot == input || (variadic && rule.slot <= input)) types = rule.element_types;
    }
    return types;
  }

  // The same type for all inputs that may have it, mostly.
  int32_t type(uint32_t input) {
    std::vector<int32_t> types;
    for (int32_t t = 1; t < 24; ++t) {
      if ((allowed_types(input) & eph::type_bit(t)) != 0) types.push_back(t);
    }
    if (types.empty()) return EPH_FLOAT;
    if (random_.chance(10)) return random_.one_of(types);
    return types[static_cast<std::size_t>(type_choice_) % types.size()];
  }

  Shape shape() {
    Shape made(static_cast<std::size_t>(random_.below(6)));
    for (int64_t& extent : made) extent = random_.chance(90) ? 1 + random_.below(4) : 0;
    return made;
  }

  // Related to the other inputs' shapes, mostly.
  Shape related_shape() {
    Shape made = base_;
    switch (random_.below(8)) {
      case 0:
        for (int64_t& extent : made) extent = random_.chance(50) ? 1 : extent;
        return made;
      case 1:
        return {static_cast<int64_t>(base_.size()) * (1 + random_.below(2))};
      case 2:
        return {base_.size() > 1 ? base_[1] : 1};
      case 3:
        return {};
      case 4:
        return shape();
      case 5:
        if (!made.empty()) std::swap(made.front(), made.back());
        return made;
      default:
        return made;
    }
  }

  Tensor tensor_of(int32_t element, Shape dims) {
    Tensor made = {element, std::move(dims), {}, {}};
    const int64_t count = count_of(made.shape);
    if (element == EPH_STRING_ELEMENT) {
      for (int64_t i = 0; i < count; ++i) made.strings.push_back(random_.text());
    } else if (element == EPH_INT64 || element == EPH_INT32) {
      std::vector<int64_t> values(static_cast<std::size_t>(count));
      for (int64_t& value : values) value = random_.integer();
      if (element == EPH_INT64) return tensor<int64_t>(made.shape, values);
      return tensor<int32_t>(made.shape, std::vector<int32_t>(values.begin(), values.end()));
    } else if (element == EPH_FLOAT) {
      std::vector<float> values(static_cast<std::size_t>(count));
      for (float& value : values) value = random_.real();
      return tensor<float>(made.shape, values);
    } else {
      made.bytes.resize(static_cast<std::size_t>((count * element_bits(element) + 7) / 8));
      for (char& byte : made.bytes) byte = static_cast<char>(random_.below(4));
    }
    return made;
  }

  void add_input(SingleNodeGraph& node, uint32_t index) {
    if (random_.chance(5)) {
      node.skip_input();
      return;
    }
    Tensor value = tensor_of(type(index), index == 0 ? base_ : related_shape());
    if (random_.chance(25)) {
      node.constant(std::move(value));
    } else {
      node.input(std::move(value));
    }
  }

  void add_attribute(SingleNodeGraph& node, const OnnxAttribute& attribute) {
    const auto integer = [&] { return random_.integer(); };
    const auto real = [&] { return random_.real(); };
    const auto text = [&] { return random_.text(); };
    switch (random_.chance(98) ? attribute.kind : EPH_ATTRIBUTE_INT) {
      case EPH_ATTRIBUTE_INT:
        node.attribute(attribute.name, random_.integer());
        break;
      case EPH_ATTRIBUTE_FLOAT:
        node.attribute(attribute.name, random_.real());
        break;
      case EPH_ATTRIBUTE_STRING:
        node.attribute(attribute.name, random_.text());
        break;
      case EPH_ATTRIBUTE_INTS:
        node.attribute(attribute.name, random_.list<int64_t>(integer));
        break;
      case EPH_ATTRIBUTE_FLOATS:
        node.attribute(attribute.name, random_.list<float>(real));
        break;
      case EPH_ATTRIBUTE_STRINGS:
        node.attribute(attribute.name, random_.list<std::string>(text));
        break;
      case EPH_ATTRIBUTE_TENSOR:
        node.attribute(attribute.name,
                       tensor_of(static_cast<int32_t>(1 + random_.below(16)), related_shape()));
        break;
      default:
        break;
    }
  }

  const eph_kernel_def& kernel_;
  const std::vector<OnnxAttribute>& attributes_;
  Randomness random_;
  Shape base_;
  int64_t type_choice_ = 0;
};

TEST(Property, EveryKernelGivesAStatusThatNamesTheNode) {
  const bool trace = std::getenv("EPHOST_TRACE_KERNELS") != nullptr;
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  FakeError error;
  PluginSession& session = cpu_session();
  ASSERT_EQ(session.api().get_kernels(session.provider(), &kernels, &count, &error), EPH_OK);
  uint64_t passed = 0;
  for (uint64_t k = 0; k < count; ++k) {
    if (kernels[k].domain.size != 0) continue;  // a SingleNodeGraph has nodes of ai.onnx
    const std::string op_type(eph::view(kernels[k].op_type));
    const std::vector<OnnxAttribute> attributes = onnx_attributes(op_type);
    for (uint64_t round = 0; round < kRounds; ++round) {
      if (trace)
        std::cerr << op_type << ' ' << kernels[k].since_version << ' ' << round << std::endl;
      const auto node = RandomNode(kernels[k], attributes, k * 1000 + round).make();
      const Outcome outcome = session.run(*node);
      passed += outcome.ok() ? 1 : 0;
      if (outcome.ok() || outcome.message == "more memory than a test has") continue;
      ASSERT_THAT(outcome.message, testing::HasSubstr(op_type + " node 'tested': "))
          << "round " << round << ", code " << outcome.code;
    }
  }
  EXPECT_GT(passed, count * kRounds / 10) << "too few nodes make sense";
}

}  // namespace
}  // namespace ephost::test
