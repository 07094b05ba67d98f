// Where compile_model puts the initializers of the nodes that are left (line 8).
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::initializers_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Add and Mul are left, with w0 and w1.
SessionOptions leaving_weights() { return scripted({{"claim", "fuse:Neg"}}); }

// The file that each initializer was found in; empty if it was embedded.
std::map<std::string, std::string> files_of_initializers(const std::filesystem::path& model) {
  std::map<std::string, std::string> files;
  const graph::Model imported = test::import_file(model);
  for (const graph::Value& value : imported.graph.values) {
    const graph::Tensor* tensor = imported.graph.constant(imported.graph.find_value(value.name));
    if (tensor != nullptr) files[value.name] = tensor->external ? tensor->external->location : "";
  }
  return files;
}

class Initializers : public ::testing::Test {
 protected:
  Result<CompileReport> compile() {
    return compile_model(environment_, leaving_weights(), compilation_);
  }
  // The sample model with w0 and w1 in a file next to it.
  void use_external_source(const TempDirectory& folder, int64_t width = 4) {
    compilation_.input_model_path =
        test::save(folder, test::scripted_model(width), "e.onnx", "e.weights");
  }
  void expect_runs() {
    test::expect_runs(Session::create(environment_, output_, leaving_weights()), expected_);
  }

  TempDirectory folder_;
  TempDirectory source_;
  Environment environment_ = scripted_environment();
  std::filesystem::path model_ = test::save(source_, test::scripted_model());
  std::vector<Value> expected_ = test::expected_outputs(model_);
  std::filesystem::path output_ = folder_ / "m_ctx.onnx";
  ModelCompilationOptions compilation_{.input_model_path = model_, .output_model_path = output_};
};

TEST_F(Initializers, AreEmbeddedUnlessAFileIsNamed) {
  ASSERT_THAT(compile(), IsOk());
  EXPECT_THAT(files_of_initializers(output_), ElementsAre(Pair("w0", ""), Pair("w1", "")));
  compilation_.output_model_external_initializers_file = "weights";
  ASSERT_THAT(compile(), IsOk());
  EXPECT_THAT(files_of_initializers(output_),
              ElementsAre(Pair("w0", "weights"), Pair("w1", "weights")));
  expect_runs();
}

// When checksums are compared, the right file is back, but the session has mapped the other one. It
// is refused, and the model is read again because its folder has changed.
TEST_F(Initializers, AreCheckedAsTheyWereRead) {
  compilation_.output_model_external_initializers_file = "weights";
  ASSERT_THAT(compile(), IsOk());
  const std::filesystem::path weights = folder_ / "weights";
  std::filesystem::copy_file(weights, folder_ / "right");
  std::string wrong = test::read(weights);
  wrong.front() ^= 1;
  test::write(weights, wrong);
  const std::string payload = test::read(folder_ / "m_scripted.bin");
  SessionOptions options = leaving_weights();
  int readings = 0;
  options.set_ep_context_data_read_func([&](std::string_view) -> Result<EpContextData> {
    if (++readings == 1) std::filesystem::rename(folder_ / "right", weights);
    return EpContextData{std::as_bytes(std::span(payload)), nullptr};
  });
  const auto session = Session::create(environment_, output_, options);
  EXPECT_THAT(session, IsOk());
  EXPECT_EQ(readings, 2);
}

TEST_F(Initializers, GoToTheFileThatASessionEntryNames) {
  SessionOptions options = leaving_weights();
  options.add_config_entry("ep.context_model_external_initializers_file_name", "weights");
  ASSERT_THAT(compile_model(environment_, options, compilation_), IsOk());
  EXPECT_EQ(files_of_initializers(output_).at("w0"), "weights");
}

TEST_F(Initializers, StayInTheModelBelowTheThreshold) {
  compilation_.output_model_external_initializers_file = "weights";
  compilation_.external_initializers_size_threshold = 16;
  ASSERT_THAT(compile(), IsOk());
  EXPECT_EQ(files_of_initializers(output_).at("w0"), "weights");
  compilation_.external_initializers_size_threshold = 17;
  ASSERT_THAT(compile(), IsOk());
  EXPECT_EQ(files_of_initializers(output_).at("w0"), "");
  expect_runs();
}

