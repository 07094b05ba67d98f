// A worker whose requests are lines: a command, and an argument after the first space.
#include "tests/unit/worker/test_worker.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "host/plugin/calls/call_scope.h"
#include "host/worker/process/worker_main.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {
namespace {

struct Command {
  std::string_view verb;
  std::string_view argument;
};

Command parse(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return {line, {}};
  return {line.substr(0, space), line.substr(space + 1)};
}

// "N text": asks the host N times.
std::string call_back(WorkerChannel& channel, std::string_view argument) {
  std::string answers;
  const int count = std::atoi(std::string(argument).c_str());
  for (int i = 0; i < count; ++i) {
    Result<Message> answer = channel.call_back(Message{std::string(argument)});
    if (!answer.ok()) return answer.status().message();
    answers += answer->bytes;
  }
  return answers;
}

std::string call_back_from_threads(WorkerChannel& channel, std::string_view argument) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (call_back(channel, argument).size() > 0) good.fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::to_string(good.load());
}

// "N text": posts "0 text", "1 text" and so on, and says how many of them were taken.
std::string post(WorkerChannel& channel, std::string_view argument) {
  const Command command = parse(argument);
  const int count = std::atoi(std::string(command.verb).c_str());
  int taken = 0;
  for (int i = 0; i < count; ++i) {
    std::string text = std::to_string(taken) + ' ' + std::string(command.argument);
    if (channel.post(Message{std::move(text)})) ++taken;
  }
  return std::to_string(taken);
}

// Posts without end from other threads, while this one calls the host back.
std::string post_from_threads(WorkerChannel& channel) {
  std::atomic<bool> is_over{false};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over.load()) {
        if (channel.post(Message{"0 thread"})) taken.fetch_add(1);
      }
    });
  }
  const std::string answers = call_back(channel, "50 " + std::string(100'000, 'y'));
  is_over.store(true);
  for (std::thread& thread : threads) thread.join();
  return answers.size() == 50 ? std::to_string(taken.load()) : "no answer";
}

// The thread of the call posts while another one calls back; the host answers that one only when a
// request "posted" of another channel says that the post has returned.
std::atomic<bool> has_posted{false};

std::string post_during_callback(WorkerChannel& channel) {
  has_posted.store(false);
  std::thread other([&] { call_back(channel, "1"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const bool taken = channel.post(Message{"0 beside"});
  has_posted.store(true);
  other.join();
  return taken ? "taken" : "refused";
}

// The same with two threads that call back.
std::string ask_during_callback(WorkerChannel& channel) {
  has_posted.store(false);
  std::thread other([&] { call_back(channel, "1"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const bool was_busy = !channel.try_to_call_back(Message{"2"});
  has_posted.store(true);
  other.join();
  const auto later = channel.try_to_call_back(Message{"3"});
  return (was_busy ? "busy, " : "free, ") + (later && later->ok() ? (*later)->bytes : "nothing");
}

std::string wait_for_post() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!has_posted.load() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return has_posted.load() ? "posted" : "the post hangs";
}

std::string wait_for_cancellation(const WorkerChannel& channel) {
  while (!channel.is_cancelled()) std::this_thread::yield();
  return "cancelled";
}

// "SIZE ACCESS": maps the descriptor of the message and adds up its bytes; with "w", sets them too.
std::string sum_region(const Message& message, std::string_view argument) {
  MappedRegions regions;
  const size_t size = std::strtoull(std::string(argument).c_str(), nullptr, 10);
  const bool writes = argument.find('w') != std::string_view::npos;
  const Status added = regions.add(1, message.descriptors.front(), 0, size,
                                   writes ? SharedAccess::kReadWrite : SharedAccess::kRead);
  if (!added.ok()) return added.message();
  uint64_t sum = 0;
  const std::span<std::byte> bytes = *regions.translate(1, 0, size);
  for (std::byte& byte : bytes) {
    sum += static_cast<uint64_t>(byte);
    if (writes) byte = std::byte{7};
  }
  return std::to_string(sum);
}

Message answer(WorkerChannel& channel, Message message) {
  const Command command = parse(message.bytes);
  if (command.verb == "callback") return {call_back(channel, command.argument)};
  if (command.verb == "threads") return {call_back_from_threads(channel, command.argument)};
  if (command.verb == "post") return {post(channel, command.argument)};
  if (command.verb == "post-beside") return {post_during_callback(channel)};
  if (command.verb == "ask-beside") return {ask_during_callback(channel)};
  if (command.verb == "posted") return {wait_for_post()};
  if (command.verb == "post-threads") return {post_from_threads(channel)};
  if (command.verb == "post-die") {
    post(channel, command.argument);
    die("abort");
  }
  if (command.verb == "wait") return {wait_for_cancellation(channel)};
  if (command.verb == "sum") return {sum_region(message, command.argument)};
  if (command.verb == "echo") return message;
  if (command.verb == "size") return {std::string(std::stoul(std::string(command.argument)), 'x')};
  if (command.verb == "die") {
    const plugin::CallScope scope(
        {.provider = "TestProvider", .slot = "compute", .kind = "Conv", .name = "conv1"});
    die(command.argument);
    return {"alive"};
  }
  const Command inner = parse(command.argument);
  return {attempt(inner.verb, inner.argument)};
}

void serve(WorkerChannel& channel) {
  while (true) {
    Request request = channel.receive();
    if (auto* const message = std::get_if<Message>(&request)) {
      if (!channel.answer(answer(channel, std::move(*message))).ok()) return;
    } else if (const auto* const hot = std::get_if<HotRequest>(&request)) {
      for (std::byte& byte : channel.hot_area().first(hot->size)) {
        byte = static_cast<std::byte>(static_cast<unsigned>(byte) + 1);
      }
      channel.answer_hot(hot->size);
    } else if (const auto* const lost = std::get_if<LostRequest>(&request)) {
      if (!channel.answer(Message{lost->reason.message()}).ok()) return;
    } else {
      return;
    }
  }
}

}  // namespace
}  // namespace ephost::worker

int main(int count, char** arguments) {
  using namespace ephost::worker;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // those below that are not proper workers end with the test
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode == "hostile") return misbehave(static_cast<unsigned>(std::atoi(arguments[2])));
  if (mode == "lie") return lie(arguments[2]);
  if (mode == "silent") {
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  if (mode == "exit") return 7;
  return run_worker(serve);
}
