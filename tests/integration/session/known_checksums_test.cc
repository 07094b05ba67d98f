// Loading large context binaries whose checksums were computed before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "host/base/files/file.h"
#include "host/base/hash.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::known_checksums_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using ::testing::HasSubstr;

class KnownChecksumsOfContexts : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = test::scripted({{"padding_bytes", "2000000"}});
    options_.add_config_entry("ep.known_checksums_dir", records_folder().string());
    ModelCompilationOptions compilation;
    compilation.input_model_path = test::save(folder_, test::scripted_model());
    compilation.output_model_path = context_;
    const auto report = compile_model(environment_, options_, compilation);
    ASSERT_THAT(report, IsOk());
    ASSERT_GE(fs::file_size(binary_), 2'000'000U);
    expected_ = test::expected_outputs(compilation.input_model_path);
    if (!InputFile::open(binary_).value().version().is_steady) {
      GTEST_SKIP() << "this file system does not report every change to a file";
    }
    settle();
  }

  // Files that changed less than two seconds ago are not recorded.
  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

  [[nodiscard]] fs::path records_folder() const { return folder_ / "checksums"; }
  [[nodiscard]] std::vector<fs::path> records() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(records_folder())) all.push_back(entry.path());
    return all;
  }
  Result<Session> load() { return Session::create(environment_, context_, options_); }

  // In the padding, which the provider does not read.
  void damage() {
    std::fstream file(binary_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1'000'000).put('!');
  }

  test::TempDirectory folder_;
  fs::path context_ = folder_ / "model_ctx.onnx";
  fs::path binary_ = folder_ / "model_scripted.bin";
  Environment environment_ = test::scripted_environment();
  SessionOptions options_;
  std::vector<Value> expected_;
};

TEST_F(KnownChecksumsOfContexts, AreRecordedByTheFirstLoadAndFoundByTheSecond) {
  test::expect_runs(load(), expected_);
  ASSERT_EQ(records().size(), 1U);
  const std::string checksum = test::read(records()[0]);
  test::expect_runs(load(), expected_);
  // A record is believed: here it has, for a file that was damaged before it was recorded, the
  // checksum that the model gives.
  damage();
  settle();
  EXPECT_FALSE(load().ok());
  ASSERT_EQ(records().size(), 2U);
  for (const fs::path& record : records()) test::write(record, checksum);
  EXPECT_THAT(load(), IsOk());
}

TEST_F(KnownChecksumsOfContexts, DoNotHideLaterDamage) {
  test::expect_runs(load(), expected_);
  damage();
  const auto session = load();
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(session.status().message(), HasSubstr("model_scripted.bin"));
}

TEST_F(KnownChecksumsOfContexts, ARecordThatIsWrongCostsOnlyTime) {
  test::expect_runs(load(), expected_);
  test::write(records()[0], to_hex({.high = 1, .low = 2}));
  test::expect_runs(load(), expected_);
}

TEST_F(KnownChecksumsOfContexts, AreNotKeptWithoutAFolder) {
  options_.add_config_entry("ep.known_checksums_dir", "");
  test::expect_runs(load(), expected_);
  EXPECT_FALSE(fs::exists(records_folder()));
}

}  // namespace
}  // namespace ephost::known_checksums_test
