// The model after its graph optimizations, saved while a session is created.
#include <gmock/gmock.h>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::optimized_model_test {
namespace {

using test::environment;
using test::GraphBuilder;
using test::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kExternalFile = "session.optimized_model_external_initializers_file_name";
const std::string kMinSize = "session.optimized_model_external_initializers_min_size_in_bytes";

// y = x + -w, where -w is folded; the result has 16 bytes.
graph::Model foldable_model() {
  graph::Model model = test::model_of(GraphBuilder()
                                          .input("x", test::row_type(4))
                                          .constant("w", test::row(4, 3))
                                          .node("Neg", {"w"}, {"n"})
                                          .node("Identity", {"x"}, {"i"})
                                          .node("Add", {"i", "n"}, {"y"})
                                          .output("y")
                                          .build());
  model.metadata = {{"author", "Ada"}};
  return model;
}

std::vector<std::string> operators_of(const graph::Model& model) {
  std::vector<std::string> operators;
  for (const graph::Node& node : model.graph.nodes) operators.push_back(node.op_type);
  return operators;
}

class OptimizedModel : public ::testing::Test {
 protected:
  Result<Session> create(const SessionOptions& options) {
    return Session::create(environment(), model_, options);
  }
  SessionOptions saving(const std::filesystem::path& file) const {
    SessionOptions options;
    options.set_optimized_model_file_path(file);
    return options;
  }
  std::string location_of(const std::string& initializer) const {
    const graph::Model model = test::import_file(saved_);
    const graph::Tensor* tensor = model.graph.constant(model.graph.find_value(initializer));
    EXPECT_NE(tensor, nullptr);
    return tensor != nullptr && tensor->external ? tensor->external->location : "";
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, foldable_model());
  std::filesystem::path saved_ = folder_ / "optimized.onnx";
};

TEST_F(OptimizedModel, HasLostWhatWasFoldedAndGivesTheSameResults) {
  auto session = create(saving(saved_));
  ASSERT_THAT(session, IsOk());
  const graph::Model model = test::import_file(saved_);
  EXPECT_THAT(operators_of(model), ElementsAre("Add"));
  EXPECT_EQ(model.metadata, foldable_model().metadata);
  test::expect_runs(Session::create(environment(), saved_), *test::run(*session));
}

TEST_F(OptimizedModel, OfEachSampleGivesTheSameResults) {
  for (const auto& entry : std::filesystem::directory_iterator(EPHOST_TINY_MODELS)) {
    const std::filesystem::path model = entry.path() / "model.onnx";
    if (!std::filesystem::exists(model)) continue;
    SCOPED_TRACE(model.string());
    auto session = Session::create(environment(), model, saving(saved_));
    ASSERT_THAT(session, IsOk());
    const auto inputs = test::random_inputs(*session);
    const auto expected = session->run(inputs);
    ASSERT_THAT(expected, IsOk());
    SessionOptions unoptimized;
    unoptimized.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    auto loaded = Session::create(environment(), saved_, unoptimized);
    ASSERT_THAT(loaded, IsOk());
    const auto outputs = loaded->run(inputs);
    ASSERT_THAT(outputs, IsOk());
    test::expect_close(*outputs, *expected);
  }
}

TEST_F(OptimizedModel, KeepsBodiesAndWhatTheyCapture) {
  test::write_model(model_, test::nested_flow());
  ASSERT_THAT(create(saving(saved_)), IsOk());
  auto session = Session::create(environment(), saved_);
  ASSERT_THAT(session, IsOk());
  const std::vector<float> x = {0.5F, -1.25F};
  const auto outputs = session->run(test::nested_flow_inputs(3, true, x));
  ASSERT_THAT(outputs, IsOk());
  test::expect_nested_flow(*outputs, 3, true, x);
}

TEST_F(OptimizedModel, HasTheSizesOfDimensionsThatTheSessionFixed) {
  SessionOptions options = saving(saved_);
  const auto open = Session::create(environment(), test::model_path("tiny_dynamic"));
  options.add_free_dimension_override_by_name(open->inputs()[0].dim_names[0], 3);
  ASSERT_THAT(Session::create(environment(), test::model_path("tiny_dynamic"), options), IsOk());
  const auto session = Session::create(environment(), saved_);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->inputs()[0].shape[0], 3);
}

