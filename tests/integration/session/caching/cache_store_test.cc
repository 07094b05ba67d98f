// The cache store, tested through sessions with the scripted provider.
// `session.disable_model_compile`, which is not part of the key, shows whether a session compiled:
// with it, only a hit succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <fstream>
#include <thread>

#include "host/base/log.h"
#include "host/context/folder_lock.h"
#include "host/context/store/cache_entry.h"
#include "host/context/store/owned_folder.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"
#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::cache_store_test {
namespace {

using Outcome = CacheUse::Outcome;
using test::IsOk;
using test::model_path;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The scripted providers beside the installed ones.
Environment environment() {
  EnvironmentOptions options;
  options.plugin_directories = {test::fixture_directory("scripted"), EPHOST_PLUGINS};
  options.search_default_directories = false;
  return *Environment::create(options);
}

class CacheStoreSession : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path store() const { return dir_ / "store"; }
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return store() / context::kStoreFolderName / name;
  }
  [[nodiscard]] std::filesystem::path entry(const std::string& key) const {
    return folder("ephost-entry-" + key);
  }
  [[nodiscard]] std::filesystem::path quarantined(const std::string& key) const {
    return folder("ephost-quarantined-" + key);
  }

  [[nodiscard]] SessionOptions options(OptionList scripted = {}) const {
    SessionOptions options;
    options.append_execution_provider("scripted", std::move(scripted));
    options.add_config_entry("ep.cache_dir", store().string());
    return options;
  }

  // Creates and runs a session, compares its results with those of the CPU provider alone, and
  // returns what the store did.
  static CacheUse use(const std::filesystem::path& model, const SessionOptions& options) {
    const Environment here = environment();
    Result<Session> session = Session::create(here, model, options);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {};
    const std::vector<NamedValue> inputs = test::random_inputs(*session);
    Result<Session> plain = Session::create(here, model, {});
    // A context model needs its provider.
    if (plain.ok()) test::expect_close(*session->run(inputs), *plain->run(inputs));
    return session->cache_use();
  }

  static SessionOptions without_compilation(SessionOptions options) {
    options.add_config_entry("session.disable_model_compile", "1");
    return options;
  }

  // Options with an entry of their own; the store has no room for the entry of `key` besides.
  [[nodiscard]] SessionOptions with_room_for_one(const std::string& key) const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(entry(key))) {
      bytes += file.file_size();
    }
    SessionOptions small = options({{"claim", "every:2"}});
    small.add_config_entry("ep.cache_max_bytes", std::to_string(bytes * 3 / 2));
    return small;
  }

  [[nodiscard]] std::vector<std::string> names_in_store() const {
    std::vector<std::string> names;
    for (const auto& found : std::filesystem::directory_iterator(folder(""))) {
      names.push_back(found.path().filename().string());
    }
    std::erase(names, context::kStoreMarkerName);
    std::sort(names.begin(), names.end());
    return names;
  }

  const test::TempDirectory dir_;
  const std::filesystem::path model_ = model_path("tiny_residual");
};

TEST_F(CacheStoreSession, TheSecondSessionCompilesNothing) {
  const CacheUse first = use(model_, options());
  EXPECT_EQ(first.outcome, Outcome::kMiss);
  const CacheUse second = use(model_, without_compilation(options()));
  EXPECT_EQ(second.outcome, Outcome::kHit);
  EXPECT_EQ(second.key, first.key);
  EXPECT_THAT(names_in_store(), ::testing::ElementsAre("ephost-entry-" + first.key));
}

TEST_F(CacheStoreSession, WorksWithEveryModelAndWithDnnl) {
  for (const char* name :
       {"tiny_cnn", "tiny_mlp", "tiny_residual", "tiny_constants", "tiny_external", "tiny_quick"}) {
    SCOPED_TRACE(name);
    SessionOptions both = options();
    both.append_execution_provider("dnnl");
    EXPECT_EQ(use(model_path(name), both).outcome, Outcome::kMiss);
    EXPECT_EQ(use(model_path(name), without_compilation(both)).outcome, Outcome::kHit);
  }
}

