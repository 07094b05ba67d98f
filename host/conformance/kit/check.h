// A check of the conformance kit: one thing that a rule of the ABI (plugin_sdk/ABI.md) asks of a
// plugin, tried from outside. The kit runs each check in a process of its own with a deadline, so
// that a check may do what a broken plugin answers with a crash, a hang or an exit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::conformance {

enum class Level {
  kBasic,  // what takes seconds
  kFull
};

// The provider that is examined.
struct Subject {
  std::filesystem::path manifest;                   // absolute
  std::string provider;                             // its short name
  std::vector<std::filesystem::path> plugin_paths;  // where sessions search, `manifest` first
  std::filesystem::path data;                       // of the kit: ONNX backend tests
  std::filesystem::path scratch;                    // an empty folder, removed after the check
  Level level = Level::kBasic;
  // Where sessions run the plugin: session.isolation.PROVIDER. Checks without sessions load the
  // library into their own process.
  std::string isolation = "none";
  uint64_t seed = 0;  // of everything that a check does at random
  // How many times as long as usual a check may search and repeat. What a seed leads to depends on
  // the time as well, so that a run that is to be reproduced gets more of it than the first one.
  uint32_t time_factor = 1;
};

// What a check finds. It passes if it finds nothing and is not left out.
class Report {
 public:
  struct Finding {
    std::string what;    // "compute of \"conv1\" wrote 4 bytes behind its workspace"
    std::string advice;  // what the vendor should do or look at
  };
  struct Figure {
    std::string name;  // "sessions", "slowest cancellation (ms)"
    double value = 0;
  };

  void fail(std::string what, std::string advice) {
    findings_.push_back({std::move(what), std::move(advice)});
  }
  // The check does not apply: the provider does not offer what it is about.
  void leave_out(std::string reason) { reason_ = std::move(reason); }
  // What was counted or measured on the way, for the report.
  void note(std::string name, double value) { figures_.push_back({std::move(name), value}); }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }  // empty: it applies
  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }

 private:
  std::vector<Finding> findings_;
  std::string reason_;
  std::vector<Figure> figures_;
};

struct Check {
  int rule = 0;            // of ABI.md
  int number = 0;          // within its rule, from 1; "27.3" is how reports and exclusions name it
  std::string_view name;   // "truncated-payloads"; unique
  std::string_view title;  // what holds if it passes: "Every truncation of a payload is refused"
  Level level = Level::kBasic;
  std::chrono::seconds deadline{60};
  void (*run)(const Subject&, Report&) = nullptr;
};

// A piece of a check that needs a fresh process, with other addresses and other hash seeds: it gets
// the arguments of run_part (part.h), and what it returns is handed back.
struct Part {
  std::string_view name;  // unique
  std::string (*run)(const Subject&, std::span<const std::string> arguments) = nullptr;
};

}  // namespace ephost::conformance
