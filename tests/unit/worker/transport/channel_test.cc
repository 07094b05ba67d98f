#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "host/worker/transport/host_channel.h"
#include "host/worker/transport/regions.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker {
namespace {

class ChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_TRUE(worker.ok()) << worker.status().to_string();
    worker_ = std::move(*worker);
  }

  std::unique_ptr<WorkerProcess> worker_;
};

TEST_F(ChannelTest, MessagesOfEverySizeComeBackUnchanged) {
  auto channel = worker_->channel();
  ASSERT_TRUE(channel.ok());
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 100, 4000, 32 << 10, (64 << 10) - 5, (64 << 10) - 4, 64 << 10,
                            (64 << 10) + 1, 1 << 20, 9 << 20}) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const Result<std::string> answer = ask(**channel, "echo " + text);
    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    EXPECT_TRUE(*answer == "echo " + text) << size;
  }
}

TEST_F(ChannelTest, ARequestBeyondTheBoundIsRefusedAndTheChannelStaysUsable) {
  auto channel = worker_->channel();
  ASSERT_TRUE(channel.ok());
  const Result<std::string> answer = ask(**channel, std::string(kMaxMessageBytes + 1, 'x'));
  EXPECT_EQ(answer.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*ask(**channel, "echo"), "echo");
}

TEST_F(ChannelTest, TheHotAreaIsHandedOverAndBack) {
  auto channel = worker_->channel();
  ASSERT_TRUE(channel.ok());
  const std::span<std::byte> area = (*channel)->hot_area();
  for (unsigned i = 0; i < 1000; ++i) {
    area[0] = static_cast<std::byte>(i);
    area[area.size() - 1] = std::byte{3};
    const Result<uint32_t> size = (*channel)->call_hot(static_cast<uint32_t>(area.size()));
    ASSERT_TRUE(size.ok()) << size.status().to_string();
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
  for (const size_t size : {3, 5'000, 60'000, 300'000}) {
    Posted posted;
    const std::string text(size, 'p');
    EXPECT_EQ(*ask(*worker_, "post 10 " + text, {.on_posted = std::ref(posted)}), "10");
    EXPECT_EQ(posted.texts, std::vector<std::string>(10, text));
  }
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
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
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

TEST_F(ChannelTest, StagingMemoryIsARegionThatGrows) {
  auto channel = worker_->channel();
  ASSERT_TRUE(channel.ok());
  const Result<SharedPlace> small = (*channel)->staging(100);
  ASSERT_TRUE(small.ok());
  const uint64_t first = small->region->id;
  EXPECT_EQ((*channel)->staging(200)->region->id, first);
  const Result<SharedPlace> large = (*channel)->staging(1 << 20);
  ASSERT_TRUE(large.ok());
  EXPECT_NE(large->region->id, first);
  EXPECT_GE(large->region->bytes.size(), size_t{1} << 20);
}

TEST_F(ChannelTest, ARegionIsReadAndWrittenByBothSides) {
  auto memory = SharedMemory::create("test", 4096, SharedAccess::kReadWrite);
  ASSERT_TRUE(memory.ok());
  std::ranges::fill(memory->bytes(), std::byte{2});
  Message request{"sum 4096 w"};
  request.descriptors.push_back(*duplicate(memory->region()->descriptor));
  auto channel = worker_->channel();
  EXPECT_EQ((*channel)->call(std::move(request))->bytes, "8192");
  EXPECT_EQ(memory->bytes()[4095], std::byte{7});
}

TEST_F(ChannelTest, ARegionForReadingCannotBeMappedForWriting) {
  auto memory = SharedMemory::create("test", 4096, SharedAccess::kRead);
  ASSERT_TRUE(memory.ok());
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

}  // namespace
}  // namespace ephost::worker
