#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <span>
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

struct Header {
  uint32_t magic = 0x45505731;
  uint16_t is_in_memory = 0;
  uint16_t is_posted = 0;
  uint64_t size = 0;
};

// A packet whose header is right but for what it says about sizes, memory and posts.
void send_nearly_right(const FileDescriptor& socket, Random& random) {
  const Header header = {.is_in_memory = static_cast<uint16_t>(below(random, 3)),
                         .is_posted = static_cast<uint16_t>(below(random, 3)),
                         .size = uint64_t{1} << below(random, 64)};
  ::send(socket.get(), &header, sizeof header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A packet with a header, no bytes, and a descriptor.
bool send_descriptor(const FileDescriptor& socket, Header header, int descriptor) {
  iovec part = {&header, sizeof header};
  union {
    cmsghdr header;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  } control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL) > 0;
}

int memory_of(size_t size) {
  const int memory = ::memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0 || ::ftruncate(memory, static_cast<off_t>(size)) != 0) ::_exit(4);
  return memory;
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
      page.place.store(below(random, 3));
      return;
    case 4:
      page.message[below(random, kShortMessageBytes)] = static_cast<std::byte>(random());
      return;
    case 5:
      page.size.store(below(random, 100));
      page.place.store(1);
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

bool start_properly(const FileDescriptor& socket, bool is_posted = false) {
  Message report{encode(ReadyReport())};
  report.is_posted = is_posted;
  return receive_packet(socket, Waiting::kYes).ok() &&
         send_packet(socket, report, Waiting::kYes).ok();
}

void answer_with(const FileDescriptor& socket, std::string_view how) {
  constexpr size_t kSize = size_t{8} << 20;
  const Header header = {.is_in_memory = 1, .size = kSize};
  if (how == "answers with memory that shrinks") {
    const int memory = memory_of(kSize);
    send_descriptor(socket, header, memory);
    std::thread([memory] {
      while (::ftruncate(memory, 0) == 0 && ::ftruncate(memory, kSize) == 0) {
      }
    }).detach();
  }
  if (how == "answers with a file") {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    send_descriptor(socket, {.is_in_memory = 1, .size = 100}, file);
  }
  if (how == "answers with a pipe") {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ::_exit(4);
    send_descriptor(socket, {.is_in_memory = 1, .size = 100}, ends[0]);
  }
}

void lie_once(ChannelPage& page, const FileDescriptor& socket, std::string_view how) {
  if (how == "counts posts that it did not send") page.posted.fetch_add(1);
  if (how == "counts back") page.posted.fetch_sub(1);
  if (how == "posts a message that is not a post") {
    static_cast<void>(send_packet(socket, Message{"no post"}, Waiting::kYes));
    page.posted.fetch_add(1);
  }
  if (how == "posts without counting" || how == "answers with a post") {
    static_cast<void>(send_packet(socket, posted("uncounted"), Waiting::kYes));
  }
  if (how == "posts without end") {
    page.posted.fetch_add(4096);
    while (send_packet(socket, posted("again"), Waiting::kYes).ok()) page.posted.fetch_add(1);
  }
  if (how == "posts a descriptor") {
    send_descriptor(socket, {.is_posted = 1}, memory_of(1));
    page.posted.fetch_add(1);
  }
  if (how == "posts endless memory") {
    constexpr size_t kSize = size_t{200} << 20;
    const int memory = memory_of(kSize);
    ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    page.posted.fetch_add(4096);
    while (send_descriptor(socket, {.is_in_memory = 1, .is_posted = 1, .size = kSize}, memory)) {
    }
  }
  if (how == "posts in a way that is unknown") {
    const Header header = {.is_posted = 2};
    ::send(socket.get(), &header, sizeof header, MSG_NOSIGNAL);
    page.posted.fetch_add(1);
  }
  if (how == "posts nothing") {
    ::send(socket.get(), "", 0, MSG_NOSIGNAL);
    page.posted.fetch_add(1);
  }
  if (how == "posts while the host answers and dies") {
    page.place.store(1);
    page.size.store(0);
    pass_turn(page, Turn::kCallback);
    for (int i = 0; i < 5; ++i) {
      static_cast<void>(send_packet(socket, posted(std::to_string(i) + " last"), Waiting::kYes));
      page.posted.fetch_add(1);
    }
    ::_exit(9);
  }
  page.size.store(0);
  page.place.store(how.starts_with("answers with") ? 0 : 1);
  answer_with(socket, how);
  pass_turn(page, Turn::kAnswer);
}

}  // namespace

int lie(std::string_view how) {
  const FileDescriptor main_socket(kMainSocket);
  if (!start_properly(main_socket, how == "posts its report")) return 4;
  Result<std::optional<Message>> channel = receive_packet(main_socket, Waiting::kYes);
  if (!channel.ok() || !*channel) return 0;
  const FileDescriptor socket = std::move((*channel)->descriptors[0]);
  ChannelPage& page = map_page((*channel)->descriptors[1]);
  (void)send_packet(socket, Message{std::string(kChannelOpen)}, Waiting::kNo);
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
    const Message open{std::string(kChannelOpen)};
    (void)send_packet((*channel)->descriptors[0], open, Waiting::kNo);
    std::thread(misbehave_on, std::move((*channel)->descriptors[0]),
                std::move((*channel)->descriptors[1]), seed)
        .detach();
  }
}

}  // namespace ephost::worker
