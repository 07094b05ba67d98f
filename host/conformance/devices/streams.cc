// Rules 65 and 66: streams of a device.
#include <ephost/ext/device.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "host/base/format.h"
#include "host/bridge/extensions/stream.h"
#include "host/conformance/devices/opened_devices.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {
namespace {

using bridge::Stream;
using std::chrono::seconds;

constexpr std::string_view kWhat = "the conformance kit";
constexpr size_t kSize = 4097;

// The first memory of each device that has streams.
std::optional<Memories> need_streams(const Subject& subject, Report& report) {
  const std::optional<Memories> memories = need_memories(subject, report, false);
  if (!memories) return std::nullopt;
  Memories found;
  for (const bridge::DeviceMemory& memory : memories->all) {
    if (memory.number == 1 && memory.device->has_streams()) found.all.push_back(memory);
  }
  if (!found.all.empty()) return found;
  report.leave_out("the plugin has no device with streams");
  return std::nullopt;
}

// Streams and blocks of a device, and what is done with them; the first failure is a finding, and
// everything after it does nothing.
class Trial {
 public:
  Trial(const bridge::DeviceMemory& memory, Report& report)
      : memory_(memory), report_(report), blocks_(memory) {}

  [[nodiscard]] bool is_sound() const { return is_sound_; }
  // Host memory that lives as long as the streams.
  std::vector<std::byte>& keep(std::vector<std::byte> bytes) {
    return host_.emplace_back(std::move(bytes));
  }
  void fail(std::string what, std::string advice) {
    if (is_sound_) report_.fail(std::move(what), std::move(advice));
    is_sound_ = false;
  }
  bool take(const Status& status, std::string_view advice) {
    if (!status.ok()) fail(text_of(status), std::string(advice));
    return is_sound_;
  }

  Stream* stream(int32_t purpose) {
    auto made = Stream::create(memory_.device, purpose);
    if (!take(made.status(), "give any number of streams, whatever they are for")) return nullptr;
    return streams_.emplace_back(std::move(made).value()).get();
  }
  std::byte* block() {
    std::byte* const made = blocks_.allocate(kSize, report_);
    if (made == nullptr) is_sound_ = false;
    return made;
  }

  void copy_in(const Stream& stream, std::byte* to, const std::vector<std::byte>& from) {
    copy(stream, memory_.number, to, bridge::kHostMemory, from.data());
  }
  void copy_out(const Stream& stream, std::vector<std::byte>& to, const std::byte* from) {
    copy(stream, bridge::kHostMemory, to.data(), memory_.number, from);
  }
  void copy_within(const Stream& stream, std::byte* to, const std::byte* from) {
    copy(stream, memory_.number, to, memory_.number, from);
  }
  eph_point record(const Stream& stream) {
    if (!is_sound_) return 0;
    const auto point = stream.record();
    return take(point.status(), "record a point of any stream at any time") ? *point : 0;
  }
  void wait(const Stream& stream, const Stream& other, eph_point point) {
    if (is_sound_) take(stream.wait(other, point), "let any stream of the device wait for another");
  }
  void wait_host(const Stream& stream, eph_point point) {
    if (is_sound_) {
      take(stream.wait_host(point, UINT64_MAX).status, "reach every point that was recorded");
    }
  }

 private:
  void copy(const Stream& stream, uint32_t to_memory, void* to, uint32_t from_memory,
            const void* from) {
    if (!is_sound_) return;
    take(stream.enqueue_copy(to_memory, to, from_memory, from, kSize, 0, kWhat),
         "enqueue copies between any two memories");
  }