TEST_F(OptimizedModel, HasLargeInitializersInAFileIfOneIsNamed) {
  SessionOptions options = saving(saved_);
  options.add_config_entry(kExternalFile, "optimized.weights");
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(location_of("n"), "") << "smaller than 1024 bytes";
  options.add_config_entry(kMinSize, "16");
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(location_of("n"), "optimized.weights");
  auto session = create({});
  test::expect_runs(Session::create(environment(), saved_), *test::run(*session));
  options.add_config_entry(kMinSize, "17");
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(location_of("n"), "");
}

TEST_F(OptimizedModel, ReplacesAnOlderOneButNoFileThatIsRead) {
  test::write(saved_, "older");
  ASSERT_THAT(create(saving(saved_)), IsOk());
  EXPECT_THAT(operators_of(test::import_file(saved_)), ElementsAre("Add"));

  const std::string before = test::read(model_);
  std::filesystem::create_hard_link(model_, folder_ / "link.onnx");
  for (const auto& file : {model_, folder_ / "link.onnx"}) {
    const Status refused = create(saving(file)).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("the optimized model"), HasSubstr("the model")));
  }
  SessionOptions external = saving(saved_);
  external.add_config_entry(kExternalFile, "model.onnx");
  EXPECT_EQ(create(external).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(test::read(model_), before);
}

TEST_F(OptimizedModel, LeavesNothingBehindWhereItCannotBeWritten) {
  const Status failed = create(saving(folder_ / "absent" / "optimized.onnx")).status();
  EXPECT_EQ(failed.code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(failed.message(), HasSubstr("saving the optimized model"));
  SessionOptions options = saving(saved_);
  options.add_config_entry(kExternalFile, "../weights");
  EXPECT_EQ(create(options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("model.onnx"));
}

TEST_F(OptimizedModel, StaysAsItIsWhereItsInitializersCannotBeWritten) {
  ASSERT_THAT(create(saving(saved_)), IsOk());
  const std::string before = test::read(saved_);
  std::filesystem::create_directory(folder_ / "weights");
  SessionOptions options = saving(saved_);
  options.add_config_entry(kExternalFile, "weights").add_config_entry(kMinSize, "0");
  EXPECT_EQ(create(options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(test::read(saved_), before);
  std::filesystem::remove(folder_ / "weights");
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(location_of("n"), "weights");
}

TEST_F(OptimizedModel, OfAContextModelDoesNotExist) {
  ASSERT_THAT(compile_model(test::scripted_environment(), test::scripted(),
                            {.input_model_path = model_,
                             .output_model_path = folder_ / "ctx.onnx",
                             .error_if_no_nodes_compiled = true}),
              IsOk());
  SessionOptions options = test::scripted();
  options.set_optimized_model_file_path(saved_);
  const Status refused =
      Session::create(test::scripted_environment(), folder_ / "ctx.onnx", options).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.message(), HasSubstr("save that of the model that it was made from"));
  EXPECT_FALSE(std::filesystem::exists(saved_));
}

TEST_F(OptimizedModel, IsSavedThoughTheCacheStoreHasTheCompiledOne) {
  const Environment scripted = test::scripted_environment();
  SessionOptions options = test::scripted();
  options.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  ASSERT_EQ(Session::create(scripted, model_, options)->cache_use().outcome,
            CacheUse::Outcome::kMiss);
  options.set_optimized_model_file_path(saved_);
  const auto session = Session::create(scripted, model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->cache_use().outcome, CacheUse::Outcome::kUncached);
  EXPECT_THAT(session->cache_use().reason, HasSubstr("session.optimized_model_file_path"));
  EXPECT_THAT(operators_of(test::import_file(saved_)), ElementsAre("Add"));
}

TEST_F(OptimizedModel, IsNotWrittenWhereNoSessionIsCreated) {
  EXPECT_THAT(partition_model(environment(), model_, saving(saved_)), IsOk());
  EXPECT_THAT(plan_model(environment(), model_, saving(saved_)), IsOk());
  EXPECT_FALSE(std::filesystem::exists(saved_));
}

}  // namespace
}  // namespace ephost::optimized_model_test
