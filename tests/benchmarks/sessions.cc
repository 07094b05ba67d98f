#include "tests/benchmarks/sessions.h"

#include <cstdlib>
#include <iostream>
#include <utility>

namespace ephost::benchmarks {

const Environment& environment() {
  static const Environment created = [] {
    EnvironmentOptions options;
    options.plugin_directories = {EPHOST_PLUGINS, EPHOST_FIXTURES "/scripted"};
    options.search_default_directories = false;
    Result<Environment> result = Environment::create(options);
    if (!result.ok()) {
      std::cerr << result.status().to_string() << '\n';
      std::exit(EXIT_FAILURE);
    }
    return std::move(result).value();
  }();
  return created;
}

Result<Sample> time_session(const std::filesystem::path& model, const SessionOptions& options) {
  const Stopwatch stopwatch;
  EPHOST_ASSIGN_OR_RETURN(const Session session, Session::create(environment(), model, options));
  return Sample{stopwatch.seconds(), session.phases(), {}};
}

Result<Sample> time_generation(const SessionOptions& options,
                               const ModelCompilationOptions& compilation) {
  const Stopwatch stopwatch;
  EPHOST_RETURN_IF_ERROR(compile_model(environment(), options, compilation).status());
  return Sample{stopwatch.seconds(), {}, {}};
}

}  // namespace ephost::benchmarks
