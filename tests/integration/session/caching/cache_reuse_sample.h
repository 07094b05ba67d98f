// Sessions with a cache store and scripted providers that log each partition that they compile or
// restore, for the tests of contexts that are taken over from older entries.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/context/store/owned_folder.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::test {

// Everything that a session is made of. The provider "fixture" claims nothing.
struct CacheSetup {
  std::function<void(graph::Model&)> edit = [](graph::Model&) {};
  std::string weights;  // the file of the model's external data; empty: none
  std::vector<std::pair<std::string, OptionList>> providers = {{"scripted", {}}, {"fixture", {}}};
  std::vector<std::pair<std::string, std::string>> config;
  std::string host_version = "1.0.0";
  std::filesystem::path scripted = fixture_directory("scripted");
  std::filesystem::path idle = fixture_directory("good");
  std::filesystem::path cpu = EPHOST_PLUGINS;

  OptionList& options_of(const std::string& provider) {
    return std::ranges::find(providers, provider, &decltype(providers)::value_type::first)->second;
  }
};

struct SeenSession {
  CacheUse use;
  size_t compiled = 0;  // partitions
  size_t restored = 0;
  std::string log;
  Status status;
};

inline size_t count_in(std::string_view text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Captures remarks too.
class InfoCapture : public LogCapture {
 public:
  InfoCapture() { set_log_level(LoggingLevel::kInfo); }
  InfoCapture(const InfoCapture&) = delete;
  InfoCapture& operator=(const InfoCapture&) = delete;
  ~InfoCapture() { set_log_level(LoggingLevel::kWarning); }
};

class CacheReuse : public ::testing::Test {
 protected:
  [[nodiscard]] static Environment environment(const CacheSetup& setup) {
    EnvironmentOptions options;
    options.plugin_directories = {setup.scripted, setup.idle, setup.cpu};
    options.search_default_directories = false;
    Environment created = *Environment::create(options);
    inside(created).host_version = setup.host_version;
    return created;
  }

  [[nodiscard]] SessionOptions options(const CacheSetup& setup) const {
    SessionOptions options;
    for (const auto& [name, list] : setup.providers) options.append_execution_provider(name, list);
    options.add_config_entry("ep.cache_dir", store_.string());
    for (const auto& [key, value] : setup.config) options.add_config_entry(key, value);
    return options;
  }

  [[nodiscard]] std::filesystem::path model(const CacheSetup& setup) const {
    graph::Model model = scripted_model();
    setup.edit(model);
    std::filesystem::remove(dir_ / "model.onnx");
    if (!setup.weights.empty()) std::filesystem::remove(dir_ / setup.weights);
    return save(dir_, model, "model.onnx", setup.weights);
  }

  static SeenSession seen(const LogCapture& log) {
    return {.compiled = count_in(log.text(), "compiles partition"),
            .restored = count_in(log.text(), "restores partition"),
            .log = log.text()};
  }

  // Creates and runs a session, and compares its results with those of the CPU provider alone.
  [[nodiscard]] SeenSession open(const CacheSetup& setup) const {
    const std::filesystem::path file = model(setup);
    const std::vector<Value> expected = expected_outputs(file);
    const InfoCapture log;
    Result<Session> session = Session::create(environment(setup), file, options(setup));
    SeenSession found = seen(log);
    found.status = session.status();
    if (!session.ok()) return found;
    found.use = session->cache_use();
    expect_close(*run(*session), expected);
    return found;
  }
  [[nodiscard]] SeenSession open_without_compiling(CacheSetup setup) const {
    setup.config.emplace_back("session.disable_model_compile", "1");
    return open(setup);
  }

  void expect_hit(const CacheSetup& setup, size_t partitions = 2) const {
    const SeenSession hit = open_without_compiling(setup);
    EXPECT_THAT(hit.status, IsOk());
    EXPECT_EQ(hit.use.outcome, CacheUse::Outcome::kHit) << hit.log;
    EXPECT_EQ(hit.use.reused_contexts, 0U);
    EXPECT_EQ(hit.restored, partitions);
  }

  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return store_ / context::kStoreFolderName / name;
  }
  [[nodiscard]] std::filesystem::path entry(const CacheUse& use) const {
    return folder("ephost-entry-" + use.key);
  }
  [[nodiscard]] std::filesystem::path quarantined(const CacheUse& use) const {
    return folder("ephost-quarantined-" + use.key);
  }

  // A copy of a folder with plugins, in which the library has other bytes but does the same.
  [[nodiscard]] std::filesystem::path rebuilt(const std::filesystem::path& plugins,
                                              const std::string& library) const {
    const std::filesystem::path copy = dir_ / ("rebuilt_" + library);
    std::filesystem::copy(
        plugins, copy,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing);
    const std::string bytes = read(copy / library) + "rebuilt";
    std::filesystem::remove(copy / library);
    write(copy / library, bytes);
    return copy;
  }

  const TempDirectory dir_;
  std::filesystem::path store_ = dir_ / "store";
};

inline CacheSetup updated_host() {
  CacheSetup setup;
  setup.host_version = "1.0.1";
  return setup;
}

}  // namespace ephost::test
