// What sessions leave alone in the process and in the home of its user.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/support/process_state.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// A folder of the check that stands for the home of the user.
class Home {
 public:
  explicit Home(const Subject& subject) : folder_(subject.scratch / "home") {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    const auto put = [&](const char* variable, const char* inside) {
      ::setenv(variable, (folder_ / inside).c_str(), 1);
    };
    put("HOME", "");
    put("XDG_CACHE_HOME", ".cache");
    put("XDG_DATA_HOME", ".local/share");
    put("XDG_STATE_HOME", ".local/state");
  }
  // A file in it that is not the host's; empty if there is none.
  [[nodiscard]] std::string find_file() const {
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, ignored)) {
      const fs::path inside = entry.path().lexically_relative(folder_);
      const bool is_hosts = std::ranges::find(inside, fs::path("ephost")) != inside.end();
      if (!is_hosts && !entry.is_directory(ignored)) return inside.native();
    }
    return {};
  }

 private:
  const fs::path folder_;
};

}  // namespace

void check_settings(const Subject& subject, Report& report) {
  // The handlers of the host are there before the first session is.
  Result<Bench> bench = Bench::open(subject);
  const ProcessState before = ProcessState::settings();
  const auto judge = [&](const std::string& what) {
    if (report.findings().empty()) judge_state(before, ProcessState::settings(), what, report);
  };
  if (!bench.ok() || !bench->keep_loaded().ok()) {
    return report.leave_out("there is no session with this provider");
  }
  judge("creating a session");
  for (const Sample& sample :
       need_samples(*bench, {.count = 4, .time = milliseconds(2000)}, report)) {
    {
      Result<Session> session = bench->load(sample.model, bench->options());
      judge("creating a session of " + sample.name);
      if (session.ok()) (void)session->run(sample.inputs.front());
      judge("running " + sample.name);
    }
    judge("ending a session of " + sample.name);
  }
}

void check_home(const Subject& subject, Report& report) {
  const Home home(subject);
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  for (const Sample& sample :
       need_samples(*bench, {.count = 3, .time = milliseconds(2000)}, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    if (session.ok()) (void)session->run(sample.inputs.front());
  }
  const std::string file = home.find_file();
  if (file.empty()) return;
  report.fail(
      formatted("sessions have left the file {} in the home of the user", quote(file)),
      "keep what was compiled in contexts, which the host stores; an exclusion may say that "
      "a driver does not let you");
}

}  // namespace ephost::conformance
