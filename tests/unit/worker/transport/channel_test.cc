#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <numeric>
#include <random>
#include <thread>

#include "host/worker/process/host_channel.h"
#include "host/worker/transport/regions.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::channel_test {
namespace {

using test::IsOk;

class ChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    worker_ = std::move(*worker);
  }

  std::unique_ptr<WorkerProcess> worker_;
};

TEST_F(ChannelTest, MessagesOfEverySizeComeBackUnchanged) {
  auto channel = worker_->channel();
  ASSERT_THAT(channel, IsOk());
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 100, 4000, 32 << 10, (64 << 10) - 5, (64 << 10) - 4, 64 << 10,
                            (64 << 10) + 1, 1 << 20, 9 << 20}) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const Result<std::string> answer = ask(**channel, "echo " + text);
    ASSERT_THAT(answer, IsOk());
    EXPECT_TRUE(*answer == "echo " + text) << size;
  }
}

TEST_F(ChannelTest, ARequestBeyondTheBoundIsRefusedAndTheChannelStaysUsable) {
  auto channel = worker_->channel();
  ASSERT_THAT(channel, IsOk());
  const Result<std::string> answer = ask(**channel, std::string(kMaxMessageBytes + 1, 'x'));
  EXPECT_EQ(answer.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*ask(**channel, "echo"), "echo");
}

TEST_F(ChannelTest, TheHotAreaIsHandedOverAndBack) {
  auto channel = worker_->channel();
  ASSERT_THAT(channel, IsOk());
  const std::span<std::byte> area = (*channel)->hot_area();
  for (unsigned i = 0; i < 1000; ++i) {
    area[0] = static_cast<std::byte>(i);
    area[area.size() - 1] = std::byte{3};
    const Result<uint32_t> size = (*channel)->call_hot(static_cast<uint32_t>(area.size()));
    ASSERT_THAT(size, IsOk());
    EXPECT_EQ(*size, area.size());
    EXPECT_EQ(area[0], static_cast<std::byte>(i + 1));
    EXPECT_EQ(area[area.size() - 1], std::byte{4});
  }
}

TEST_F(ChannelTest, CallbacksAreAnsweredInOrder) {
  int count = 0;
  const auto on_callback = [&](Message question) -> Result<Message> {
    EXPECT_EQ(question.bytes, "5 times");
    return Message{std::to_string(count++)};
  };
  EXPECT_EQ(*ask(*worker_, "callback 5 times", {.on_callback = on_callback}), "01234");
}

