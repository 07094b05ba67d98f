// Shared by the tests of the importer: importing a message that must be valid, and one that must be
// refused.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "host/graph/checks.h"
#include "host/onnx_io/import/import.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::testing {

inline graph::Model import(const onnx::ModelProto& proto, ImportReport* report = nullptr) {
  Result<graph::Model> model = import_proto(proto, {}, report);
  EXPECT_THAT(model, test::IsOk());
  if (!model.ok()) return {};
  EXPECT_EQ(check_graph(model->graph).message(), "");
  return std::move(model).value();
}

inline void expect_refusal(const onnx::ModelProto& proto, const std::string& message,
                           StatusCode code = StatusCode::kInvalidGraph) {
  const Result<graph::Model> model = import_proto(proto);
  ASSERT_FALSE(model.ok()) << message;
  EXPECT_EQ(model.status().code(), code);
  EXPECT_THAT(model.status().message(), ::testing::HasSubstr(message));
}

inline std::string type_of(const graph::Model& model, std::string_view value) {
  return graph::to_string(model.graph.values[model.graph.find_value(value)].type, model.symbols);
}

// The small model, whose initializer "w" is in the file `location`.
inline onnx::ModelProto model_with_external_data(const std::string& location) {
  onnx::ModelProto proto = small_model();
  onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
  w.clear_raw_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  return proto;
}

}  // namespace ephost::onnx_io::testing
