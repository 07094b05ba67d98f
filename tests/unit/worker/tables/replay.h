// The script of the replaying worker (replaying_worker.cc) for the next calls: a test writes a
// file, and each call of the host plays it from the beginning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::worker {

enum class Deed : char {
  kAsk = 'c',     // calls the host back with `bytes`
  kPost = 'p',    // posts `bytes`
  kAnswer = 'a',  // ends the call with `bytes`: a message, or the hot area as the call was
  kRelay = 'r',   // ends the call with code and text of the host's last answer
};

struct Step {
  Deed deed = Deed::kAnswer;
  uint32_t times = 1;
  uint32_t hot_size = 0;  // that the answer claims to have, where the call was in the hot area
  std::string bytes = {};
};

// The name of the variable that has the path of the file.
inline constexpr const char* kReplayVariable = "EPHOST_REPLAY";

class Replay {
 public:
  Replay& ask(std::string bytes, uint32_t times = 1) {
    steps_.push_back({Deed::kAsk, times, 0, std::move(bytes)});
    return *this;
  }
  Replay& post(std::string bytes, uint32_t times = 1) {
    steps_.push_back({Deed::kPost, times, 0, std::move(bytes)});
    return *this;
  }
  Replay& answer(std::string bytes) {
    steps_.push_back({Deed::kAnswer, 1, static_cast<uint32_t>(bytes.size()), std::move(bytes)});
    return *this;
  }
  Replay& answer_hot(std::string bytes, uint32_t size) {
    steps_.push_back({Deed::kAnswer, 1, size, std::move(bytes)});
    return *this;
  }
  Replay& relay() {
    steps_.push_back({Deed::kRelay});
    return *this;
  }

  void save(const std::filesystem::path& file) const {
    std::ofstream stream(file, std::ios::binary);
    const auto put = [&](uint64_t number) {
      stream.write(reinterpret_cast<const char*>(&number), sizeof(number));
    };
    for (const Step& step : steps_) {
      put(static_cast<uint64_t>(step.deed));
      put(step.times);
      put(step.hot_size);
      put(step.bytes.size());
      stream.write(step.bytes.data(), static_cast<std::streamsize>(step.bytes.size()));
    }
  }
  static std::vector<Step> load(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const auto get = [&] {
      uint64_t number = 0;
      stream.read(reinterpret_cast<char*>(&number), sizeof(number));
      return number;
    };
    std::vector<Step> steps;
    for (uint64_t deed = get(); stream; deed = get()) {
      Step& step = steps.emplace_back();
      step.deed = static_cast<Deed>(deed);
      step.times = static_cast<uint32_t>(get());
      step.hot_size = static_cast<uint32_t>(get());
      step.bytes.resize(get());
      stream.read(step.bytes.data(), static_cast<std::streamsize>(step.bytes.size()));
    }
    return steps;
  }

 private:
  std::vector<Step> steps_;
};

}  // namespace ephost::worker