TEST_F(ChannelTest, LargeCallbacksTravelLikeOtherMessages) {
  const std::string large(300'000, 'y');
  const auto on_callback = [&](Message question) -> Result<Message> {
    EXPECT_EQ(question.bytes.size(), large.size() + 2);
    return Message{large};
  };
  const Result<std::string> answer =
      ask(*worker_, "callback 2 " + large, {.on_callback = on_callback});
  EXPECT_EQ(answer->size(), 2 * large.size());
}

TEST_F(ChannelTest, ThreadsOfThePluginCallBackOneAfterTheOther) {
  const auto on_callback = [](Message) -> Result<Message> { return Message{"yes"}; };
  EXPECT_EQ(*ask(*worker_, "threads 50", {.on_callback = on_callback}), "4");
}

TEST_F(ChannelTest, ACallbackMayCallTheWorkerThroughAnotherChannel) {
  const auto on_callback = [&](Message) -> Result<Message> {
    Result<std::string> inner = ask(*worker_, "echo inner");
    EPHOST_RETURN_IF_ERROR(inner.status());
    return Message{std::move(*inner)};
  };
  EXPECT_EQ(*ask(*worker_, "callback 1", {.on_callback = on_callback}), "echo inner");
}

TEST_F(ChannelTest, AFailedCallbackEndsTheWorkerWithItsReason) {
  const auto on_callback = [](Message) -> Result<Message> {
    return Status(StatusCode::kFail, "a question about kernel 7, which does not exist");
  };
  EXPECT_EQ(failure_of(*worker_, "callback 1", {.on_callback = on_callback}),
            "the worker of \"acme\" was ended: it sent a question about kernel 7, which does not "
            "exist");
}

TEST_F(ChannelTest, ACallbackOfACallThatHasNoneEndsTheWorker) {
  EXPECT_EQ(failure_of(*worker_, "callback 1"),
            "the worker of \"acme\" was ended: it sent a callback within a call that has none");
}

// Collects what was posted, each of which has to begin with its number.
struct Posted {
  Status operator()(const Message& message) {
    EXPECT_EQ(message.bytes.substr(0, message.bytes.find(' ')), std::to_string(texts.size()));
    texts.push_back(message.bytes.substr(message.bytes.find(' ') + 1));
    return {};
  }
  std::vector<std::string> texts;
};

TEST_F(ChannelTest, PostsArriveInOrderBeforeTheAnswer) {
  for (const size_t size : {3, 5'000, 32'000}) {
    Posted posted;
    const std::string text(size, 'p');
    EXPECT_EQ(*ask(*worker_, "post 3 " + text, {.on_posted = std::ref(posted)}), "3");
    EXPECT_EQ(posted.texts, std::vector<std::string>(3, text));
  }
}

TEST_F(ChannelTest, LongPostsAreRefused) {
  Posted posted;
  for (const size_t size : {32 << 10, 60'000, 300'000}) {
    EXPECT_EQ(*ask(*worker_, "post 1 " + std::string(size, 'p'), {.on_posted = std::ref(posted)}),
              "0");
  }
  EXPECT_TRUE(posted.texts.empty());
}

// The host answers the callback when the post has returned, and no earlier.
TEST_F(ChannelTest, APostNeverWaitsForTheCallbackOfAnotherThread) {
  std::string nested;
  const auto on_callback = [&](const Message&) -> Result<Message> {
    nested = *ask(*worker_, "posted");
    return Message{"answer"};
  };
  Posted posted;
  const auto taken = ask(*worker_, "post-beside",
                         {.on_callback = on_callback,
                          .on_posted = std::ref(posted),
                          .limit = std::chrono::seconds(20)});
  EXPECT_EQ(nested, "posted");
  EXPECT_EQ(*taken, "refused");
}

TEST_F(ChannelTest, ACallbackNeedNotWaitForThatOfAnotherThread) {
  std::string nested;
  const auto on_callback = [&](const Message& question) -> Result<Message> {
    if (question.bytes == "1") nested = *ask(*worker_, "posted");
    return Message{"answer to " + question.bytes};
  };
  const auto answer =
      ask(*worker_, "ask-beside", {.on_callback = on_callback, .limit = std::chrono::seconds(20)});
  EXPECT_EQ(nested, "posted");
  EXPECT_EQ(*answer, "busy, answer to 3");
}

TEST_F(ChannelTest, APostIsTakenOrRefusedButNeverLostWhereTheSocketIsFull) {
  Posted posted;
  const std::string taken = *ask(*worker_, "post 100000 p", {.on_posted = std::ref(posted)});
  EXPECT_GT(posted.texts.size(), 0);
  EXPECT_EQ(taken, std::to_string(posted.texts.size()));
  EXPECT_EQ(*ask(*worker_, "echo"), "echo");
}

TEST_F(ChannelTest, ThreadsPostWhileAnotherOneCallsBack) {
  const auto on_callback = [](const Message&) -> Result<Message> { return Message{"z"}; };
  int count = 0;
  const auto on_posted = [&](const Message& message) -> Status {
    EXPECT_EQ(message.bytes, "0 thread");
    ++count;
    return {};
  };
  const auto taken =
      ask(*worker_, "post-threads", {.on_callback = on_callback, .on_posted = on_posted});
  ASSERT_THAT(taken, IsOk());
  EXPECT_EQ(*taken, std::to_string(count));
}

TEST_F(ChannelTest, WhatWasPostedBeforeADeathArrives) {
  Posted posted;
  EXPECT_FALSE(ask(*worker_, "post-die 7 last words", {.on_posted = std::ref(posted)}).ok());
  EXPECT_EQ(posted.texts, std::vector<std::string>(7, "last words"));
}

TEST_F(ChannelTest, PostsOfACallThatTakesNoneAreDropped) {
  EXPECT_EQ(*ask(*worker_, "post 5 p"), "5");
  Posted posted;
  EXPECT_EQ(*ask(*worker_, "post 2 q", {.on_posted = std::ref(posted)}), "2");
  EXPECT_EQ(posted.texts, std::vector<std::string>(2, "q"));
}

TEST_F(ChannelTest, AFailedPostEndsTheWorkerWithItsReason) {
  const auto on_posted = [](const Message&) {
    return Status(StatusCode::kFail, "a post that says nothing");
  };
  EXPECT_EQ(failure_of(*worker_, "post 1 p", {.on_posted = on_posted}),
            "the worker of \"acme\" was ended: it sent a post that says nothing");
}

TEST_F(ChannelTest, APostThatCannotBeTakenForWantOfMemoryIsLostAlone) {
  int count = 0;
  const auto on_posted = [&](const Message&) -> Status {
    if (++count == 2) throw std::bad_alloc();
    return {};
  };
  EXPECT_EQ(*ask(*worker_, "post 3 p", {.on_posted = on_posted}), "3");
  EXPECT_EQ(count, 3);
}

TEST_F(ChannelTest, CancellationReachesTheWorkerDuringTheCall) {
  int asked = 0;
  const auto is_cancelled = [&] { return ++asked > 3; };
  EXPECT_EQ(*ask(*worker_, "wait", {.is_cancelled = is_cancelled}), "cancelled");
  EXPECT_EQ(*ask(*worker_, "echo"), "echo");
}

TEST_F(ChannelTest, ManyThreadsCallAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const auto on_callback = [](Message) -> Result<Message> { return Message{"z"}; };
      for (int i = 0; i < 50; ++i) {
        const std::string text = "echo " + std::to_string(t) + std::string(i * 3000, 'a');
        const Result<std::string> answer = ask(*worker_, text);
        const auto called = ask(*worker_, "callback 3", {.on_callback = on_callback});
        if (answer.ok() && *answer == text && called.ok() && *called == "zzz") good.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 300);
}

TEST_F(ChannelTest, MessagesOfAWorkerAreRefusedBeforeTheyAreReadIfTheyAreTooLarge) {
  EXPECT_EQ(ask(*worker_, "size 16777216")->size(), kMaxFromWorkerBytes);
  EXPECT_NE(failure_of(*worker_, "size 16777217").find("a message of 16777217 bytes is too large"),
            std::string::npos);
}

TEST_F(ChannelTest, ARegionIsReadAndWrittenByBothSides) {
  auto memory = SharedMemory::create("test", 4096, SharedAccess::kReadWrite);
  ASSERT_THAT(memory, IsOk());
  std::ranges::fill(memory->bytes(), std::byte{2});
  Message request{"sum 4096 w"};
  request.descriptors.push_back(*duplicate(memory->region()->descriptor));
  auto channel = worker_->channel();
  EXPECT_EQ((*channel)->call(std::move(request))->bytes, "8192");
  EXPECT_EQ(memory->bytes()[4095], std::byte{7});
}

TEST_F(ChannelTest, ARegionForReadingCannotBeMappedForWriting) {
  auto memory = SharedMemory::create("test", 4096, SharedAccess::kRead);
  ASSERT_THAT(memory, IsOk());
  std::ranges::fill(memory->bytes(), std::byte{2});
  auto channel = worker_->channel();
  for (const auto& [request, expected] :
       {std::pair("sum 4096 r", "8192"),
        std::pair("sum 4096 w", "cannot map shared region 1: Permission denied")}) {
    Message message{request};
    message.descriptors.push_back(*duplicate(memory->region()->descriptor));
    EXPECT_EQ((*channel)->call(std::move(message))->bytes, expected);
  }
}

// No more files can be opened while this object lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

constexpr const char* kShortage = "the host is short of memory or descriptors for its answer";

TEST_F(ChannelTest, WithoutDescriptorsInTheHostACallFailsAndTheWorkerLives) {
  auto channel = worker_->channel();
  ASSERT_THAT(channel, IsOk());
  {
    const NoDescriptors none;
    const auto begin = std::chrono::steady_clock::now();
    // For the request, and for another channel.
    const Status request = ask(**channel, std::string(100'000, 'x')).status();
    const Status opened = worker_->channel().status();
    for (const Status& failed : {request, opened}) {
      EXPECT_EQ(failed.code(), StatusCode::kFail) << failed.to_string();
      EXPECT_NE(failed.message().find("oo many open files"), std::string::npos)
          << failed.to_string();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
    EXPECT_EQ(*ask(**channel, "echo"), "echo");
    EXPECT_EQ(ask(**channel, "size 100000")->size(), 100'000U);  // lies in the channel's page
  }
  EXPECT_THAT(worker_->status(), IsOk());
}

TEST_F(ChannelTest, WithoutDescriptorsOrMemoryInTheHostACallbackFailsAndTheWorkerLives) {
  const auto on_callback = [](const Message& question) -> Result<Message> {
    if (question.bytes == "1 throw") throw std::bad_alloc();
    return Message{std::string(100'000, 'y')};
  };
  const CallOptions options = {.on_callback = on_callback};
  EXPECT_EQ(*ask(*worker_, "callback 1 throw", options), kShortage);
  {
    const NoDescriptors none;
    EXPECT_EQ(*ask(*worker_, "callback 1", options), kShortage);
  }
  EXPECT_EQ(ask(*worker_, "callback 1", options)->size(), 100'000U);
}

TEST_F(ChannelTest, WithoutDescriptorsInTheWorkerARequestIsAnsweredWithThat) {
  WorkerOptions options = test_options();
  options.limits.open_files = 32;
  auto worker = WorkerProcess::start(options);
  ASSERT_THAT(worker, IsOk());
  auto channel = (*worker)->channel();
  ASSERT_THAT(channel, IsOk());
  EXPECT_EQ(*ask(**channel, "try files"), "EMFILE");
  EXPECT_EQ(*ask(**channel, std::string(100'000, 'x'), {.limit = std::chrono::seconds(10)}),
            "cannot receive the descriptors of a message: too many open files");
  EXPECT_EQ(*ask(**channel, "echo"), "echo");
}

}  // namespace
}  // namespace ephost::worker::channel_test