  const bridge::DeviceMemory& memory_;
  Report& report_;
  bool is_sound_ = true;
  // The streams are destroyed before what they use.
  Blocks blocks_;
  std::deque<std::vector<std::byte>> host_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

// What is enqueued later sees what was enqueued before: random copies between blocks give what they
// give one by one.
void check_order(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_streams(subject, report);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  const int rounds = subject.level == Level::kFull ? 1000 : 100;
  for (const bridge::DeviceMemory& memory : found->all) {
    Trial trial(memory, report);
    const Stream* const stream = trial.stream(EPH_STREAM_COMPUTE);
    std::array<std::byte*, 4> blocks = {};
    std::array<std::vector<std::byte>, 4> expected;
    for (size_t i = 0; i < blocks.size() && trial.is_sound(); ++i) {
      blocks[i] = trial.block();
      expected[i] = random_bytes(kSize, random);
    }
    if (!trial.is_sound()) return;
    std::array<const std::vector<std::byte>*, 4> given = {};
    for (size_t i = 0; i < blocks.size(); ++i) {
      given[i] = &trial.keep(expected[i]);
      trial.copy_in(*stream, blocks[i], *given[i]);
    }
    for (int round = 0; round < rounds; ++round) {
      const size_t from = random() % blocks.size();
      const size_t to = (from + 1 + random() % (blocks.size() - 1)) % blocks.size();
      trial.copy_within(*stream, blocks[to], blocks[from]);
      expected[to] = expected[from];
      if (random() % 4 == 0) {
        trial.copy_in(*stream, blocks[from], *given[to]);
        expected[from] = *given[to];
      }
    }
    std::array<const std::vector<std::byte>*, 4> got = {};
    for (size_t i = 0; i < blocks.size(); ++i) {
      std::vector<std::byte>& out = trial.keep(std::vector<std::byte>(kSize));
      trial.copy_out(*stream, out, blocks[i]);
      got[i] = &out;
    }
    trial.wait_host(*stream, trial.record(*stream));
    const auto is_equal = [](const auto* a, const auto& b) { return *a == b; };
    if (trial.is_sound() && !std::ranges::equal(got, expected, is_equal)) {
      trial.fail("copies on one stream give something else than one after the other",
                 "begin what is enqueued only after what was enqueued before it on the stream");
    }
    if (!trial.is_sound()) return;
  }
}

void check_points(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_streams(subject, report);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  for (const bridge::DeviceMemory& memory : found->all) {
    Trial trial(memory, report);
    const Stream* const stream = trial.stream(EPH_STREAM_COMPUTE);
    std::byte* const block = trial.block();
    if (!trial.is_sound()) return;
    eph_point last = 0;
    for (int round = 0; round < 200 && trial.is_sound(); ++round) {
      const std::vector<std::byte>& given = trial.keep(random_bytes(kSize, random));
      std::vector<std::byte>& got = trial.keep(std::vector<std::byte>(kSize));
      trial.copy_in(*stream, block, given);
      trial.copy_out(*stream, got, block);
      const eph_point point = trial.record(*stream);
      if (!trial.is_sound()) return;
      if (point <= last) {
        return trial.fail(formatted("point {} was recorded after point {}", point, last),
                          "let the points of a stream grow");
      }
      const bridge::StreamWait soon = stream->wait_host(point, 0);
      if (soon.is_over && !trial.take(soon.status, "reach every point that was recorded")) return;
      trial.wait_host(*stream, point);
      if (trial.is_sound() && got != given) {
        return trial.fail(
            "wait_host returned before the copies were done",
            "return when everything before the point has ended, and the host sees it");
      }
      const auto reached = stream->query();
      if (!trial.take(reached.status(), "answer without waiting")) return;
      if (*reached < point) {
        return trial.fail(formatted("query gives point {} after wait_host has waited for point {}",
                                    *reached, point),
                          "give the last point that was reached");
      }
      last = point;
    }
  }
}

// A block is handed from stream to stream, each of which copies it on; the host looks at the end.
void check_waits(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_streams(subject, report);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  const int rounds = subject.level == Level::kFull ? 100 : 10;
  for (const bridge::DeviceMemory& memory : found->all) {
    Trial trial(memory, report);
    std::vector<const Stream*> streams;
    for (const int32_t purpose :
         {EPH_STREAM_COPY_IN, EPH_STREAM_COMPUTE, EPH_STREAM_COMPUTE, EPH_STREAM_COPY_OUT}) {
      if (trial.is_sound()) streams.push_back(trial.stream(purpose));
    }
    std::array<std::byte*, 2> blocks = {};
    for (std::byte*& block : blocks) {
      if (trial.is_sound()) block = trial.block();
    }
    for (int round = 0; round < rounds && trial.is_sound(); ++round) {
      const std::vector<std::byte>& given = trial.keep(random_bytes(kSize, random));
      std::vector<std::byte>& got = trial.keep(std::vector<std::byte>(kSize));
      trial.copy_in(*streams[0], blocks[0], given);
      eph_point point = trial.record(*streams[0]);
      const Stream* before = streams[0];
      const size_t hops = 2 + random() % 6;
      for (size_t hop = 0; hop < hops; ++hop) {
        const Stream* const next = streams[random() % streams.size()];
        if (next != before) trial.wait(*next, *before, point);
        trial.copy_within(*next, blocks[(hop + 1) % 2], blocks[hop % 2]);
        point = trial.record(*next);
        before = next;
      }
      if (before != streams[3]) trial.wait(*streams[3], *before, point);
      trial.copy_out(*streams[3], got, blocks[hops % 2]);
      trial.wait_host(*streams[3], trial.record(*streams[3]));
      if (trial.is_sound() && got != given) {
        trial.fail("what a stream does after a wait does not see what it waited for",
                   "begin it when the point of the other stream is reached");
      }
    }
    if (!trial.is_sound()) return;
  }
}

struct Called {
  std::atomic<int> count{0};
  std::atomic<int32_t> code{-1};
};

void check_notifications(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_streams(subject, report);
  if (!found) return;
  constexpr auto kPatience = seconds(10);
  std::mt19937_64 random(subject.seed);
  for (const bridge::DeviceMemory& memory : found->all) {
    std::array<Called, 50> called;
    Trial trial(memory, report);
    const Stream* const stream = trial.stream(EPH_STREAM_COMPUTE);
    std::byte* const block = trial.block();
    const std::vector<std::byte>& given = trial.keep(random_bytes(kSize, random));
    for (Called& one : called) {
      if (!trial.is_sound()) return;
      trial.copy_in(*stream, block, given);
      const eph_point point = trial.record(*stream);
      const auto done = [](void* context, int32_t code) {
        auto& self = *static_cast<Called*>(context);
        self.code = code;
        ++self.count;
      };
      if (trial.is_sound()) trial.take(stream->notify(point, done, &one), "take any point");
    }
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (const Called& one : called) {
      while (trial.is_sound() && one.count == 0) {
        if (std::chrono::steady_clock::now() > end) {
          trial.fail("a function that notify took was not called within 10 s",
                     "call it when the point is reached, whether or not the host waits for that");
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (trial.is_sound() && one.code != EPH_OK) {
        trial.fail(formatted("a function that notify took was called with code {} for a point that "
                             "was reached",
                             one.code.load()),
                   "pass EPH_OK");
      }
    }
    trial.wait_host(*stream, trial.record(*stream));
    for (const Called& one : called) {
      if (trial.is_sound() && one.count != 1) {
        trial.fail(formatted("a function that notify took was called {} times", one.count.load()),
                   "call it once");
      }
    }
    if (!trial.is_sound()) return;
  }
}

constexpr std::array kStreamChecks = {
    Check{65, 1, "stream-order", "What is enqueued on a stream is done in order", Level::kBasic,
          seconds(60), &check_order},
    Check{65, 2, "points", "Points grow, and are reached when all before them is done",
          Level::kBasic, seconds(60), &check_points},
    Check{65, 3, "stream-waits", "A stream that waits sees what it waited for", Level::kBasic,
          seconds(60), &check_waits},
    Check{65, 4, "notifications", "Each point is notified once", Level::kBasic, seconds(60),
          &check_notifications}};

}  // namespace

std::span<const Check> stream_checks() { return kStreamChecks; }

}  // namespace ephost::conformance
