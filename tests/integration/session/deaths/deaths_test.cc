// Every kind of death in every function of the ABI, of the plugin and of the host, in a worker: the
// call fails and says so, another provider still works, and nothing is left behind.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/plugin/slots.h"
#include "tests/integration/session/deaths/plugin_life.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/process_contents.h"

namespace ephost::deaths_test {
namespace {

using test::IsOk;
using test::PluginLife;
using ::testing::HasSubstr;

// A place where the plugin may commit a fault (tests/fixtures/faulty/faults.h).
struct Place {
  std::string name;
  size_t step = 0;       // the first one that passes it
  std::string call;      // the function of the plugin that is called then
  bool is_host = false;  // a function of the host, which the plugin calls
};

struct Death {
  const char* name;
  const char* fault;
  const char* text;  // a regular expression for what the failure says
  OptionList entries;
  bool names_call;  // whether the worker can still say which function was called
};

std::ostream& operator<<(std::ostream& out, const Death& death) { return out << death.name; }

const OptionList kShortLimits = {{"session.isolation.probe_limit", "0.5"},
                                 {"session.isolation.compile_limit", "0.25"},
                                 {"session.isolation.run_limit", "0.25"}};
const OptionList kMemory = {{"session.isolation.memory", "268435456"}};
const OptionList kProcessor = {{"session.isolation.cpu_seconds", "1"}};

// The limits keep a test that fails from taking forever.
const OptionList kLongLimits = {{"session.isolation.probe_limit", "30"},
                                {"session.isolation.compile_limit", "30"},
                                {"session.isolation.run_limit", "30"}};

OptionList with(OptionList first, const OptionList& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const Death kDeaths[] = {
    {"Segmentation", "segv", "died of SIGSEGV at address 0x10", kLongLimits, true},
    {"Abort", "abort", "died of SIGABRT", kLongLimits, true},
    {"Trap", "ill", "died of SIGILL", kLongLimits, true},
    {"Arithmetic", "fpe", "died of SIGFPE", kLongLimits, true},
    {"Bus", "bus", "died of SIGBUS", kLongLimits, true},
    {"Kill", "kill", "died of SIGKILL", kLongLimits, false},
    {"Exit", "exit0", "exited with status 0", kLongLimits, true},
    {"ImmediateExit", "_exit3", "exited with status 3", kLongLimits, true},
    {"QuickExit", "quick_exit", "exited with status 0", kLongLimits, true},
    {"Exception", "noexcept", "died of SIGABRT", kLongLimits, true},
    {"StackOverflow", "overflow", "died of SIGSEGV at address", kLongLimits, true},
    {"Memory", "memory", "died of SIGABRT", with(kLongLimits, kMemory), true},
    {"ThreadEnd", "pthread_exit", "the plugin called pthread_exit|died of SIGABRT", kLongLimits,
     true},
    {"CrashOfAThread", "thread_segv", "died of SIGSEGV at address 0x10 in a thread of the plugin",
     kLongLimits, true},
    {"Hang", "hang", "was ended: it took longer than .* s, the limit of", kShortLimits, false},
};

// During the call, in a thread beside it; so the worker may also die after the call.
const Death kDeathsBeside[] = {
    {"Segmentation", "beside_segv", "died of SIGSEGV", kLongLimits, false},
    {"Kill", "beside_kill", "died of SIGKILL", kLongLimits, false},
    // While the process ends, its threads may meet what is gone already.
    {"Exit", "beside_exit0", "exited with status 0|died of SIG", kLongLimits, false},
    {"ImmediateExit", "beside__exit3", "exited with status 3", kLongLimits, false},
};

// What cannot fail: the host gives something up, and the worker dies instead of the object.
bool is_release(const Place& place) {
  return place.name == "eph_provider_api.destroy" || place.name == "eph_computation_api.destroy" ||
         place.name == "eph_computation_api.release_state" ||
         place.name == "eph_device_api.release" || place.name == "eph_device_api.close" ||
         place.name == "destructors";
}

std::vector<std::string> all_slots() {
  std::vector<std::string> names;
  const auto add = [&]<class Table>() {
    plugin::for_each_slot<Table>([&]<auto kMember>() {
      // Streams stay in the process.
      if (plugin::kIsOfThisProcess<kMember>) return;
      names.push_back(std::string(plugin::TableSlots<Table>::kTable) + "." +
                      std::string(plugin::kSlot<kMember>.name));
    });
  };
  plugin::ProviderTables::for_each(add);
  plugin::HostObjectTables::for_each(add);
  plugin::HostExtensions::for_each(add);
  // What no layer stands between, and what is not a function of a table.
  for (const char* const other : {"constructors", "destructors", "eph_plugin_v1",
                                  "eph_plugin_preamble.get_api", "eph_plugin_api.get_extension",
                                  "eph_operators_api.get_operators", "eph_operator_def.infer"}) {
    names.emplace_back(other);
  }
  return names;
}

bool is_of_host(std::string_view place) {
  const std::string_view table = place.substr(0, place.find('.'));
  bool is_found = false;
  const auto compare = [&]<class Table>() {
    is_found = is_found || plugin::TableSlots<Table>::kTable == table;
  };
  plugin::HostObjectTables::for_each(compare);
  plugin::HostExtensions::for_each(compare);
  return is_found;
}

class Deaths : public ::testing::Test {
 protected:
  // What this process has of workers.
  struct Belongings {
    size_t descriptors = worker::open_descriptors();
    size_t shared_mappings = worker::shared_mappings();
    std::string children = worker::children();
    bool operator==(const Belongings&) const = default;
  };
  // The thread that watches the workers gives up the last of them a moment after they ended.
  static Belongings settled_belongings() {
    Belongings least;
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const Belongings now;
      if (now.descriptors < least.descriptors) least = now;
    }
    return least;
  }
  static void SetUpTestSuite() {
    ::setenv("EPHOST_QUARANTINE", "off", 1);  // its file belongs to the user
    ::setenv("EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM, 1);
    life_ = new PluginLife;
    SessionOptions options;
    options.add_config_entry("session.isolation.cpu", "worker");
    neighbour_ =
        new Session(*Session::create(life_->environment(), life_->file("model.onnx"), options));
    expected_ = new std::vector<Value>(*test::run(*neighbour_));
    places_ = new std::vector<Place>(find_places());
    belongings_ = new Belongings(settled_belongings());
  }
  static void TearDownTestSuite() {
    delete belongings_;
    delete places_;
    delete expected_;
    delete neighbour_;
    delete life_;
    ::unsetenv("EPHOST_WORKER_PROGRAM");
    ::unsetenv("EPHOST_QUARANTINE");
  }

  static std::vector<Place> find_places() {
    std::vector<Place> places;
    std::set<std::string> known;
    for (size_t step = 0; step < PluginLife::kSteps; ++step) {
      const std::filesystem::path file = life_->file("places.txt");
      ::setenv("EPHOST_FAULT_PLACES", file.c_str(), 1);
      for (const Status& failure : life_->take(step, {})) ADD_FAILURE() << failure.to_string();
      ::unsetenv("EPHOST_FAULT_PLACES");
      std::ifstream lines(file);
      std::string call;
      for (std::string name; std::getline(lines, name);) {
        if (!is_of_host(name)) call = name;
        if (known.insert(name).second) places.push_back({name, step, call, is_of_host(name)});
      }
      std::filesystem::remove(file);
    }
    return places;
  }

  static void expect_nothing_left() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (Belongings() != *belongings_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Belongings now;
    EXPECT_EQ(now.descriptors, belongings_->descriptors);
    EXPECT_EQ(now.shared_mappings, belongings_->shared_mappings);
    EXPECT_EQ(now.children, belongings_->children);
  }

  // Lets the plugin commit the fault in the step. The failures, in order; what can only be logged
  // comes last. The neighbour has to keep working, and nothing may be left.
  static PluginLife::Failures die(const Place& place, const Death& death) {
    const test::LogCapture log;
    const std::filesystem::path mark = life_->file("mark");
    ::setenv("EPHOST_FAULT_MARK", mark.c_str(), 1);
    ::setenv("EPHOST_FAULT", (place.name + ":" + death.fault).c_str(), 1);
    PluginLife::Failures failures = life_->take(place.step, death.entries);
    ::unsetenv("EPHOST_FAULT");
    ::unsetenv("EPHOST_FAULT_MARK");
    EXPECT_TRUE(std::filesystem::remove(mark)) << "the fault was not committed";
    const auto outputs = test::run(*neighbour_);
    EXPECT_THAT(outputs, IsOk());
    if (outputs.ok()) test::expect_close(*outputs, *expected_);
    expect_nothing_left();
    if (!log.text().empty()) failures.emplace_back(StatusCode::kEpFail, log.text());
    return failures;
  }

  // One that may come later: it is among the failures, if there are any. Returns whether there are.
  static bool expect_named_late(const PluginLife::Failures& failures, const Death& death) {
    std::string all;
    for (const Status& failure : failures) all += failure.to_string() + "\n";
    if (all.empty()) return false;
    EXPECT_THAT(all, HasSubstr("the worker of \"scripted\" "));
    EXPECT_TRUE(std::regex_search(all, std::regex(death.text))) << all;
    return true;
  }

  static void expect_named(const Status& failure, const Place& place, const Death& death) {
    EXPECT_EQ(failure.code(), StatusCode::kEpFail);
    EXPECT_THAT(failure.message(), HasSubstr("the worker of \"scripted\" "));
    EXPECT_THAT(failure.message(), HasSubstr("ScriptedExecutionProvider"));
    EXPECT_TRUE(std::regex_search(failure.message(), std::regex(death.text)));
    if (!death.names_call) return;
    const std::string call = place.call.substr(place.call.find('.') + 1);
    EXPECT_THAT(failure.message(),
                HasSubstr(call == "constructors" ? call + " of /" : call + " of Scripted"));
  }

  static PluginLife* life_;
  static Session* neighbour_;  // with another provider, in another worker
  static std::vector<Value>* expected_;
  static std::vector<Place>* places_;
  static Belongings* belongings_;  // before any death
};

PluginLife* Deaths::life_ = nullptr;
Session* Deaths::neighbour_ = nullptr;
std::vector<Value>* Deaths::expected_ = nullptr;
std::vector<Place>* Deaths::places_ = nullptr;
Deaths::Belongings* Deaths::belongings_ = nullptr;

TEST_F(Deaths, AreTriedInEveryFunctionOfTheAbi) {
  std::vector<std::string> passed;
  for (const Place& place : *places_) passed.push_back(place.name);
  std::vector<std::string> slots = all_slots();
  std::sort(passed.begin(), passed.end());
  std::sort(slots.begin(), slots.end());
  EXPECT_EQ(passed, slots);
}

class EveryDeath : public Deaths, public ::testing::WithParamInterface<Death> {};

TEST_P(EveryDeath, FailsTheCallAlone) {
  for (const Place& place : *places_) {
    SCOPED_TRACE(place.name);
    const PluginLife::Failures failures = die(place, GetParam());
    if (is_release(place)) {
      expect_named_late(failures, GetParam());
      continue;
    }
    ASSERT_FALSE(failures.empty());
    SCOPED_TRACE(failures[0].to_string());
    expect_named(failures[0], place, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDeath, ::testing::ValuesIn(kDeaths),
                         [](const auto& death) { return std::string(death.param.name); });

class EveryDeathBeside : public Deaths, public ::testing::WithParamInterface<Death> {};

// What the plugin has asked the host for is answered, or not; the worker dies at any moment.
TEST_P(EveryDeathBeside, ACallOfTheHostIsNoDeathOfTheHost) {
  int deaths_seen = 0;
  for (const Place& place : *places_) {
    if (!place.is_host) continue;
    SCOPED_TRACE(place.name);
    if (expect_named_late(die(place, GetParam()), GetParam())) ++deaths_seen;
  }
  EXPECT_GT(deaths_seen, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryDeathBeside, ::testing::ValuesIn(kDeathsBeside),
                         [](const auto& death) { return std::string(death.param.name); });

// A plugin that continues without descriptors may still answer, as long as it needs none.
TEST_F(Deaths, APluginThatClosesAllDescriptorsFailsItselfAlone) {
  const Death closes = {"Close", "close", "the worker of", kShortLimits, false};
  int failures_seen = 0;
  for (const Place& place : *places_) {
    SCOPED_TRACE(place.name);
    if (expect_named_late(die(place, closes), closes)) ++failures_seen;
  }
  EXPECT_GT(failures_seen, 0);
}

// The kernel counts in whole seconds, so a few calls have to do.
TEST_F(Deaths, EndlessWorkEndsAtTheLimitOfTheProcessor) {
  const Death works = {"Processor", "spin",
                       "died of SIGXCPU.*it used more than 1 s of processor time, its limit "
                       "cpu_seconds",
                       kProcessor, true};
  for (const Place& place : *places_) {
    if (place.name != "constructors" && place.name != "eph_provider_api.create" &&
        place.name != "eph_provider_api.compile" && place.name != "eph_computation_api.compute") {
      continue;
    }
    SCOPED_TRACE(place.name);
    const PluginLife::Failures failures = die(place, works);
    ASSERT_FALSE(failures.empty());
    SCOPED_TRACE(failures[0].to_string());
    expect_named(failures[0], place, works);
  }
}

}  // namespace
}  // namespace ephost::deaths_test
