// Payloads that are damaged, with checksums that are right for them, so that the provider sees
// them. A crash ends the process of the check, which is how it is found.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/contexts/compiled.h"
#include "host/conformance/contexts/context_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double kMostMemoryMiB = 1024;
constexpr double kMostSeconds = 10;

// The most memory that the process has used so far.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

// Restores damaged payloads of one model and runs what is restored.
class Loads {
 public:
  Loads(const Bench& bench, Report& report) : bench_(bench), report_(report) {}
  ~Loads() {
    report_.note("payloads tried", static_cast<double>(tried_));
    report_.note("payloads refused", static_cast<double>(refused_));
    report_.note("peak memory (MiB)", peak_mib());
  }
  Loads(const Loads&) = delete;
  Loads& operator=(const Loads&) = delete;

  // `how` says what the damage is.
  void try_one(const CompiledSample& one, const std::string& partition, std::string payload,
               const std::string& how) {
    const Result<std::string> model =
        with_payloads(one.compiled.model, {{partition, std::move(payload)}});
    if (!model.ok()) return;
    ++tried_;
    const double memory = peak_mib();
    const Clock::time_point begin = Clock::now();
    Result<Session> session = bench_.load(*model, bench_.options());
    if (session.ok()) {
      (void)session->run(one.sample.inputs.front());
    } else {
      ++refused_;
    }
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    if (took > kMostSeconds) {
      report_.fail(formatted("{}: a payload {} takes {:.1f} s", one.sample.name, how, took),
                   "check counts and sizes against the payload's own size before working on them");
    }
    if (peak_mib() - memory > kMostMemoryMiB) {
      report_.fail(
          formatted("{}: a payload {} takes {:.0f} MiB", one.sample.name, how, peak_mib() - memory),
          "check sizes before memory is allocated for them");
    }
  }

 private:
  const Bench& bench_;
  Report& report_;
  uint64_t tried_ = 0;
  uint64_t refused_ = 0;
};

SampleRequest request_for_damage(const Bench& bench) {
  return {.count = bench.by_level<size_t>(3, 12),
          .time = bench.by_level(milliseconds(300), milliseconds(5000))};
}

// However long that takes, all truncations of this one are tried.
std::string_view shortest_payload(const std::vector<CompiledSample>& samples) {
  std::string_view shortest;
  for (const CompiledSample& one : samples) {
    for (const auto& [partition, payload] : one.compiled.payloads) {
      if (shortest.empty() || payload.size() < shortest.size()) shortest = payload;
    }
  }
  return shortest;
}

size_t position(const std::string& payload, Dice& dice) {
  // Headers and tables are at the front.
  const auto last = static_cast<int64_t>(payload.size()) - 1;
  return static_cast<size_t>(dice.roll(0, dice.one_in(2) ? std::min<int64_t>(last, 256) : last));
}

// Damages the payload in one of many ways, and returns a name for it.
std::string mutate(std::string& payload, Dice& dice) {
  const size_t at = position(payload, dice);
  const size_t other = position(payload, dice);
  const size_t length =
      std::min<size_t>(static_cast<size_t>(dice.roll(1, 16)), payload.size() - std::max(at, other));
  const auto put = [&](auto number) {
    std::memcpy(payload.data() + at, &number, std::min(sizeof(number), payload.size() - at));
  };
  switch (dice.roll(0, 7)) {
    case 0:
    case 1:
      payload[at] = static_cast<char>(payload[at] ^ (1 << dice.roll(0, 7)));
      return formatted("with a bit flipped at {}", at);
    case 2:
      std::swap_ranges(payload.begin() + static_cast<std::ptrdiff_t>(std::min(at, other)),
                       payload.begin() + static_cast<std::ptrdiff_t>(std::min(
                                             std::max(at, other), std::min(at, other) + length)),
                       payload.begin() + static_cast<std::ptrdiff_t>(std::max(at, other)));
      return formatted("with {} bytes swapped between {} and {}", length, at, other);
    case 3:
      std::fill_n(payload.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
      return formatted("with {} bytes zeroed at {}", length, at);
    case 4:
      payload.insert(at, payload.substr(other, length));
      return formatted("with {} bytes inserted at {}", length, at);
    case 5:
      payload.append(static_cast<size_t>(dice.roll(1, 64)), static_cast<char>(dice.roll(0, 255)));
      return "with bytes behind its end";
    case 6: {
      const uint64_t huge = dice.pick({uint64_t{0xFFFFFFFF}, std::numeric_limits<uint64_t>::max(),
                                       uint64_t{0x7FFFFFFFFFFFFFFF}, uint64_t{1} << 40});
      if (dice.one_in(2)) {
        put(static_cast<uint32_t>(huge));
      } else {
        put(huge);
      }
      return formatted("with the number {} at {}", huge, at);
    }
    default:
      put(static_cast<uint32_t>(dice.roll(0, 300)));
      return formatted("with a small number at {}", at);
  }
}

}  // namespace

