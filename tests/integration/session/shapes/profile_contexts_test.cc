// Context models for profiles of shapes: what compile_model writes beside the model as it is, and
// what a session makes of it.
#include <gmock/gmock.h>

#include <functional>

#include "host/base/hash.h"
#include "host/context/metadata.h"
#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::profile_contexts_test {
namespace {

using test::fixed;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kProfiles = "batch=1:2:8,seq=3;batch=4,seq=5";

class ProfileContexts : public ::testing::Test {
 protected:
  ProfileContexts() { set_log_level(LoggingLevel::kInfo); }
  ~ProfileContexts() override { set_log_level(LoggingLevel::kWarning); }

  Result<CompileReport> compile(const std::string& symbols = "*", bool embed = false) {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = folder_ / "model_ctx.onnx";
    compilation.ep_context_embed_mode = embed;
    compilation.force_overwrite = true;
    return compile_model(test::scripted_environment(), fixed(symbols, {{"profiles", kProfiles}}),
                         compilation);
  }
  Result<Session> load(const OptionList& entries = {}, const std::string& symbols = "*") {
    return Session::create(test::scripted_environment(), folder_ / "model_ctx.onnx",
                           fixed(symbols, entries));
  }
  static void run(Session& session, const std::vector<int64_t>& shape) {
    const auto outputs = session.run({{{"x", test::floats_of(shape)}}});
    ASSERT_THAT(outputs, IsOk());
    const std::span<const float> got = (*outputs)[0].elements<float>();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), test::open_result(shape));
  }
  size_t count(const std::string& text) const {
    size_t found = 0;
    const std::string log = log_.text();
    for (size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++found;
    return found;
  }
  // Changes what the context model lists about specialisations.
  void restate(
      const std::function<void(std::map<std::string, context::ContentChecksum>&)>& change) {
    graph::Model model = test::import_file(folder_ / "model_ctx.onnx");
    context::ContextMetadata metadata = *context::read_metadata(model.metadata);
    change(metadata.specializations);
    context::write_metadata(metadata, model.metadata);
    test::save(folder_, model, "model_ctx.onnx");
  }
  static context::ContentChecksum checksum_of(const std::filesystem::path& file) {
    const std::string bytes = test::read(file);
    return {.hash = content_checksum(std::as_bytes(std::span(bytes.data(), bytes.size()))),
            .size = bytes.size()};
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::open_model());
  test::LogCapture log_;
};

TEST_F(ProfileContexts, AreWrittenBesideTheModelAsItIsAndLoadedWithoutCompiling) {
  for (const bool embed : {false, true}) {
    const auto report = compile("*", embed);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->output_path, folder_ / "model_ctx.onnx");
    EXPECT_EQ(report->partitions.size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "model_ctx_2x3.onnx"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "model_ctx_4x5.onnx"));
    const size_t compiled = count("compiles partition");
    const size_t restored = count("restores partition");

    auto session = load({{"runs_before", "1000"}});
    ASSERT_THAT(session, IsOk());
    ASSERT_EQ(session->specializations().size(), 2U);
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{2, 3}, {4, 5}, {7, 7}, {2, 3}}) {
      run(*session, shape);
    }
    EXPECT_EQ(session->specializations()[0].runs, 2U);
    EXPECT_EQ(session->specializations()[1].runs, 1U);
    EXPECT_EQ(count("compiles partition"), compiled);
    EXPECT_EQ(count("restores partition"), restored + 2);
  }
}

TEST_F(ProfileContexts, GoWithAModelThatIsCompiledWithOpenExtents) {
  // What needs no fixed `seq` is compiled for every shape, and once more for each batch.
  const auto report = compile("batch");
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model_ctx_2.onnx"));
  auto session = load({}, "batch");
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->specializations().size(), 2U);
  run(*session, {2, 9});
  run(*session, {3, 9});
}

TEST_F(ProfileContexts, LeaveOtherShapesToBeSpecialisedByRuns) {
  ASSERT_THAT(compile(), IsOk());
  auto session = load({{"runs_before", "0"}});
  ASSERT_THAT(session, IsOk());
  run(*session, {9, 9});
  EXPECT_EQ(session->specializations().size(), 3U);
}

TEST_F(ProfileContexts, AreLoadedOnlyAsFarAsTheSessionKeepsThem) {
  ASSERT_THAT(compile(), IsOk());
  auto one = load({{"max_specializations", "1"}});
  ASSERT_THAT(one, IsOk());
  EXPECT_EQ(one->specializations().size(), 1U);
  EXPECT_THAT(log_.text(), HasSubstr("the others are not loaded"));
  auto none = load({{"specialize", "off"}});
  ASSERT_THAT(none, IsOk());
  EXPECT_TRUE(none->specializations().empty());
}

TEST_F(ProfileContexts, AreIgnoredWhereNobodyWishesForThem) {
  ASSERT_THAT(compile(), IsOk());
  std::filesystem::remove(folder_ / "model_ctx_2x3.onnx");
  auto session = Session::create(test::scripted_environment(), folder_ / "model_ctx.onnx");
  ASSERT_THAT(session, IsOk());
  run(*session, {2, 3});
}

