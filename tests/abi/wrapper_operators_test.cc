// The C++ wrapper of ephost.operators/1 as the host sees it.
#include <gtest/gtest.h>

#include <cstddef>
#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;

class DefiningProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "DefiningExecutionProvider";
  static constexpr std::string_view kName = "defining";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<DefiningProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<DefiningProvider>();
  }
  // From a vector, as a plugin makes it that puts several lists together.
  static const eph::Operators& operators() {
    static const eph::Operators all(std::vector<eph::Operator>{
        eph::Operator("com.acme", "Crop", 2)
            .description("cuts")
            .input("X", "T", eph::types<float, int8_t>(), 0, "the whole")
            .input("border", "", eph::types<int64_t>(), eph::kOptional)
            .output("Y", "T", eph::types<float, int8_t>())
            .attribute("mode", "crop")
            .attribute("count", 3)
            .attribute("scale", 0.5)
            .attribute("axes", std::vector<int64_t>{2, 3})
            .attribute("weights", std::vector<float>{1, 2, 4})
            .required_attribute("factor", EPH_ATTRIBUTE_FLOAT, "how much")
            .optional_attribute("body", EPH_ATTRIBUTE_GRAPH)
            .infer([](eph::Inference& node) {
              if (!node.has_input(1)) throw eph::Failure(EPH_INVALID_GRAPH, "no border");
              node.set_output_like(0, 0);
              const int64_t shape[] = {node.node().get_int("n", 7), -1};
              const eph_string names[] = {{}, EPH_STRING("rows")};
              node.set_output(1, EPH_ELEMENT_INT8, {shape, 2}, {names, 2});
              node.set_output(2, EPH_ELEMENT_INT64);
              node.set_output(3, EPH_ELEMENT_FLOAT, node.input(0).shape(), node.dim_names(0));
            }),
        eph::Operator("com.acme", "Old", 1).deprecated(),
    });
    return all;
  }
};

class OtherProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "OtherExecutionProvider";
  static constexpr std::string_view kName = "other";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<OtherProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<OtherProvider>();
  }
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_operators", "1.0.0", DefiningProvider)

namespace {

struct Stated {
  uint32_t output;
  int32_t element_type;
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  int32_t rank;
};

// Answers as the host does: a node with an attribute "n", and one or two inputs.
class FakeInference : public eph_inference {
 public:
  explicit FakeInference(uint32_t inputs) : eph_inference{&kApi}, inputs_(inputs) {}
  std::vector<Stated> stated;

