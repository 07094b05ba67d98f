// random_graphs: runs random models with every provider, optimization level and context model and
// checks that all results agree. Each model has a number, its seed.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "tests/differential/campaign.h"
#include "tests/differential/case_files.h"
#include "tests/differential/shrink.h"

namespace ephost::test {
namespace {

struct Settings {
  uint64_t seed = 1;
  uint64_t count = 300;
  unsigned jobs = 1;
  std::string plugins = EPHOST_PLUGINS;
  std::string written;  // folder for the case of the seed
  bool shrinks = false;
};

// Written at once, since several processes write.
void print_line(const std::string& text) { std::cout << text + "\n" << std::flush; }

int run_all(const Settings& settings) {
  const Tally tally = run_seeds(settings.seed, settings.count, settings.jobs, settings.plugins,
                                [](uint64_t seed, const std::string& text) {
                                  print_line("seed " + std::to_string(seed) + ": " + text);
                                });
  std::ostringstream text;
  text << tally.cases << " graphs from seed " << settings.seed << " on, " << tally.compiled
       << " of them compiled in part by the dnnl provider, " << tally.open
       << " with open extents: " << tally.failures << " failed";
  if (tally.failures > 0) {
    text << "\nLook at one with: random_graphs --seed N --shrink --write FOLDER";
  }
  print_line(text.str());
  return tally.failures == 0 ? 0 : 1;
}

// The first way in which the case fails, and the reason.
std::optional<Failure> find_failure(const Case& tested, const Settings& settings, Way& failing) {
  for (const Way& way : ways_for(settings.seed)) {
    failing = way;
    if (auto failure = run_isolated(tested, {way}, settings.plugins)) return failure;
  }
  return std::nullopt;
}

int look_at_one(const Settings& settings) {
  Case tested = make_random_case(settings.seed);
  Way way;
  std::optional<Failure> failure = find_failure(tested, settings, way);
  if (failure && settings.shrinks) {
    tested = shrink(std::move(tested), [&](const Case& smaller) {
      const auto again = run_isolated(smaller, {way}, settings.plugins);
      return again && again->kind == failure->kind;
    });
    failure = run_isolated(tested, {way}, settings.plugins);
  }
  print_line("seed " + std::to_string(settings.seed) + ": " +
             (failure ? failure->text : "all agree") + "\n" + describe(tested));
  if (!settings.written.empty()) write_case(tested, settings.written);
  return failure ? 1 : 0;
}

int run(int argc, char** argv) {
  CLI::App app("Runs random models in every way that must give the same results");
  Settings settings;
  app.add_option("--seed", settings.seed, "The first seed, or the one to look at");
  app.add_option("--count", settings.count, "Number of seeds");
  app.add_option("--jobs", settings.jobs, "Number of processes")->check(CLI::PositiveNumber);
  app.add_option("--plugins", settings.plugins, "Folder of the plugins");
  app.add_flag("--shrink", settings.shrinks, "Make the model of the seed smaller while it fails");
  app.add_option("--write", settings.written,
                 "Write the model of the seed as a folder for `ephost test`");
  CLI11_PARSE(app, argc, argv);
  return settings.shrinks || !settings.written.empty() ? look_at_one(settings) : run_all(settings);
}

}  // namespace
}  // namespace ephost::test

int main(int argc, char** argv) {
  // Several processes share the processors: OpenMP's threads must not wait busily.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  try {
    return ephost::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "random_graphs: " << error.what() << "\n";
    return 2;
  }
}
