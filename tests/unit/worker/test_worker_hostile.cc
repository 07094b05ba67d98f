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

void misbehave_once(ChannelPage& page, const FileDescriptor& socket, Random& random) {
  switch (below(random, 8)) {
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
      return pass_turn(page, static_cast<Turn>(below(random, 10)));
    default:
      return pass_turn(page, static_cast<Turn>(random()));
  }
}

void misbehave_on(FileDescriptor socket, FileDescriptor memory, unsigned seed) {
  void* const address =
      ::mmap(nullptr, sizeof(ChannelPage), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (address == MAP_FAILED) ::_exit(4);
  auto& page = *static_cast<ChannelPage*>(address);
  Random random(seed);
  while (true) {
    misbehave_once(page, socket, random);
    if (below(random, 4) == 0) std::this_thread::yield();
  }
}

}  // namespace

int misbehave(unsigned seed) {
  const FileDescriptor socket(kMainSocket);
  if (!receive_packet(socket, Waiting::kYes).ok()) return 4;
  if (!send_packet(socket, Message{encode(ReadyReport())}, Waiting::kYes).ok()) return 4;
  while (true) {
    Result<std::optional<Message>> channel = receive_packet(socket, Waiting::kYes);
    if (!channel.ok() || !*channel) return 0;
    std::thread(misbehave_on, std::move((*channel)->descriptors[0]),
                std::move((*channel)->descriptors[1]), seed)
        .detach();
  }
}

}  // namespace ephost::worker
