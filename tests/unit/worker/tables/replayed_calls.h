// Calls of the host whose worker does what the test says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/plain_run.h"
#include "host/worker/tables/worker.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/runtime/frame/frame_parts.h"
#include "tests/unit/worker/tables/few_descriptors.h"
#include "tests/unit/worker/tables/replay.h"

namespace ephost::worker {

inline wire::Callback asking(wire::Asked asked) {
  wire::Callback callback;
  callback.set_asked(asked);
  return callback;
}

// `text` after the plain answer, which claims that it has `size` bytes.
inline std::string plain_answer(int32_t code, std::string_view text, uint64_t size) {
  PlainAnswer plain;
  plain.code = code;
  plain.has_message = 1;
  plain.message_size = size;
  std::string bytes(reinterpret_cast<const char*>(&plain), sizeof(plain));
  return bytes.append(text);
}

// One step of a program: x is four floats, a an output that the step allocates.
class ReplayedCalls : public ::testing::Test {
 protected:
  explicit ReplayedCalls(graph::Graph graph = runtime::testing::open_line())
      : machine_(std::move(graph)) {
    start();
    if (machine_.program().graph().values[parts_.id("x")].type.kind != graph::ValueKind::kTensor) {
      return;
    }
    parts_.values.set_tensor(parts_.id("x"), x_.data(), sizeof(float) * x_.size(),
                             ElementType::kFloat, shape_);
  }

  // A new worker.
  void start(const Limits& limits = {}) {
    ::setenv(kReplayVariable, file_.c_str(), 1);
    manifest::FoundPlugin plugin;
    plugin.manifest.name = "replayed";
    IsolationOptions options;
    options.program = EPHOST_REPLAYING_WORKER;
    options.limits = limits;
    options.calls.compile = options.calls.run = std::chrono::seconds(60);
    auto started = Worker::start(plugin, plugin::HostOffer(), options);
    ::unsetenv(kReplayVariable);
    EXPECT_THAT(started, test::IsOk());
    if (started.ok()) worker_ = *started;
  }

  void replay(const Replay& replay) const { replay.save(file_); }

  [[nodiscard]] eph_run& run() { return parts_.runs[0]; }
  [[nodiscard]] const eph_value& output() { return *run().outputs[0]; }

  // The code of compute, with its message in `error_`; the failure is that of the worker. Meanwhile
  // this process may open only so many descriptors.
  Result<int32_t> compute(const Replay& replay, size_t descriptors = kManyDescriptors) {
    this->replay(replay);
    const FewDescriptors few(descriptors);
    error_.message.clear();
    Result<int32_t> code = worker_->compute(run(), facts_, nullptr, tables_, &error_);
    parts_.runs.end_step(0);
    return code;
  }
  // The message with which the call and the worker fail.
  std::string rejection(const Replay& replay) {
    const Result<int32_t> code = compute(replay);
    EXPECT_FALSE(code.ok()) << *code;
    EXPECT_FALSE(worker_->status().ok());
    return code.ok() ? "" : code.status().message();
  }
  Result<wire::Answer> call(const Replay& replay, const Subjects& subjects) {
    this->replay(replay);
    Outgoing outgoing(worker_->regions());
    wire::Request request;
    request.set_call(kCall<&eph_provider_api::compile>);
    return worker_->call(request, outgoing, subjects);
  }

  test::TempDirectory folder_;
  const std::filesystem::path file_ = folder_ / "replay";
  test::FakeHost host_;
  const HostTables tables_{&host_};
  test::FakeError error_;
  runtime::testing::Machine machine_;
  runtime::testing::FrameParts parts_{machine_.program()};
  const std::vector<int64_t> shape_ = {4};
  std::vector<float> x_ = {1, 2, 3, 4};
  RunFacts facts_;
  std::shared_ptr<Worker> worker_;
};

}  // namespace ephost::worker