TEST_F(Initializers, AreAlignedWhenTheyAreLarge) {
  constexpr int64_t kWidth = (1 << 18) + 1;  // just over 1 MiB
  compilation_.input_model_path = test::save(source_, test::scripted_model(kWidth), "large.onnx");
  compilation_.output_model_external_initializers_file = "weights";
  for (const uint64_t alignment : {4096, 65536}) {
    compilation_.external_initializers_alignment = alignment;
    ASSERT_THAT(compile(), IsOk());
    const graph::Model model = test::import_file(output_);
    const graph::Tensor& second = *model.graph.constant(model.graph.find_value("w1"));
    ASSERT_TRUE(second.external);
    EXPECT_GT(second.external->offset, uint64_t{1} << 20);
    EXPECT_EQ(second.external->offset % alignment, 0U);
    std::filesystem::remove(folder_ / "weights");
  }
}

TEST_F(Initializers, AnInvalidAlignmentIsRefusedBeforeAnythingIsCompiled) {
  compilation_.output_model_external_initializers_file = "weights";
  for (const uint64_t alignment : {3, 1 << 21}) {
    compilation_.external_initializers_alignment = alignment;
    const Status refused =
        compile_model(environment_, scripted({{"fail", "create"}}), compilation_).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("power of two"));
  }
}

TEST_F(Initializers, AFunctionPlacesEachOneOnce) {
  use_external_source(source_);
  compilation_.output_model_external_initializers_file = "weights";
  std::vector<std::string> asked;
  compilation_.output_model_get_initializer_location_func =
      [&](const InitializerInfo& info) -> Result<InitializerLocation> {
    asked.emplace_back(info.name);
    EXPECT_EQ(info.element_type, ElementType::kFloat);
    EXPECT_THAT(std::vector<int64_t>(info.shape.begin(), info.shape.end()), ElementsAre(4));
    EXPECT_EQ(info.bytes.size(), 16U);
    EXPECT_TRUE(info.external != nullptr && info.external->file_path == "e.weights" &&
                info.external->byte_size == 16);
    return info.name == "w0" ? InitializerLocation::kExternalFile : InitializerLocation::kEmbedded;
  };
  ASSERT_THAT(compile(), IsOk());
  EXPECT_THAT(asked, ElementsAre("w0", "w1"));
  EXPECT_THAT(files_of_initializers(output_), ElementsAre(Pair("w0", "weights"), Pair("w1", "")));
  expect_runs();
}

TEST_F(Initializers, MayStayInAFileBelowTheOutputFolder) {
  std::filesystem::create_directory(folder_ / "sub");
  const auto in_sub = test::save(folder_, test::scripted_model(), "sub/e.onnx", "e.weights");
  compilation_.input_model_path = in_sub;
  compilation_.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    return InitializerLocation::kOriginal;
  };
  const auto report = compile();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files.size(), 2U);
  EXPECT_THAT(files_of_initializers(output_),
              ElementsAre(Pair("w0", "sub/e.weights"), Pair("w1", "sub/e.weights")));
  expect_runs();
}

TEST_F(Initializers, CannotStayInAFileOutsideTheOutputFolder) {
  use_external_source(source_);
  compilation_.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    return InitializerLocation::kOriginal;
  };
  const Status elsewhere = compile().status();
  EXPECT_EQ(elsewhere.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(elsewhere.message(), AllOf(HasSubstr("\"w0\""), HasSubstr("does not lie below")));
  compilation_.input_model_path = model_;
  EXPECT_THAT(compile().status().message(), HasSubstr("its data is not in a file"));
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

// The destination of a model in memory is not known, so it has the location that the source model
// has.
TEST_F(Initializers, OfAModelInMemoryKeepTheirStatedLocation) {
  use_external_source(source_);
  std::vector<std::byte> model;
  compilation_.output_model_path.clear();
  compilation_.output_model_buffer = &model;
  compilation_.ep_context_embed_mode = true;
  compilation_.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    return InitializerLocation::kOriginal;
  };
  ASSERT_THAT(compile(), IsOk());
  SessionOptions options = leaving_weights();
  options.add_config_entry("session.model_external_initializers_file_folder_path",
                           source_.path().string());
  test::expect_runs(Session::create(environment_, ModelBytes{model}, options), expected_);
}

TEST_F(Initializers, AFailureOfThePlacementFunctionIsReturnedUnchanged) {
  compilation_.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    return Status(StatusCode::kEngineError, "undecided");
  };
  const Status failed = compile().status();
  EXPECT_EQ(failed.code(), StatusCode::kEngineError);
  EXPECT_THAT(failed.message(), HasSubstr("undecided"));
  compilation_.output_model_get_initializer_location_func =
      [](const InitializerInfo&) -> Result<InitializerLocation> {
    return InitializerLocation::kExternalFile;
  };
  EXPECT_THAT(compile().status().message(), HasSubstr("no external file is named"));
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace ephost::initializers_test
