// Providers whose manifests say `deterministic: true`, and one that breaks the promise.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::deterministic_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Deterministic : public ::testing::Test {
 protected:
  Result<CompileReport> compile(const std::filesystem::path& model, const SessionOptions& options) {
    return compile_model(
        scripted_environment(), options,
        {.input_model_path = model, .output_model_path = output_, .check_deterministic = true});
  }
  void expect_same(const std::filesystem::path& model, const SessionOptions& options,
                   const std::string& provider) {
    const auto report = compile(model, options);
    ASSERT_THAT(report, IsOk());
    EXPECT_THAT(report->deterministic_providers, ElementsAre(provider)) << model;
    EXPECT_FALSE(report->partitions.empty());
  }

  test::TempDirectory folder_;
  std::filesystem::path output_ = folder_ / "out" / "m_ctx.onnx";
};

TEST_F(Deterministic, ProvidersWriteTheSameTwice) {
  std::filesystem::create_directory(folder_ / "out");
  const auto sample = test::save(folder_, test::scripted_model());
  expect_same(sample, scripted(), "ScriptedExecutionProvider");
  expect_same(sample, scripted({{"payloads", "each"}}), "ScriptedExecutionProvider");
  for (const char* name : {"tiny_cnn", "tiny_mlp", "tiny_diamond"}) {
    expect_same(test::model_path(name), test::with_dnnl(), "DnnlExecutionProvider");
  }
}

TEST_F(Deterministic, NamesTheProviderAndThePayloadThatVary) {
  std::filesystem::create_directory(folder_ / "out");
  const auto sample = test::save(folder_, test::scripted_model());
  const Status status = compile(sample, scripted({{"misbehave", "varying_payload"},
                                                  {"padding_bytes", "32"},
                                                  {"payloads", "each"}}))
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("ScriptedExecutionProvider says \"deterministic: true\" in its "
                              "manifest, but payload 0 (of partition \""),
                    HasSubstr("different bytes in two compilations of the same model")));
  EXPECT_THAT(test::files_in(folder_ / "out"), IsEmpty());
}

TEST_F(Deterministic, IsNotAskedOfThoseThatPromiseNothing) {
  std::filesystem::create_directory(folder_ / "out");
  const auto sample = test::save(folder_, test::scripted_model());
  const auto report = compile(sample, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->deterministic_providers, IsEmpty());
}

}  // namespace
}  // namespace ephost::deterministic_test