// Somebody who may write to the store, and has no key, puts an entry in the place of another one.
TEST_F(CacheStoreSession, ASignedEntryCountsForItsOwnKeyAlone) {
  ::setenv("XDG_STATE_HOME", (dir_ / "state").c_str(), 1);
  const auto with_signatures = [&](OptionList scripted) {
    SessionOptions wanted = options(std::move(scripted));
    wanted.add_config_entry("session.signatures", "warn");
    return wanted;
  };
  const CacheUse first = use(model_, with_signatures({}));
  const CacheUse second = use(model_, with_signatures({{"claim", "every:2"}}));
  ASSERT_NE(first.key, second.key);
  const auto description = [&](const CacheUse& one) {
    const std::string text = test::read(entry(one.key) / context::kEntryFileName);
    return context::parse_cache_entry(text).value();
  };
  context::CacheEntry forged = description(first);
  forged.key_text = description(second).key_text;
  std::filesystem::remove_all(entry(second.key));
  std::filesystem::copy(entry(first.key), entry(second.key),
                        std::filesystem::copy_options::recursive);
  std::ofstream(entry(second.key) / context::kEntryFileName) << context::to_text(forged);
  const CacheUse third = use(model_, with_signatures({{"claim", "every:2"}}));
  EXPECT_EQ(third.outcome, Outcome::kMiss);
  EXPECT_THAT(third.reason, HasSubstr("signature"));
  EXPECT_EQ(use(model_, with_signatures({})).outcome, Outcome::kHit);
  ::unsetenv("XDG_STATE_HOME");
}

TEST_F(CacheStoreSession, IsUsedWhateverTheUmaskIs) {
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  const mode_t before = ::umask(0);
  EXPECT_EQ(use(model_, options()).outcome, Outcome::kMiss);
  const CacheUse second = use(model_, options());
  ::umask(before);
  EXPECT_EQ(second.outcome, Outcome::kHit) << second.reason;
}