void check_truncated_payloads(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const auto samples = need_compiled(*bench, request_for_damage(*bench), report);
  if (samples.empty()) return;
  Dice dice(formatted("truncation {}", subject.seed));
  Loads loads(*bench, report);
  const Budget budget(bench->by_level(milliseconds(500), milliseconds(8'000)));
  const std::string_view complete = bench->is_full() ? shortest_payload(samples) : "";
  for (const CompiledSample& one : samples) {
    for (const auto& [partition, payload] : one.compiled.payloads) {
      // All of a short payload and of the front of a long one; then a sample.
      const auto size = static_cast<int64_t>(payload.size());
      const int64_t all = bench->by_level<int64_t>(48, 4096);
      const auto goes_on = [&, is_complete = payload == complete](int64_t length) {
        return !budget.is_spent() || (is_complete && length < all);
      };
      for (int64_t length = 0; length < size && goes_on(length);
           length += length < all ? 1 : dice.roll(1, std::max<int64_t>(1, size / all))) {
        loads.try_one(one, partition, payload.substr(0, static_cast<size_t>(length)),
                      formatted("cut after {} bytes", length));
      }
    }
  }
}

void check_mutated_payloads(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const auto samples = need_compiled(*bench, request_for_damage(*bench), report);
  if (samples.empty()) return;
  Dice dice(formatted("mutation {}", subject.seed));
  Loads loads(*bench, report);
  const Budget budget(bench->by_level(milliseconds(700), milliseconds(30'000)));
  const int least = bench->by_level(0, 2000);
  for (int i = 0; i < bench->by_level(400, 6000) && (i < least || !budget.is_spent()); ++i) {
    const CompiledSample& one = dice.pick(samples);
    for (const auto& [partition, original] : one.compiled.payloads) {
      if (original.empty()) continue;
      std::string payload = original;
      std::string how;
      for (int64_t changes = dice.one_in(3) ? dice.roll(2, 5) : 1; changes > 0; --changes) {
        how += (how.empty() ? "" : " and ") + mutate(payload, dice);
      }
      loads.try_one(one, partition, std::move(payload), how);
    }
  }
}

void check_foreign_payloads(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  SampleRequest request = request_for_damage(*bench);
  request.count = bench->by_level<size_t>(6, 40);
  const auto samples = need_compiled(*bench, request, report);
  if (samples.empty()) return;
  Loads loads(*bench, report);
  const Budget budget(bench->by_level(milliseconds(400), milliseconds(10'000)));
  for (const CompiledSample& one : samples) {
    for (const CompiledSample& other : samples) {
      if (budget.is_spent()) return;
      loads.try_one(one, one.compiled.payloads.begin()->first,
                    other.compiled.payloads.begin()->second, formatted("of {}", other.sample.name));
    }
    loads.try_one(one, one.compiled.payloads.begin()->first, std::string(1000, 'x'), "of text");
  }
}

}  // namespace ephost::conformance
