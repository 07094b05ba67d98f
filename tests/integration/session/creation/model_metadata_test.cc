// What a session says that its model declares about itself.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::model_metadata_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

graph::Model described_model() {
  graph::Model model = test::scripted_model();
  model.producer_name = "trainer";
  model.domain = "com.example";
  model.doc = "a model";
  model.model_version = 7;
  model.graph.name = "main";
  model.graph.doc = "its graph";
  model.metadata = {{"b", "2"}, {"a", ""}, {"ephost.priority.x", "1"}};
  return model;
}

class ModelMetadataTest : public ::testing::Test {
 protected:
  static void expect_described(const Result<Session>& session, const std::string& producer) {
    ASSERT_THAT(session, IsOk());
    const ModelMetadata& metadata = session->model_metadata();
    EXPECT_EQ(metadata.producer_name, producer);
    EXPECT_EQ(metadata.graph_name, "main");
    EXPECT_EQ(metadata.domain, "com.example");
    EXPECT_EQ(metadata.description, "a model");
    EXPECT_EQ(metadata.graph_description, "its graph");
    EXPECT_EQ(metadata.version, 7);
    EXPECT_THAT(metadata.custom_metadata_map,
                ElementsAre(Pair("b", "2"), Pair("a", ""), Pair("ephost.priority.x", "1")));
  }

  test::TempDirectory folder_;
  Environment environment_ = scripted_environment();
  std::filesystem::path model_ = test::save(folder_, described_model());
};

TEST_F(ModelMetadataTest, IsWhatTheModelStates) {
  const auto session = Session::create(environment_, model_);
  expect_described(session, "trainer");
  EXPECT_EQ(session->model_metadata().lookup_custom_metadata_map("b"), "2");
  EXPECT_EQ(session->model_metadata().lookup_custom_metadata_map("a"), "");
  EXPECT_FALSE(session->model_metadata().lookup_custom_metadata_map("c"));
}

TEST_F(ModelMetadataTest, IsEmptyWhereTheModelStatesNothing) {
  const auto plain = test::save(folder_, test::scripted_model(), "plain.onnx");
  const auto session = Session::create(environment_, plain);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->model_metadata().producer_name, "");
  EXPECT_EQ(session->model_metadata().version, 0);
  EXPECT_THAT(session->model_metadata().custom_metadata_map, IsEmpty());
}

TEST_F(ModelMetadataTest, OfAContextModelIsTheSourceModelsWithoutEntriesOfTheContextCache) {
  const auto compiled = compile_model(environment_, scripted(),
                                      {.input_model_path = model_,
                                       .output_model_path = folder_ / "ctx.onnx",
                                       .error_if_no_nodes_compiled = true});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_GT(test::import_file(folder_ / "ctx.onnx").metadata.size(), 3U);
  expect_described(Session::create(environment_, folder_ / "ctx.onnx", scripted()), "ephost");
}

TEST_F(ModelMetadataTest, IsTheSameIfTheCacheStoreHasTheModel) {
  SessionOptions options = scripted();
  options.add_config_entry("ep.cache_dir", (folder_ / "cache").string());
  for (const auto outcome : {CacheUse::Outcome::kMiss, CacheUse::Outcome::kHit}) {
    const auto session = Session::create(environment_, model_, options);
    expect_described(session, "trainer");
    EXPECT_EQ(session->cache_use().outcome, outcome);
  }
}

}  // namespace
}  // namespace ephost::model_metadata_test
