// primitive_sweep: runs the primitives that oneDNN offers for random operations of the dnnl
// provider in guarded memory, on each instruction set that the library can be limited to on this
// machine. Fails if the provider would use one that leaves its arguments.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "plugins/dnnl/library/primitives.h"
#include "tests/primitives/sweep.h"

namespace ephost_dnnl::test {
namespace {

// Values of ONEDNN_MAX_CPU_ISA. Those that the machine does not have select the next lower one.
const std::vector<std::string> kInstructionSets = {
    "SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI", "ALL"};

void print_line(const std::string& name, const SweepCounts& counts) {
  std::cout << "  " << std::left << std::setw(44) << name << std::right;
  for (const uint64_t number : {counts.recipes, counts.configurations, counts.refused,
                                counts.writes, counts.reads, counts.left}) {
    std::cout << std::setw(9) << number;
  }
  std::cout << "\n";
}

// Returns whether the provider would use what leaves its arguments.
bool print(const Sweep& sweep) {
  std::cout << "  " << std::left << std::setw(44) << "operation" << std::right;
  for (const char* title : {"recipes", "run", "refused", "write", "read", "used"}) {
    std::cout << std::setw(9) << title;
  }
  std::cout << "\n";
  SweepCounts total;
  for (const auto& [kind, counts] : sweep.by_kind) {
    print_line(kind, counts);
    total.recipes += counts.recipes;
    total.configurations += counts.configurations;
    total.refused += counts.refused;
    total.writes += counts.writes;
    total.reads += counts.reads;
    total.left += counts.left;
  }
  print_line("all", total);
  for (const auto& [what, seen] : sweep.touching) {
    std::cout << "  " << what << ": " << seen.first << " times, first in recipe " << seen.second
              << "\n";
  }
  return total.left > 0;
}

std::atomic<uint64_t> current_recipe = 0;

// What the watch over guarded memory passes on: the library has touched no argument, and crashed.
void report_crash(int) {
  std::array<char, 64> text = {};
  const int size = snprintf(text.data(), text.size(), "crashed in recipe %llu\n",
                            static_cast<unsigned long long>(current_recipe.load()));
  (void)!write(STDOUT_FILENO, text.data(), static_cast<std::size_t>(size));
  _exit(1);
}

int run(uint64_t first, uint64_t count) {
  signal(SIGSEGV, &report_crash);
  Sweep sweep;
  for (uint64_t i = 0; i < count; ++i) {
    current_recipe = first + i;
    sweep_one(first + i, sweep);
  }
  const char* const limit = getenv("ONEDNN_MAX_CPU_ISA");
  std::cout << (limit == nullptr ? "no limit" : limit) << ", which selects " << instruction_set()
            << "\n";
  return print(sweep) ? 1 : 0;
}

// A process of its own: the library and OpenMP read their variables once.
bool run_limited_to(const std::string& instruction_set, uint64_t first, uint64_t count) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ONEDNN_MAX_CPU_ISA", instruction_set.c_str(), 1);
    setenv("OMP_WAIT_POLICY", "passive", 0);
    execl("/proc/self/exe", "primitive_sweep", "--here", "--seed", std::to_string(first).c_str(),
          "--count", std::to_string(count).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    std::cout << instruction_set << " ended by signal " << WTERMSIG(status) << "\n";
  }
  return status == 0;
}

int run_all(int argc, char** argv) {
  CLI::App app("Runs oneDNN's primitives in guarded memory");
  uint64_t first = 1, count = 100;
  bool is_limited = false;
  std::vector<std::string> instruction_sets = kInstructionSets;
  app.add_option("--seed", first, "The first recipe");
  app.add_option("--count", count, "Number of recipes on each instruction set");
  app.add_option("--isa", instruction_sets, "Values of ONEDNN_MAX_CPU_ISA");
  app.add_flag("--here", is_limited, "With this process's ONEDNN_MAX_CPU_ISA");
  CLI11_PARSE(app, argc, argv);
  if (is_limited) return run(first, count);
  bool is_good = true;
  for (const std::string& one : instruction_sets) is_good &= run_limited_to(one, first, count);
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace ephost_dnnl::test

int main(int argc, char** argv) { return ephost_dnnl::test::run_all(argc, argv); }
