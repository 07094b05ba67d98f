#include "tests/benchmarks/context_cache.h"

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "tests/benchmarks/primitives_only.h"
#include "tests/benchmarks/sessions.h"

namespace ephost::benchmarks {
namespace {

namespace fs = std::filesystem;

// The time that a file must be unchanged before its checksum is recorded
// (host/base/files/known_checksums.h).
constexpr std::chrono::seconds kSettling{3};

class ContextCache {
 public:
  ContextCache(fs::path model, const fs::path& work)
      : model_(std::move(model)),
        embedded_(work / "embedded_ctx.onnx"),
        external_(work / "external_ctx.onnx"),
        generated_(work / "generated_ctx.onnx"),
        store_(work / "store"),
        known_checksums_(work / "checksums") {}

  void cold_session(benchmark::State& state) const {
    measure(state, [&] { return time_session(model_, options()); });
  }

  void generation(benchmark::State& state) const {
    measure(state, [&] { return generate(generated_, false); });
  }

  void load(benchmark::State& state, bool embedded) const {
    if (!require(state, embedded)) return;
    measure(state, [&] { return time_session(embedded ? embedded_ : external_, options()); });
  }

  // The state after a boot, or without a folder for known checksums.
  void load_unknown(benchmark::State& state) const {
    if (!require(state, false)) return;
    measure(state, [&] { return time_session(external_, options(false)); });
  }

  // The model itself, whose context an earlier session has put into the store.
  void load_from_store(benchmark::State& state) const {
    SessionOptions with_store = options();
    with_store.add_config_entry("ep.cache_dir", store_.string());
    if (!fs::exists(store_) &&
        !prepare_twice(state, [&] { return time_session(model_, with_store).status(); })) {
      return;
    }
    measure(state, [&]() -> Result<Sample> {
      const Stopwatch stopwatch;
      EPHOST_ASSIGN_OR_RETURN(const Session session,
                              Session::create(environment(), model_, with_store));
      const Sample sample{stopwatch.seconds(), session.phases()};
      if (session.cache_use().outcome == CacheUse::Outcome::kHit) return sample;
      return Status(StatusCode::kFail, "the store has no entry: " + session.cache_use().reason);
    });
  }

  // The binary is mapped already, and the libraries are loaded.
  void second_session(benchmark::State& state) const {
    if (!require(state, false)) return;
    measure(state, [&]() -> Result<Sample> {
      EPHOST_ASSIGN_OR_RETURN(const Session first,
                              Session::create(environment(), external_, options()));
      return time_session(external_, options());
    });
  }

  // The part that no host can avoid.
  void primitives_only(benchmark::State& state) const {
    if (!require(state, false)) return;
    measure(state, [&] { return time_primitives_only(external_); });
  }

 private:
  [[nodiscard]] SessionOptions options(bool with_known_checksums = true) const {
    SessionOptions options;
    options.append_execution_provider("dnnl");
    options.add_config_entry("ep.known_checksums_dir",
                             with_known_checksums ? known_checksums_.string() : "");
    return options;
  }

  [[nodiscard]] Result<Sample> generate(const fs::path& output, bool embedded) const {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = output;
    compilation.ep_context_embed_mode = embedded;
    return time_generation(options(), compilation);
  }

  // When `work` runs the second time, its files are in memory and their checksums are known.
  [[nodiscard]] static bool prepare_twice(benchmark::State& state,
                                          const std::function<Status()>& work) {
    if (!prepare(state, work)) return false;
    std::this_thread::sleep_for(kSettling);
    return prepare(state, work);
  }

  // Generated at the first benchmark that needs it.
  [[nodiscard]] bool require(benchmark::State& state, bool embedded) const {
    const fs::path& context = embedded ? embedded_ : external_;
    if (fs::exists(context)) return true;
    return prepare_twice(state, [&] {
      return fs::exists(context) ? time_session(context, options()).status()
                                 : generate(context, embedded).status();
    });
  }

  fs::path model_;
  fs::path embedded_;
  fs::path external_;
  fs::path generated_;
  fs::path store_;
  fs::path known_checksums_;
};

}  // namespace

void register_context_cache(const std::string& name, const fs::path& model, const fs::path& work) {
  fs::create_directories(work);
  const auto cache = std::make_shared<const ContextCache>(model, work);
  const auto add = [&](const std::string& what, auto method) {
    register_benchmark(name + "/" + what,
                       [cache, method](benchmark::State& state) { method(*cache, state); });
  };
  add("cold session", [](const ContextCache& of, benchmark::State& s) { of.cold_session(s); });
  add("generation", [](const ContextCache& of, benchmark::State& s) { of.generation(s); });
  add("load embedded", [](const ContextCache& of, benchmark::State& s) { of.load(s, true); });
  add("load external", [](const ContextCache& of, benchmark::State& s) { of.load(s, false); });
  add("load unknown", [](const ContextCache& of, benchmark::State& s) { of.load_unknown(s); });
  add("load from store",
      [](const ContextCache& of, benchmark::State& s) { of.load_from_store(s); });
  add("second session", [](const ContextCache& of, benchmark::State& s) { of.second_session(s); });
  add("primitives only",
      [](const ContextCache& of, benchmark::State& s) { of.primitives_only(s); });
}

}  // namespace ephost::benchmarks
