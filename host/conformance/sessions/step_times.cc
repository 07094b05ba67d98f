#include "host/conformance/sessions/step_times.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace ephost::conformance {

Result<StepTime> longest_step(const Bench& bench, const std::string& model, const Inputs& inputs) {
  SessionOptions options = bench.options();
  options.enable_profiling((bench.subject().scratch / "profile.json").native());
  EPHOST_ASSIGN_OR_RETURN(Session session, bench.load(model, options));
  for (int i = 0; i < 4; ++i) EPHOST_RETURN_IF_ERROR(session.run(inputs).status());
  EPHOST_ASSIGN_OR_RETURN(const std::string file, session.end_profiling());
  const auto profile = nlohmann::json::parse(std::ifstream(file));

  using Microseconds = std::chrono::duration<double, std::micro>;
  StepTime of_run;
  StepTime of_last_run;
  for (const auto& event : profile.at("traceEvents")) {
    const std::string category = event.value("cat", "");
    const Microseconds begin(event.at("ts").get<double>());
    const Microseconds length(event.at("dur").get<double>());
    if (category == "run") {  // its steps came before it
      of_last_run = {of_run.begin - begin, of_run.length};
      of_run = {};
    } else if (category == "step") {
      const bool is_own = event.at("args").at("provider") == bench.plugin().provider;
      if (is_own && length > of_run.length) of_run = {begin, length};
    }
  }
  return of_last_run;
}

}  // namespace ephost::conformance