TEST_F(ProfileContexts, AreRefusedIfTheyAreDamagedOrMissing) {
  ASSERT_THAT(compile(), IsOk());
  const std::string sound = test::read(folder_ / "model_ctx_2x3.onnx");
  std::string damaged = sound;
  damaged[damaged.size() / 2] ^= 1;
  test::write(folder_ / "model_ctx_2x3.onnx", damaged);
  Status status = load().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("loading the specialised model \"model_ctx_2x3.onnx\""));
  EXPECT_THAT(status.message(), HasSubstr("its checksum is "));
  std::filesystem::remove(folder_ / "model_ctx_2x3.onnx");
  status = load().status();
  EXPECT_EQ(status.code(), StatusCode::kNoSuchFile);
  test::write(folder_ / "model_ctx_2x3.onnx", sound);
  EXPECT_THAT(load(), IsOk());
}

TEST_F(ProfileContexts, AreRefusedOutsideOfTheFolder) {
  ASSERT_THAT(compile(), IsOk());
  for (const char* name : {"../model_ctx_2x3.onnx", "/etc/passwd", "", "a/../../b.onnx"}) {
    restate([&](auto& stated) { stated = {{name, stated.begin()->second}}; });
    const Status status = load().status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidGraph) << name;
    EXPECT_THAT(status.message(), HasSubstr("loading the specialised model")) << name;
    ASSERT_THAT(compile(), IsOk());
  }
}

TEST_F(ProfileContexts, AreRefusedIfTheyBelongToAnotherModel) {
  ASSERT_THAT(compile(), IsOk());
  // One with another input, one that is open itself.
  test::save(folder_, test::scripted_model(), "other.onnx");
  for (const auto& [file, reason] :
       {std::pair{"other.onnx", "its input \"x\" is float[4], where the model has"},
        std::pair{"model.onnx", "it leaves \"batch\" open"}}) {
    restate([&](auto& stated) { stated = {{file, checksum_of(folder_ / file)}}; });
    const Status status = load().status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidGraph) << file;
    EXPECT_THAT(status.message(), HasSubstr(reason));
  }
}

TEST_F(ProfileContexts, AreRefusedTwiceForOneShape) {
  ASSERT_THAT(compile(), IsOk());
  std::filesystem::copy_file(folder_ / "model_ctx_2x3.onnx", folder_ / "copy.onnx");
  restate([&](auto& stated) { stated["copy.onnx"] = stated["model_ctx_2x3.onnx"]; });
  EXPECT_THAT(load().status().message(), HasSubstr("another one has the same extents, batch=2"));
}

TEST_F(ProfileContexts, AreVerified) {
  ASSERT_THAT(compile(), IsOk());
  const auto verify = [&] {
    return verify_context(test::scripted_environment(), folder_ / "model_ctx.onnx", {});
  };
  auto report = verify();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->problems, ElementsAre());
  EXPECT_EQ(report->nodes.size(), 2U);
  std::string damaged = test::read(folder_ / "model_ctx_4x5.onnx");
  damaged[damaged.size() / 2] ^= 1;
  test::write(folder_ / "model_ctx_4x5.onnx", damaged);
  report = verify();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->problems,
              ElementsAre(HasSubstr("the specialised model \"model_ctx_4x5.onnx\": its checksum")));
}

TEST_F(ProfileContexts, NeedAFolder) {
  std::vector<std::byte> buffer;
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_buffer = &buffer;
  const Status status = compile_model(test::scripted_environment(),
                                      fixed("*", {{"profiles", kProfiles}}), compilation)
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("set output_model_path"));

  ASSERT_THAT(compile(), IsOk());
  const std::string bytes = test::read(folder_ / "model_ctx.onnx");
  SessionOptions options = fixed("*");
  const auto create = [&] {
    return Session::create(test::scripted_environment(), test::model_bytes(bytes), options);
  };
  EXPECT_THAT(create().status().message(), HasSubstr("set ep.context_file_path"));
  options.add_config_entry("ep.context_file_path", (folder_ / "model_ctx.onnx").native());
  const auto session = create();
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->specializations().size(), 2U);
}

TEST_F(ProfileContexts, ShowWhatProvidersWouldTake) {
  const auto open = partition_model(test::scripted_environment(), model_, fixed("*"));
  ASSERT_THAT(open, IsOk());
  EXPECT_THAT(open->notes,
              ElementsAre("ScriptedExecutionProvider would take 3 nodes of the model, or run them "
                          "better, if the extents of inputs were fixed: batch, seq; sessions "
                          "specialise the model for the shapes that come"));
  EXPECT_TRUE(open->graphs[0].partitions.empty());
  const auto best =
      partition_model(test::scripted_environment(), model_, fixed("*", {{"profiles", kProfiles}}));
  ASSERT_THAT(best, IsOk());
  EXPECT_THAT(best->notes, ElementsAre("the model is specialised for batch=2, seq=3"));
  EXPECT_EQ(best->graphs[0].partitions.size(), 1U);
}

}  // namespace
}  // namespace ephost::profile_contexts_test
