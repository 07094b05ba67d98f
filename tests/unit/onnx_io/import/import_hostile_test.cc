// Damaged models: whatever a file contains, importing it ends in an error or in a graph that passes
// its check and can be exported.
#include <gtest/gtest.h>

#include <random>

#include "host/graph/checks.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::import_hostile_test {
namespace {

using namespace testing;  // NOLINT: the builders of model_protos.h
using test::IsOk;

// A bit of everything: weights large and small, attributes, a subgraph, symbols, strings.
std::string sample_model() {
  onnx::ModelProto proto = small_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "image", {1, 3, 8, 8});
  add_initializer(graph, "kernel", {4, 3, 5, 5}, std::vector<float>(300, 0.5f));
  onnx::NodeProto& conv = add_node(graph, "Conv", {"image", "kernel"}, {"c"});
  set_ints(conv, "strides", {2, 2});
  set_ints(conv, "pads", {1, 1, 1, 1});
  set_ints(conv, "kernel_shape", {5, 5});
  onnx::NodeProto& pool = add_node(graph, "MaxPool", {"c"}, {"p"});
  set_ints(pool, "kernel_shape", {2, 2});
  add_int64_initializer(graph, "flat", {1, -1});
  add_node(graph, "Reshape", {"p", "flat"}, {"r"});
  add_node(graph, "Shape", {"r"}, {"s"});
  add_node(graph, "Expand", {"r", "s"}, {"e"});
  onnx::NodeProto& branch = add_node(graph, "If", {"cond"}, {"z"});
  add_input(graph, "cond", {}, onnx::TensorProto::BOOL);
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = add_body(branch, name);
    set_int(add_node(body, "Softmax", {"e"}, {"b"}), "axis", 1);
    body.add_output()->set_name("b");
  }
  onnx::NodeProto& constant = add_node(graph, "Constant", {}, {"k"});
  auto& value = *add_attribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t();
  value.set_data_type(onnx::TensorProto::STRING);
  value.add_dims(1);
  value.add_string_data("text");
  graph.add_output()->set_name("z");
  graph.add_output()->set_name("k");
  return proto.SerializeAsString();
}

void expect_survival(std::string bytes) {
  const Result<graph::Model> model = import_model(as_blob(std::move(bytes)));
  if (!model.ok()) {
    const StatusCode code = model.status().code();
    EXPECT_TRUE(code == StatusCode::kInvalidProtobuf || code == StatusCode::kInvalidGraph ||
                code == StatusCode::kInvalidArgument)
        << model.status().to_string();
    EXPECT_FALSE(model.status().message().empty());
    return;
  }
  ASSERT_EQ(check_graph(model->graph).message(), "");
  const Result<ExportedModel> exported = export_model(*model);
  ASSERT_THAT(exported, IsOk());
  // Everything that the exporter writes can be read.
  const auto again = import_model(graph::make_blob(exported->model.to_bytes()));
  EXPECT_THAT(again, IsOk());
}

TEST(ImportHostile, TheSampleItselfIsSound) {
  const auto model = import_model(as_blob(sample_model()));
  EXPECT_THAT(model, IsOk());
}

TEST(ImportHostile, SurvivesTruncationAtEveryByte) {
  const std::string sample = sample_model();
  for (size_t size = 0; size < sample.size(); size += size < 1200 ? 1 : 7) {
    expect_survival(sample.substr(0, size));
  }
}

TEST(ImportHostile, SurvivesSingleByteChanges) {
  const std::string sample = sample_model();
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = sample;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    expect_survival(std::move(damaged));
  }
}

TEST(ImportHostile, SurvivesManyChangesAtOnce) {
  const std::string sample = sample_model();
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = sample;
    for (uint32_t change = random() % 8 + 2; change > 0; --change) {
      const size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
          break;
        case 2:
          damaged.erase(at, random() % 16);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 16));
      }
      if (damaged.empty()) break;
    }
    expect_survival(std::move(damaged));
  }
}

// Mutates integers that the parser accepts: every integer of the message becomes an odd one in
// turn.
class NumberDamage {
 public:
  explicit NumberDamage(std::mt19937& random) : random_(random) {}

  void apply(google::protobuf::Message& message, double chance) {
    const auto& reflection = *message.GetReflection();
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const auto* field : fields) damage_field(message, reflection, *field, chance);
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  void damage_field(google::protobuf::Message& message,
                    const google::protobuf::Reflection& reflection, const Field& field,
                    double chance) {
    const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
        apply(field.is_repeated() ? *reflection.MutableRepeatedMessage(&message, &field, i)
                                  : *reflection.MutableMessage(&message, &field),
              chance);
      } else if (field.cpp_type() == Field::CPPTYPE_INT64 && hits(chance)) {
        if (field.is_repeated()) {
          reflection.SetRepeatedInt64(&message, &field, i, odd_number());
        } else {
          reflection.SetInt64(&message, &field, odd_number());
        }
      } else if (field.cpp_type() == Field::CPPTYPE_INT32 && !field.is_repeated() && hits(chance)) {
        reflection.SetInt32(&message, &field, static_cast<int32_t>(odd_number()));
      }
    }
  }

  bool hits(double chance) { return std::uniform_real_distribution<>(0, 1)(random_) < chance; }

  int64_t odd_number() {
    constexpr int64_t kNumbers[] = {
        0,  1,  -1, 2,   3, 7, 64, int64_t{1} << 31, INT64_MAX, INT64_MIN, INT64_MAX - 1,
        -2, 16, 17, 1000};
    return kNumbers[random_() % std::size(kNumbers)];
  }

  std::mt19937& random_;
};

TEST(ImportHostile, SurvivesOddNumbersInWellFormedModels) {
  onnx::ModelProto sample;
  ASSERT_TRUE(sample.ParseFromString(sample_model()));
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    onnx::ModelProto damaged = sample;
    NumberDamage(random).apply(damaged, round % 2 == 0 ? 0.03 : 0.2);
    damaged.set_ir_version(8);
    damaged.mutable_opset_import(0)->set_version(17);
    expect_survival(damaged.SerializeAsString());
  }
}

}  // namespace
}  // namespace ephost::onnx_io::import_hostile_test