TEST_F(CacheStoreSession, IsOffWithoutItsFolder) {
  SessionOptions off = options();
  off.add_config_entry("ep.cache_dir", "");
  EXPECT_EQ(use(model_, off).outcome, Outcome::kOff);
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(CacheStoreSession, GoesByContentWhereverItComesFrom) {
  const CacheUse first = use(model_, options());
  const std::string bytes = test::read(model_);
  const auto copy = dir_.write("another folder/another name.onnx", bytes);
  EXPECT_EQ(use(copy, options()).outcome, Outcome::kHit);
  const Result<Session> from_memory = Session::create(
      environment(), ModelBytes{std::as_bytes(std::span(bytes.data(), bytes.size()))}, options());
  ASSERT_THAT(from_memory, IsOk());
  EXPECT_EQ(from_memory->cache_use().outcome, Outcome::kHit);
  EXPECT_EQ(from_memory->cache_use().key, first.key);
}

TEST_F(CacheStoreSession, AChangedModelUnderTheSameNameIsAnotherOne) {
  const auto copy = dir_.write("model.onnx", test::read(model_));
  const CacheUse first = use(copy, options());
  auto model = onnx_io::import_model(model_);
  ASSERT_THAT(model, IsOk());
  model->doc += " changed";
  ASSERT_THAT(onnx_io::export_model(*model)->write(copy), IsOk());
  const CacheUse second = use(copy, options());
  EXPECT_EQ(second.outcome, Outcome::kMiss);
  EXPECT_NE(second.key, first.key);
}

TEST_F(CacheStoreSession, ChangedExternalDataIsAnotherModel) {
  const auto folder = dir_ / "model";
  std::filesystem::copy(model_path("tiny_external").parent_path(), folder,
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(use(folder / "model.onnx", options()).outcome, Outcome::kMiss);
  EXPECT_EQ(use(folder / "model.onnx", options()).outcome, Outcome::kHit);
  int changed = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (!file.is_regular_file() || file.path().filename() == "model.onnx") continue;
    std::string bytes = test::read(file);
    bytes[2] ^= 1;  // a low bit of the first float
    test::write(file, bytes);
    ++changed;
  }
  ASSERT_GT(changed, 0);
  EXPECT_EQ(use(folder / "model.onnx", options()).outcome, Outcome::kMiss);
}

TEST_F(CacheStoreSession, OptionsAndProvidersHaveEntriesOfTheirOwn) {
  std::vector<SessionOptions> all = {options(), options({{"claim", "every:1"}}),
                                     options({{"compatibility", "scripted 2"}}), options()};
  all.back().add_config_entry("ep.context_node_name_prefix", "left_");
  all.push_back(options());
  all.back().append_execution_provider("scripted_two");
  std::set<std::string> keys;
  for (const SessionOptions& each : all) {
    const CacheUse first = use(model_, each);
    EXPECT_EQ(first.outcome, Outcome::kMiss);
    EXPECT_EQ(use(model_, each).outcome, Outcome::kHit);
    keys.insert(first.key);
  }
  EXPECT_EQ(keys.size(), all.size());
}

TEST_F(CacheStoreSession, AnotherBuildOfAPluginHasEntriesOfItsOwn) {
  test::copy_fixture("scripted", dir_ / "plugins");
  const auto outcome = [&] {
    EnvironmentOptions options;
    options.plugin_directories = {dir_ / "plugins", EPHOST_PLUGINS};
    options.search_default_directories = false;
    const auto session = Session::create(*Environment::create(options), model_, this->options());
    EXPECT_THAT(session, IsOk());
    return session->cache_use().outcome;
  };
  EXPECT_EQ(outcome(), Outcome::kMiss);
  EXPECT_EQ(outcome(), Outcome::kHit);
  const auto library = dir_ / "plugins/libscripted.so";
  const std::string rebuilt = test::read(library) + "rebuilt";
  std::filesystem::remove(library);
  test::write(library, rebuilt);
  EXPECT_EQ(outcome(), Outcome::kMiss);
}

TEST_F(CacheStoreSession, EveryDamagedFileIsQuarantinedAndRebuilt) {
  const CacheUse first = use(model_, options());
  const auto place = entry(first.key);
  for (const auto& name : {"entry.txt", "model_ctx.onnx", "model_scripted.bin"}) {
    for (const bool removed : {false, true}) {
      SCOPED_TRACE(name + std::string(removed ? " removed" : " damaged"));
      const std::string intact = test::read(place / name);
      ASSERT_FALSE(intact.empty());
      std::filesystem::remove(place / name);
      std::string damaged = intact;
      damaged[damaged.size() / 2] ^= 1;
      if (!removed) test::write(place / name, damaged);
      const CacheUse rebuilt = use(model_, options());
      EXPECT_EQ(rebuilt.outcome, Outcome::kMiss);
      EXPECT_THAT(rebuilt.reason, HasSubstr(std::string(name) == "entry.txt" ? "entry" : name));
      EXPECT_TRUE(std::filesystem::exists(quarantined(first.key) / "reason.txt"));
      EXPECT_EQ(use(model_, without_compilation(options())).outcome, Outcome::kHit);
    }
  }
}

TEST_F(CacheStoreSession, AnEntryThatItsProviderRefusesIsQuarantinedAndRebuilt) {
  for (const auto& refusal :
       {std::pair("fail", "restore"), std::pair("compatibility", "unsupported")}) {
    SCOPED_TRACE(refusal.second);
    const SessionOptions refusing = options({refusal});
    const CacheUse first = use(model_, refusing);
    EXPECT_EQ(first.outcome, Outcome::kMiss);
    EXPECT_THAT(first.reason, IsEmpty());
    const CacheUse second = use(model_, refusing);
    EXPECT_EQ(second.outcome, Outcome::kMiss);
    EXPECT_FALSE(second.reason.empty());
    EXPECT_TRUE(std::filesystem::exists(quarantined(first.key)));
    EXPECT_TRUE(std::filesystem::exists(entry(first.key)));
  }
}

TEST_F(CacheStoreSession, AnEntryIsNotToBlameForWantOfMemoryOrOfADevice) {
  for (const StatusCode code : {StatusCode::kOutOfMemory, StatusCode::kDeviceLost}) {
    const SessionOptions refusing =
        options({{"fail", "restore"}, {"fail_code", std::to_string(static_cast<int>(code))}});
    const CacheUse first = use(model_, refusing);
    EXPECT_EQ(first.outcome, Outcome::kMiss);
    const CacheUse second = use(model_, refusing);
    EXPECT_EQ(second.outcome, Outcome::kUncached);
    EXPECT_THAT(second.reason, HasSubstr(std::string(status_code_name(code))));
    EXPECT_FALSE(std::filesystem::exists(quarantined(first.key)));
    EXPECT_TRUE(std::filesystem::exists(entry(first.key)));
  }
}

TEST_F(CacheStoreSession, WarnsAndGoesOnWhereTheStoreCannotBeUsed) {
  std::string logged;
  set_log_sink([&](LoggingLevel level, std::string_view message) {
    if (level == LoggingLevel::kWarning) logged += std::string(message) + "\n";
  });
  const auto expect_uncached = [&](const SessionOptions& options, std::string_view reason) {
    logged.clear();
    const CacheUse found = use(model_, options);
    EXPECT_EQ(found.outcome, Outcome::kUncached);
    EXPECT_THAT(found.reason, HasSubstr(std::string(reason)));
    EXPECT_THAT(logged, HasSubstr("continues without the cache store"));
    EXPECT_THAT(logged, HasSubstr(std::string(reason)));
  };
  SessionOptions on_a_file = options();
  on_a_file.add_config_entry("ep.cache_dir", dir_.write("file", "mine").string());
  expect_uncached(on_a_file, "is not a folder");
  SessionOptions nowhere = options();
  nowhere.add_config_entry("ep.cache_dir", "/proc/ephost-store");
  expect_uncached(nowhere, "/proc/ephost-store");
  SessionOptions foreign = options();
  dir_.write("foreign/ephost-context-cache/notes.txt", "mine");
  foreign.add_config_entry("ep.cache_dir", (dir_ / "foreign").string());
  expect_uncached(foreign, "has no CACHEDIR.TAG");
  EXPECT_EQ(test::read(dir_ / "foreign/ephost-context-cache/notes.txt"), "mine");
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  SessionOptions open = options();
  dir_.write("open/file", "mine");
  std::filesystem::permissions(dir_ / "open", std::filesystem::perms::all);
  open.add_config_entry("ep.cache_dir", (dir_ / "open").string());
  expect_uncached(open, "has the mode 0777");
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
  SessionOptions too_small = options();
  too_small.add_config_entry("ep.cache_max_bytes", "10");
  expect_uncached(too_small, "ep.cache_max_bytes");
  expect_uncached(options({{"fail", "context"}}), "scripted failure at context");
  expect_uncached(options({{"misbehave", "forgotten_node"}}), "wrote no context node");
  set_log_sink({});
}

TEST_F(CacheStoreSession, WaitsForTheStoreOnlySoLong) {
  ASSERT_EQ(use(model_, options()).outcome, Outcome::kMiss);
  const auto held = context::FolderLock::acquire(folder(""), {}, posix_file_system());
  ASSERT_THAT(held, IsOk());
  SessionOptions impatient = options({{"claim", "every:2"}});
  impatient.add_config_entry("ep.context_lock_timeout_ms", "10");
  const CacheUse locked_out = use(model_, impatient);
  EXPECT_EQ(locked_out.outcome, Outcome::kUncached);
  EXPECT_THAT(locked_out.reason, HasSubstr("has been locked by"));
  EXPECT_EQ(use(model_, options()).outcome, Outcome::kHit);
}

TEST_F(CacheStoreSession, ACancelledWaitForTheStoreCancelsTheSession) {
  ASSERT_EQ(use(model_, options()).outcome, Outcome::kMiss);
  const auto held = context::FolderLock::acquire(folder(""), {}, posix_file_system());
  ASSERT_THAT(held, IsOk());
  std::atomic<bool> cancelled = false;
  SessionOptions patient = options({{"claim", "every:2"}});
  patient.add_config_entry("ep.context_lock_timeout_ms", "3600000");
  patient.set_load_cancellation_flag(&cancelled);
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cancelled = true;
  });
  const auto session = Session::create(environment(), model_, patient);
  EXPECT_EQ(session.status().code(), StatusCode::kCancelled);
}

