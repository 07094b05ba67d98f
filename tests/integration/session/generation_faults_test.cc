// Line 10 of the requirements through whole sessions and compile_model: whatever operation on the
// output's file system fails, and wherever the process stops, the old context model or the new one
// is there, and the next generation that succeeds leaves nothing but its own files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "tests/integration/session/sample.h"
#include "tests/support/crashing_file_system.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::generation_faults_test {
namespace {

namespace fs = std::filesystem;
using test::CrashingFileSystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;

enum class Route { kCompileModel, kSession, kGroup };

struct GenerationVariant {
  std::string name;
  Route route = Route::kCompileModel;
  bool embed = false;
  std::string initializers = {};  // name of their file
  std::string old = {};           // the model whose context is replaced; empty: there is none
  bool old_is_compiled = true;
};

void PrintTo(const GenerationVariant& variant, std::ostream* out) { *out << variant.name; }

constexpr const char* kNew = "tiny_diamond";  // with compiled nodes and others that keep constants

SessionOptions generating(const GenerationVariant& variant, const fs::path& output) {
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", output.native());
  options.add_config_entry("ep.context_embed_mode", variant.embed ? "1" : "0");
  options.add_config_entry("ep.context_model_external_initializers_file_name",
                           variant.initializers);
  return options;
}

Status compile(const Environment& environment, const std::string& model, const fs::path& output,
               const GenerationVariant& variant, bool fuses = true) {
  ModelCompilationOptions options;
  options.input_model_path = test::model_path(model);
  options.output_model_path = output;
  options.ep_context_embed_mode = variant.embed;
  options.output_model_external_initializers_file = variant.initializers;
  return compile_model(environment, fuses ? test::with_dnnl() : SessionOptions(), options).status();
}

// Two sessions that share a binary; the second one writes.
Status generate_group(const Environment& environment, const TempDirectory& dir,
                      const GenerationVariant& variant) {
  for (const bool last : {false, true}) {
    SessionOptions options = generating(variant, dir / (last ? "second_ctx.onnx" : "m_ctx.onnx"));
    options.add_config_entry("ep.share_ep_contexts", "1");
    options.add_config_entry("ep.stop_share_ep_contexts", last ? "1" : "0");
    EPHOST_RETURN_IF_ERROR(Session::create(environment, test::model_path(kNew), options).status());
  }
  return Status::ok_status();
}

// Writes the context of kNew through `file_system`.
Status generate(const GenerationVariant& variant, const TempDirectory& dir,
                const FileSystem& file_system) {
  const Environment environment = test::environment();
  inside(environment).output_file_system = &file_system;
  switch (variant.route) {
    case Route::kCompileModel:
      return compile(environment, kNew, dir / "m_ctx.onnx", variant);
    case Route::kSession:
      return Session::create(environment, test::model_path(kNew),
                             generating(variant, dir / "m_ctx.onnx"))
          .status();
    case Route::kGroup:
      break;
  }
  return generate_group(environment, dir, variant);
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool are_close(const std::vector<Value>& a, const std::vector<Value>& b) {
  const auto close = [](float x, float y) { return std::abs(x - y) < 1e-4F + 1e-3F * std::abs(y); };
  return std::ranges::equal(a, b, [&](const Value& x, const Value& y) {
    return std::ranges::equal(x.elements<float>(), y.elements<float>(), close);
  });
}

class GenerationFaults : public ::testing::TestWithParam<GenerationVariant> {
 protected:
  void SetUp() override {
    const GenerationVariant& variant = GetParam();
    if (!variant.old.empty()) {
      const Status status = compile(test::environment(), variant.old, old_ / "m_ctx.onnx", variant,
                                    variant.old_is_compiled);
      ASSERT_THAT(status, IsOk());
      old_outputs_ = *test::run_model(test::model_path(variant.old), {});
    }
    new_outputs_ = *test::run_model(test::model_path(kNew), {});
    const TempDirectory dir;
    fs::copy(old_.path(), dir.path());
    ASSERT_THAT(generate(variant, dir, unsynced_), IsOk());
    complete_ = files_in(dir.path());
  }

  // Which model the context models in the folder compute: "old", "new", "none", or a failure.
  std::string state_of(const TempDirectory& dir) {
    std::string state = state_of(dir / "m_ctx.onnx");
    if (GetParam().route == Route::kGroup && state_of(dir / "second_ctx.onnx") != state) {
      return "a group of which one model is " + state;
    }
    return state;
  }

  std::string state_of(const fs::path& model) {
    if (!fs::exists(model)) return "none";
    const auto outputs = test::run_model(model, test::with_dnnl());
    if (!outputs.ok()) return outputs.status().to_string();
    if (are_close(*outputs, new_outputs_)) return "new";
    return are_close(*outputs, old_outputs_) ? "old" : "something else";
  }

  // However a generation ended, the state must be valid, and the next generation must succeed.
  void expect_whole(const TempDirectory& dir, const Status& status) {
    const std::string state = state_of(dir);
    ASSERT_THAT(state, AnyOf(old_outputs_.empty() ? "none" : "old", "new"));
    if (status.ok()) {
      ASSERT_EQ(state, "new");
    }
    // A session doesn't replace an output.
    if (GetParam().route != Route::kCompileModel && state == "new") return;
    const Status next = generate(GetParam(), dir, unsynced_);
    ASSERT_THAT(next, IsOk());
    ASSERT_EQ(state_of(dir), "new");
    ASSERT_EQ(files_in(dir.path()), complete_);
  }

  // One generation through `file_system`, which fails somewhere.
  void expect_old_or_new(const FileSystem& file_system) {
    const TempDirectory dir;
    fs::copy(old_.path(), dir.path());
    const Status status = generate(GetParam(), dir, file_system);
    // The message names a file, and no temporary file is left, because the process continues.
    if (!status.ok()) {
      ASSERT_THAT(status.message(), HasSubstr(dir.path().native()));
    }
    ASSERT_THAT(files_in(dir.path()), IsSubsetOf(complete_));
    expect_whole(dir, status);
  }

  const TempDirectory old_;
  std::vector<Value> old_outputs_;
  std::vector<Value> new_outputs_;
  std::vector<std::string> complete_;  // files of the new state
  CrashingFileSystem unsynced_;        // fails nothing
};

TEST_P(GenerationFaults, AnyFailedFileOperationLeavesTheOldOrTheNewState) {
  for (int operation = 0;; ++operation) {
    FaultyFileSystem faulty;
    faulty.fail_at = operation;
    faulty.error = operation % 2 == 0 ? EIO : ENOSPC;
    faulty.skips_syncs = true;
    expect_old_or_new(faulty);
    if (HasFatalFailure()) FAIL() << "operation " << operation;
    if (faulty.operations() <= operation) break;
  }
}

TEST_P(GenerationFaults, AFullDiskLeavesTheOldState) {
  FaultyFileSystem enough;
  enough.skips_syncs = true;
  expect_old_or_new(enough);
  const size_t needed = std::numeric_limits<size_t>::max() - enough.room;
  for (const size_t room : {size_t{0}, size_t{1}, needed / 2, needed - 1}) {
    FaultyFileSystem faulty;
    faulty.skips_syncs = true;
    faulty.room = room;
    expect_old_or_new(faulty);
    ASSERT_EQ(faulty.room, 0U);
  }
}

TEST_P(GenerationFaults, CompletesShortWrites) {
  FaultyFileSystem slow;
  slow.skips_syncs = true;
  slow.most_bytes_per_call = 100;
  const TempDirectory dir;
  const Status status = generate(GetParam(), dir, slow);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(state_of(dir), "new");
}

TEST_P(GenerationFaults, ACrashAtAnyPointLeavesTheOldOrTheNewState) {
  for (int change = 0;; ++change) {
    const TempDirectory dir;
    fs::copy(old_.path(), dir.path());
    CrashingFileSystem crashing;
    crashing.crash_at = change;
    const Status status = generate(GetParam(), dir, crashing);
    if (GetParam().route == Route::kGroup) {
      // Each in its own folder: an existing model would stop the next generation.
      for (const char* model : {"m_ctx.onnx", "second_ctx.onnx"}) {
        ASSERT_THAT(state_of(dir / model), AnyOf("none", "new")) << "change " << change;
      }
    } else {
      expect_whole(dir, status);
    }
    if (HasFatalFailure()) FAIL() << "change " << change;
    if (crashing.changes() <= change) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachRoute, GenerationFaults,
    ::testing::Values(
        GenerationVariant{.name = "New"}, GenerationVariant{.name = "Replacing", .old = "tiny_cnn"},
        GenerationVariant{.name = "EmbeddedReplacing", .embed = true, .old = "tiny_cnn"},
        GenerationVariant{.name = "InitializersReplacing",
                          .initializers = "weights",
                          .old = "tiny_cnn",
                          .old_is_compiled = false},
        GenerationVariant{.name = "Session", .route = Route::kSession},
        GenerationVariant{.name = "SessionEmbedded", .route = Route::kSession, .embed = true},
        GenerationVariant{.name = "Group", .route = Route::kGroup}),
    [](const auto& variant) { return variant.param.name; });

}  // namespace
}  // namespace ephost::generation_faults_test