 private:
  static int32_t get_node(const eph_inference*, eph_node_info* out, eph_error*) noexcept {
    static const int64_t kNumber = 9;
    static const eph_attribute kAttribute = {EPH_STRING("n"), &kNumber, 1, EPH_ATTRIBUTE_INT, 0};
    out->attributes = &kAttribute;
    out->attribute_count = 1;
    return EPH_OK;
  }
  static int32_t get_input(const eph_inference* self, uint32_t input, eph_value_info* out,
                           eph_error* error) noexcept {
    static const int64_t kShape[] = {4};
    if (input >= static_cast<const FakeInference*>(self)->inputs_) {
      error->api->set_message(error, EPH_STRING("omitted"));
      return EPH_NOT_FOUND;
    }
    out->element_type = EPH_ELEMENT_FLOAT;
    static const eph_string kNames[] = {EPH_STRING("n")};
    out->rank = 1;
    out->shape = kShape;
    out->dim_names = kNames;
    return EPH_OK;
  }
  static int32_t set_output(eph_inference* self, uint32_t output, int32_t element_type,
                            const int64_t* shape, const eph_string* names, int32_t rank,
                            eph_error*) noexcept {
    Stated one{output, element_type, {}, {}, rank};
    for (int32_t i = 0; i < rank; ++i) {
      one.shape.push_back(shape[i]);
      if (names != nullptr) one.names.emplace_back(eph::view(names[i]));
    }
    static_cast<FakeInference*>(self)->stated.push_back(one);
    return EPH_OK;
  }
  static constexpr eph_inference_api kApi = {sizeof(eph_inference_api), &get_node, &get_input,
                                             &set_output};
  uint32_t inputs_;
};

const eph_operators_api& operators_table() {
  const eph_plugin_api* const plugin = ephost::test::get_api(eph_plugin_v1());
  return *static_cast<const eph_operators_api*>(
      plugin->get_extension(plugin, EPH_STRING(EPH_EXT_OPERATORS)));
}

struct List {
  List() {
    const eph_operators_api& api = operators_table();
    EXPECT_EQ(api.get_operators(&api, &first, &stride, &count, &error), EPH_OK);
  }
  [[nodiscard]] const eph_operator_def& operator[](std::size_t i) const {
    return *reinterpret_cast<const eph_operator_def*>(reinterpret_cast<const std::byte*>(first) +
                                                      i * stride);
  }
  FakeError error;
  const eph_operator_def* first = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
};

TEST(WrapperOperators, AreOfferedByThePlugin) {
  const eph_plugin_api* const plugin = ephost::test::get_api(eph_plugin_v1());
  EXPECT_EQ(plugin->get_extension(plugin, EPH_STRING("ephost.operators/2")), nullptr);
  EXPECT_EQ(operators_table().struct_size, sizeof(eph_operators_api));
}

TEST(WrapperOperators, CarryWhatTheAuthorDeclares) {
  const List list;
  ASSERT_EQ(list.count, 2U);
  const eph_operator_def& crop = list[0];
  EXPECT_EQ(eph::view(crop.op_type), "Crop");
  EXPECT_EQ(eph::view(crop.domain), "com.acme");
  EXPECT_EQ(eph::view(crop.description), "cuts");
  EXPECT_EQ(crop.since_version, 2);
  EXPECT_EQ(crop.is_deprecated, 0U);
  ASSERT_EQ(crop.input_count, 2U);
  EXPECT_EQ(eph::view(crop.inputs[0].type_name), "T");
  EXPECT_EQ(eph::view(crop.inputs[0].description), "the whole");
  EXPECT_EQ(crop.inputs[0].element_types,
            (uint64_t{1} << EPH_ELEMENT_FLOAT) | (uint64_t{1} << EPH_ELEMENT_INT8));
  EXPECT_EQ(crop.inputs[1].flags, uint32_t{EPH_PARAMETER_OPTIONAL});
  ASSERT_EQ(crop.output_count, 1U);
  EXPECT_EQ(eph::view(crop.outputs[0].name), "Y");
  EXPECT_EQ(eph::view(list[1].op_type), "Old");
  EXPECT_EQ(list[1].is_deprecated, 1U);
  EXPECT_EQ(list[1].infer, nullptr);
}

TEST(WrapperOperators, CarryTheDefaultsOfAttributes) {
  const List list;
  const eph_operator_def& crop = list[0];
  ASSERT_EQ(crop.attribute_count, 7U);
  const auto value = [&](std::size_t i) -> const eph_attribute& {
    EXPECT_EQ(crop.attributes[i].default_value->kind, crop.attributes[i].kind);
    return *crop.attributes[i].default_value;
  };
  EXPECT_EQ(eph::view(*static_cast<const eph_string*>(value(0).values)), "crop");
  EXPECT_EQ(*static_cast<const int64_t*>(value(1).values), 3);
  EXPECT_EQ(*static_cast<const float*>(value(2).values), 0.5F);
  EXPECT_EQ(static_cast<const int64_t*>(value(3).values)[1], 3);
  EXPECT_EQ(value(4).count, 3U);
  EXPECT_EQ(static_cast<const float*>(value(4).values)[2], 4);
  EXPECT_EQ(crop.attributes[5].is_required, 1U);
  EXPECT_EQ(crop.attributes[5].default_value, nullptr);
  EXPECT_EQ(eph::view(crop.attributes[5].description), "how much");
  EXPECT_EQ(crop.attributes[6].kind, EPH_ATTRIBUTE_GRAPH);
  EXPECT_EQ(crop.attributes[6].is_required, 0U);
}

TEST(WrapperOperators, InferTypes) {
  const List list;
  FakeInference inference(2);
  FakeError error;
  ASSERT_EQ(list[0].infer(&list[0], &inference, &error), EPH_OK);
  ASSERT_EQ(inference.stated.size(), 4U);
  EXPECT_EQ(inference.stated[0].element_type, EPH_ELEMENT_FLOAT);
  EXPECT_EQ(inference.stated[0].shape, std::vector<int64_t>{4});
  EXPECT_EQ(inference.stated[1].shape, (std::vector<int64_t>{9, -1}));
  EXPECT_EQ(inference.stated[1].names, (std::vector<std::string>{"", "rows"}));
  EXPECT_EQ(inference.stated[2].rank, -1);
  EXPECT_EQ(inference.stated[3].names, std::vector<std::string>{"n"});
}

TEST(WrapperOperators, TurnFailuresOfInferenceIntoCodes) {
  const List list;
  FakeInference inference(1);
  FakeError error;
  EXPECT_EQ(list[0].infer(&list[0], &inference, &error), EPH_INVALID_GRAPH);
  EXPECT_EQ(error.message, "no border");
}

// A plugin none of whose classes defines operators has no slot for extensions.
TEST(WrapperOperators, CostNothingWithoutADefinition) {
  EXPECT_EQ(eph::detail::PluginTables<OtherProvider>::kApi.get_extension, nullptr);
  EXPECT_NE((eph::detail::PluginTables<OtherProvider, DefiningProvider>::kApi.get_extension),
            nullptr);
}

}  // namespace
