// Sizes for the dimensions that a model leaves open.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::dimension_overrides_test {
namespace {

using test::environment;
using test::IsOk;
using test::LogCapture;
using test::model_path;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kByName = "session.free_dimension_override_by_name.";

// The name of the open dimension of tiny_dynamic.
std::string symbol() {
  const auto session = Session::create(environment(), model_path("tiny_dynamic"));
  return session->inputs()[0].dim_names[0];
}

SessionOptions with_size(int64_t size, SessionOptions options = {}) {
  options.add_free_dimension_override_by_name(symbol(), size);
  return options;
}

TEST(DimensionOverridesOfASession, MakeEverythingStatic) {
  auto open = Session::create(environment(), model_path("tiny_dynamic"));
  ASSERT_THAT(open, IsOk());
  EXPECT_THAT(open->planned_memory(), IsEmpty());
  auto session = Session::create(environment(), model_path("tiny_dynamic"), with_size(3));
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->inputs()[0].shape[0], 3);
  EXPECT_EQ(session->outputs()[0].shape[0], 3);
  EXPECT_THAT(session->planned_memory(), Not(IsEmpty()));
  const std::vector<NamedValue> inputs = test::random_inputs(*session);
  const auto outputs = session->run(inputs);
  ASSERT_THAT(outputs, IsOk());
  test::expect_close(*outputs, *open->run(inputs));
  EXPECT_EQ(session->run(test::random_inputs(*open, 2)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(DimensionOverridesOfASession, ApplyToPlansAndPartitions) {
  const auto sizes = [](const SessionOptions& options) {
    std::vector<bool> known;
    const auto plans = plan_model(environment(), model_path("tiny_dynamic"), options);
    EXPECT_THAT(plans, IsOk());
    for (const PlannedValue& value : plans->front().values) {
      known.push_back(value.bytes.has_value());
    }
    return known;
  };
  EXPECT_THAT(sizes({}), Not(Each(true)));
  EXPECT_THAT(sizes(with_size(2)), Each(true));
  EXPECT_THAT(partition_model(environment(), model_path("tiny_dynamic"), with_size(2)), IsOk());
}

// x[n] -> Relu -> Neg -> y[n].
std::filesystem::path save_open_model(const TempDirectory& folder) {
  const graph::ValueType type =
      graph::testing::tensor_type(ElementType::kFloat, graph::Shape{graph::symbolic_dim(0)});
  graph::testing::GraphBuilder builder;
  builder.input("x", type).node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"y"}).output("y");
  graph::Model model = test::model_of(builder.build());
  model.graph.values[model.graph.find_value("y")].type = type;
  model.symbols = {"n"};
  return test::save(folder, model);
}

TEST(DimensionOverridesOfASession, AreCompiledIntoContextModels) {
  const TempDirectory folder;
  SessionOptions options = test::scripted();
  options.add_free_dimension_override_by_name("n", 2);
  const auto report = compile_model(test::scripted_environment(), options,
                                    {.input_model_path = save_open_model(folder),
                                     .output_model_path = folder / "ctx.onnx",
                                     .error_if_no_nodes_compiled = true});
  ASSERT_THAT(report, IsOk());
  auto session =
      Session::create(test::scripted_environment(), folder / "ctx.onnx", test::scripted());
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->inputs()[0].shape[0], 2);
  EXPECT_THAT(session->run(test::random_inputs(*session)), IsOk());
}

TEST(DimensionOverridesOfASession, BelongToTheKeyOfTheCacheStore) {
  const TempDirectory folder;
  const auto model = save_open_model(folder);
  const LogCapture log;
  const auto use = [&](int64_t extent) {
    SessionOptions options = test::scripted();
    options.add_config_entry("ep.cache_dir", (folder / "cache").string());
    if (extent >= 0) options.add_free_dimension_override_by_name("n", extent);
    auto session = Session::create(test::scripted_environment(), model, options);
    EXPECT_THAT(session, IsOk());
    EXPECT_EQ(session->inputs()[0].shape[0], extent);
    EXPECT_THAT(session->run(test::random_inputs(*session)), IsOk());
    return session->cache_use().outcome;
  };
  EXPECT_EQ(use(-1), CacheUse::Outcome::kMiss);
  EXPECT_EQ(use(2), CacheUse::Outcome::kMiss);
  EXPECT_EQ(use(3), CacheUse::Outcome::kMiss);
  EXPECT_EQ(use(2), CacheUse::Outcome::kHit);
  EXPECT_EQ(use(-1), CacheUse::Outcome::kHit);
  // The model of the entry has no such dimension any more.
  EXPECT_THAT(log.text(), Not(HasSubstr("has no effect")));
}

TEST(DimensionOverridesOfASession, WarnAboutAnUnknownName) {
  const LogCapture log;
  SessionOptions options;
  options.add_free_dimension_override_by_name(symbol() + "x", 2);
  options.add_free_dimension_override_by_denotation("DATA_BATCH", 2);
  EXPECT_THAT(Session::create(environment(), model_path("tiny_dynamic"), options), IsOk());
  EXPECT_THAT(log.text(), AllOf(HasSubstr("the model has no dimension \"" + symbol() + "x\""),
                                HasSubstr("did you mean \"" + symbol() + "\"?"),
                                HasSubstr("with the denotation \"data_batch\"")));
}

TEST(DimensionOverridesOfASession, AreRefusedIfTheyAreNoSize) {
  for (const char* size : {"-1", "", "two", "1.5", "9223372036854775808"}) {
    SessionOptions options;
    options.add_config_entry(kByName + "batch", size);
    const Status refused =
        Session::create(environment(), model_path("tiny_dynamic"), options).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << size;
    EXPECT_THAT(refused.message(), HasSubstr("use the size of the dimension")) << size;
  }
}

TEST(DimensionOverridesOfASession, ComeFromASelectionFileToo) {
  const TempDirectory folder;
  test::write(folder / "selection.yaml",
              "selection: 1\nproviders: []\nsession:\n  " + kByName + symbol() + ": 3\n");
  SessionOptions options;
  ASSERT_THAT(options.load_selection(folder / "selection.yaml"), IsOk());
  const auto session = Session::create(environment(), model_path("tiny_dynamic"), options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->inputs()[0].shape[0], 3);
}

}  // namespace
}  // namespace ephost::dimension_overrides_test
