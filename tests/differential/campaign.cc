#include "tests/differential/campaign.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>
#include <vector>

#include "host/base/log.h"

namespace ephost::test {
namespace {

constexpr unsigned kSecondsForACase = 120;

// The state that a worker shares with its parent. The worker is at case `at` of its seeds.
struct Slot {
  std::atomic<uint64_t> at = 0;
  Tally tally;
};

class SharedSlots {
 public:
  explicit SharedSlots(unsigned count) : size_(count * sizeof(Slot)) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    slots_ = static_cast<Slot*>(memory);
    for (unsigned i = 0; i < count; ++i) new (slots_ + i) Slot;
  }
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots() { munmap(slots_, size_); }

  Slot& operator[](unsigned i) { return slots_[i]; }

 private:
  std::size_t size_;
  Slot* slots_;
};

template <class Body>
pid_t fork_with(const Body& body) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return child;
  try {
    body();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  _exit(1);
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM) return "does not terminate";
    return "crashes with signal " + std::to_string(signal);
  }
  return "ends the process with status " + std::to_string(WEXITSTATUS(status));
}

// The part of the seeds that one worker runs.
struct Share {
  uint64_t first, count;
  unsigned jobs;

  [[nodiscard]] uint64_t seed(uint64_t at) const { return first + at; }
};

void work(const Share& share, const std::filesystem::path& plugins, Slot& slot,
          const std::function<void(uint64_t, const std::string&)>& report) {
  set_log_level(LoggingLevel::kError);  // contexts of other numbers of threads would fill the log
  Runner runner(plugins);
  for (; slot.at < share.count; slot.at += share.jobs) {
    const uint64_t seed = share.seed(slot.at);
    alarm(kSecondsForACase);
    const Case tested = make_random_case(seed);
    const CaseOutcome outcome = runner.run(tested, ways_for(seed));
    alarm(0);
    ++slot.tally.cases;
    if (outcome.compiled_nodes > 0) ++slot.tally.compiled;
    if (tested.inputs.size() > 1) ++slot.tally.open;
    if (!outcome.failure) continue;
    ++slot.tally.failures;
    report(seed, outcome.failure->text);
  }
}

}  // namespace

Tally run_seeds(uint64_t first, uint64_t count, unsigned jobs, const std::filesystem::path& plugins,
                const std::function<void(uint64_t, const std::string&)>& report) {
  SharedSlots slots(jobs);
  std::vector<pid_t> workers(jobs);
  const Share share{first, count, jobs};
  const auto start = [&](unsigned i) {
    workers[i] = fork_with([&] {
      work(share, plugins, slots[i], report);
      std::exit(0);  // not _exit: leaks are checked at exit
    });
  };
  for (unsigned i = 0; i < jobs; ++i) {
    slots[i].at = i;
    start(i);
  }
  for (unsigned running = jobs; running > 0;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    unsigned i = 0;
    while (i < jobs && workers[i] != ended) ++i;
    if (i == jobs) continue;
    const bool is_done = slots[i].at >= count;
    if (status != 0) {
      ++slots[i].tally.failures;
      report(is_done ? 0 : share.seed(slots[i].at), end_text(status));
    }
    if (!is_done) {
      ++slots[i].tally.cases;
      slots[i].at += jobs;
    }
    if (slots[i].at < count) {
      start(i);
    } else {
      --running;
    }
  }
  Tally total;
  for (unsigned i = 0; i < jobs; ++i) {
    total.cases += slots[i].tally.cases;
    total.compiled += slots[i].tally.compiled;
    total.open += slots[i].tally.open;
    total.failures += slots[i].tally.failures;
  }
  return total;
}

std::optional<Failure> run_isolated(const Case& tested, const std::vector<Way>& ways,
                                    const std::filesystem::path& plugins) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork_with([&] {
    alarm(kSecondsForACase);
    set_log_level(LoggingLevel::kError);
    const CaseOutcome outcome = Runner(plugins).run(tested, ways);
    std::string text;
    if (outcome.failure) {
      text =
          static_cast<char>('0' + static_cast<int>(outcome.failure->kind)) + outcome.failure->text;
    }
    const bool is_written = write(ends[1], text.data(), text.size()) == std::ssize(text);
    _exit(is_written ? 0 : 1);
  });
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return Failure{Failure::Kind::kCrash, end_text(status)};
  if (text.empty()) return std::nullopt;
  return Failure{static_cast<Failure::Kind>(text[0] - '0'), text.substr(1)};
}

}  // namespace ephost::test
