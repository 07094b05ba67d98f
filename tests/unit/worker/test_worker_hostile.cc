#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "host/worker/process/startup.h"
#include "host/worker/process/worker_main.h"
#include "host/worker/transport/packets.h"
#include "tests/unit/worker/test_worker.h"

namespace ephost::worker {
namespace {

using Random = std::mt19937;

unsigned below(Random& random, unsigned end) { return static_cast<unsigned>(random() % end); }

void send_raw(const FileDescriptor& socket, Random& random) {
  std::string bytes(below(random, 4) == 0 ? 0 : below(random, 200), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A packet whose header is right but for what it says about sizes and memory.
void send_nearly_right(const FileDescriptor& socket, Random& random) {
  struct {
    uint32_t magic = 0x45505731;
    uint32_t is_in_memory;
    uint64_t size;
  } header = {.is_in_memory = below(random, 3), .size = uint64_t{1} << below(random, 64)};
  ::send(socket.get(), &header, sizeof header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Message posted(std::string text) {
  Message message{std::move(text)};
  message.is_posted = true;
  return message;
}

void misbehave_once(ChannelPage& page, const FileDescriptor& socket, Random& random) {
  switch (below(random, 10)) {
    case 0:
      return send_raw(socket, random);
    case 1:
      return send_nearly_right(socket, random);
    case 2:
      page.size.store(static_cast<uint32_t>(random()));
      return;
    case 3:
      page.is_short.store(below(random, 3));
      return;
    case 4:
      page.message[below(random, kShortMessageBytes)] = static_cast<std::byte>(random());
      return;
    case 5:
      page.size.store(below(random, 100));
      page.is_short.store(1);
      return pass_turn(page, below(random, 2) == 0 ? Turn::kAnswer : Turn::kCallback);
    case 6:
      page.posted.store(below(random, 2) == 0 ? below(random, 5) : static_cast<uint32_t>(random()));
      return;
    case 7:
      static_cast<void>(send_packet(socket, posted("post"), Waiting::kNo));
      page.posted.fetch_add(below(random, 2));
      return;
    case 8:
      return pass_turn(page, static_cast<Turn>(below(random, 10)));
    default:
      return pass_turn(page, static_cast<Turn>(random()));
  }
}

ChannelPage& map_page(const FileDescriptor& memory) {
  void* const address =
      ::mmap(nullptr, sizeof(ChannelPage), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (address == MAP_FAILED) ::_exit(4);
  return *static_cast<ChannelPage*>(address);
}

void misbehave_on(const FileDescriptor& socket, const FileDescriptor& memory, unsigned seed) {
  ChannelPage& page = map_page(memory);
  Random random(seed);
  while (true) {
    misbehave_once(page, socket, random);
    if (below(random, 4) == 0) std::this_thread::yield();
  }
}

bool start_properly(const FileDescriptor& socket) {
  return receive_packet(socket, Waiting::kYes).ok() &&
         send_packet(socket, Message{encode(ReadyReport())}, Waiting::kYes).ok();
}

void lie_once(ChannelPage& page, const FileDescriptor& socket, std::string_view how) {
  if (how == "counts posts that it did not send") page.posted.fetch_add(1);
  if (how == "counts back") page.posted.fetch_sub(1);
  if (how == "posts what is no post") {
    static_cast<void>(send_packet(socket, Message{"no post"}, Waiting::kYes));
    page.posted.fetch_add(1);
  }
  if (how == "posts without counting") {
    static_cast<void>(send_packet(socket, posted("uncounted"), Waiting::kYes));
  }
  page.is_short.store(1);
  page.size.store(0);
  if (how != "posts without end") return pass_turn(page, Turn::kAnswer);
  page.is_short.store(0);
  std::thread([&page] { pass_turn(page, Turn::kAnswer); }).detach();
  while (send_packet(socket, posted("again"), Waiting::kYes).ok()) {
  }
}

}  // namespace

int lie(std::string_view how) {
  const FileDescriptor main_socket(kMainSocket);
  if (!start_properly(main_socket)) return 4;
  Result<std::optional<Message>> channel = receive_packet(main_socket, Waiting::kYes);
  if (!channel.ok() || !*channel) return 0;
  const FileDescriptor socket = std::move((*channel)->descriptors[0]);
  ChannelPage& page = map_page((*channel)->descriptors[1]);
  while (true) {
    const uint32_t turn = page.turn.load() & ~kSleeping;
    if (turn == static_cast<uint32_t>(Turn::kRequest)) lie_once(page, socket, how);
    if (turn == static_cast<uint32_t>(Turn::kClosed)) return 0;
    std::this_thread::yield();
  }
}

int misbehave(unsigned seed) {
  const FileDescriptor socket(kMainSocket);
  if (!start_properly(socket)) return 4;
  while (true) {
    Result<std::optional<Message>> channel = receive_packet(socket, Waiting::kYes);
    if (!channel.ok() || !*channel) return 0;
    std::thread(misbehave_on, std::move((*channel)->descriptors[0]),
                std::move((*channel)->descriptors[1]), seed)
        .detach();
  }
}

}  // namespace ephost::worker