TEST_F(CacheStoreSession, StandsBackWhereItHasNothingToDo) {
  SessionOptions cpu_only;
  cpu_only.add_config_entry("ep.cache_dir", store().string());
  EXPECT_THAT(use(model_, cpu_only).reason, HasSubstr("compiled anything"));
  SessionOptions writing = options();
  writing.add_config_entry("ep.context_enable", "1");
  writing.add_config_entry("ep.context_file_path", (dir_ / "own_ctx.onnx").string());
  EXPECT_THAT(use(model_, writing).reason, HasSubstr("ep.context_enable"));
  EXPECT_THAT(use(dir_ / "own_ctx.onnx", options()).reason, HasSubstr("context model already"));
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(CacheStoreSession, StandsBackForAProviderThatCannotWriteContexts) {
  SessionOptions forgetful;
  forgetful.append_execution_provider("scripted_forgetful");
  forgetful.add_config_entry("ep.cache_dir", store().string());
  const CacheUse found = use(model_, forgetful);
  EXPECT_EQ(found.outcome, Outcome::kUncached);
  EXPECT_THAT(found.reason,
              HasSubstr("ScriptedForgetfulExecutionProvider cannot write an EP context"));
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(CacheStoreSession, AFailureThatIsNotTheEntrysIsTheSessions) {
  SessionOptions failing = options({{"fail", "compile"}});
  EXPECT_THAT(use(model_, failing).reason, HasSubstr("scripted failure at compile"));
  failing.add_config_entry("session.disable_ep_fallback", "1");
  EXPECT_EQ(Session::create(environment(), model_, failing).status().code(), StatusCode::kEpFail);
  EXPECT_FALSE(std::filesystem::exists(store()));
  EXPECT_EQ(Session::create(environment(), model_, without_compilation(options())).status().code(),
            StatusCode::kModelRequiresCompilation);
  SessionOptions malformed = options();
  malformed.add_config_entry("ep.cache_max_age_days", "a week");
  EXPECT_EQ(Session::create(environment(), model_, malformed).status().code(),
            StatusCode::kInvalidArgument);
}

// Compiles into a separate folder; returns what the store did.
CompileReport compile_into(const std::filesystem::path& folder, const std::filesystem::path& model,
                           const SessionOptions& options) {
  std::filesystem::create_directories(folder);
  ModelCompilationOptions compilation;
  compilation.input_model_path = model;
  compilation.output_model_path = folder / "model_ctx.onnx";
  auto report = compile_model(environment(), options, compilation);
  EXPECT_THAT(report, IsOk());
  return report.ok() ? std::move(*report) : CompileReport();
}

TEST_F(CacheStoreSession, CompileModelWritesTheSameFilesFromTheStore) {
  for (const char* payloads : {"one", "each"}) {
    SCOPED_TRACE(payloads);
    const SessionOptions with_store = options({{"claim", "every:1"}, {"payloads", payloads}});
    SessionOptions without_store = with_store;
    without_store.add_config_entry("ep.cache_dir", "");
    const CompileReport direct = compile_into(dir_ / "direct", model_, without_store);
    EXPECT_EQ(direct.cache_use.outcome, Outcome::kOff);
    const CompileReport missed = compile_into(dir_ / "missed", model_, with_store);
    EXPECT_EQ(missed.cache_use.outcome, Outcome::kMiss);
    const CompileReport hit = compile_into(dir_ / "hit", model_, without_compilation(with_store));
    EXPECT_EQ(hit.cache_use.outcome, Outcome::kHit);
    EXPECT_EQ(hit.remaining_nodes, direct.remaining_nodes);
    ASSERT_EQ(hit.partitions.size(), direct.partitions.size());
    for (size_t i = 0; i < hit.partitions.size(); ++i) EXPECT_GT(hit.partitions[i].nodes, 0U);
    for (const CompiledFile& file : direct.files) {
      const auto name = std::filesystem::path(file.path).filename();
      EXPECT_EQ(test::read(dir_ / "hit" / name.string()), test::read(file.path)) << name;
      EXPECT_EQ(test::read(dir_ / "missed" / name.string()), test::read(file.path)) << name;
    }
    EXPECT_EQ(use(model_, without_compilation(with_store)).outcome, Outcome::kHit);
  }
}

TEST_F(CacheStoreSession, RemovesWhatWasUsedLeastRecently) {
  const CacheUse first = use(model_, options());
  const CacheUse second = use(model_, with_room_for_one(first.key));
  EXPECT_EQ(second.outcome, Outcome::kMiss);
  EXPECT_THAT(names_in_store(), ::testing::ElementsAre("ephost-entry-" + second.key));
}

TEST_F(CacheStoreSession, KeepsTheEntryOfASessionThatLives) {
  const CacheUse first = use(model_, options());
  Result<Session> living = Session::create(environment(), model_, options());
  ASSERT_EQ(living->cache_use().outcome, Outcome::kHit);
  EXPECT_EQ(use(model_, with_room_for_one(first.key)).outcome, Outcome::kMiss);
  EXPECT_TRUE(std::filesystem::exists(entry(first.key)));
}

TEST_F(CacheStoreSession, ThreadsUseOneStoreAtOnce) {
  std::array<Outcome, 8> outcomes{};
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes) {
    threads.emplace_back([&] { outcome = use(model_, options()).outcome; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome outcome : outcomes) {
    EXPECT_TRUE(outcome == Outcome::kMiss || outcome == Outcome::kHit);
  }
  EXPECT_EQ(names_in_store().size(), 1U);
}

}  // namespace
}  // namespace ephost::cache_store_test
