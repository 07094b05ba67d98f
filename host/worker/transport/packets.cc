#include "host/worker/transport/packets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/base/memory/shared_memory.h"

namespace ephost::worker {
namespace {

constexpr uint32_t kMagic = 0x45505731;
// One more than messages have: the memory of a long message.
constexpr size_t kMaxSent = kMaxDescriptors + 1;

struct PacketHeader {
  uint32_t magic = kMagic;
  uint16_t is_in_memory = 0;  // 1: the bytes are those of the first descriptor
  uint16_t is_posted = 0;     // 1: Message::is_posted
  uint64_t size = 0;          // of the message
};

union ControlBuffer {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int) * kMaxSent)> bytes;
};

// A failure of the other end, or of what it sent.
Status failure(std::string message) { return Status(StatusCode::kEpFail, std::move(message)); }

Status socket_error(std::string_view verb) {
  const bool is_of_other_end =
      errno == EPIPE || errno == ECONNRESET || errno == EAGAIN || errno == EWOULDBLOCK;
  return Status(is_of_other_end ? StatusCode::kEpFail : StatusCode::kFail,
                formatted("cannot {}: {}", verb, std::generic_category().message(errno)));
}

Status send_parts(const FileDescriptor& socket, std::span<iovec> parts, std::span<const int> sent,
                  Waiting waiting) {
  ControlBuffer control = {};
  msghdr header = {};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  if (!sent.empty()) {
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(sent.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sent.size_bytes());
    std::memcpy(CMSG_DATA(rights), sent.data(), sent.size_bytes());
  }
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::kNo ? MSG_DONTWAIT : 0);
  ssize_t done = 0;
  do {
    done = ::sendmsg(socket.get(), &header, flags);
  } while (done < 0 && errno == EINTR);
  return done < 0 ? socket_error("send a message") : Status::ok_status();
}

// Takes all descriptors, so that none is lost when the packet is refused.
std::vector<FileDescriptor> take_descriptors(msghdr& header) {
  std::vector<FileDescriptor> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      taken.emplace_back(descriptor);
    }
  }
  return taken;
}

// Only memory has seals; reading from a file could take as long as its sender likes.
Result<std::string> read_memory(const FileDescriptor& memory, size_t size) {
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_WRITE;
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kNeeded) != kNeeded) {
    return failure("a message does not lie in sealed memory");
  }
  struct stat info = {};
  if (::fstat(memory.get(), &info) != 0 || info.st_size < 0 ||
      static_cast<size_t>(info.st_size) < size) {
    return failure("a message is longer than the memory that it lies in");
  }
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(memory.get(), bytes.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure("the memory of a message cannot be read");
    done += static_cast<size_t>(count);
  }
  return bytes;
}

Result<Message> unpack(const PacketHeader& header, std::string_view rest,
                       std::vector<FileDescriptor> descriptors, size_t most) {
  if (header.magic != kMagic || header.is_in_memory > 1 || header.is_posted > 1) {
    return failure("a packet is malformed");
  }
  if (header.is_posted != 0 && (header.is_in_memory != 0 || !descriptors.empty())) {
    return failure("a post has descriptors");
  }
  if (header.size > most) {
    return failure(formatted("a message of {} bytes is too large", header.size));
  }
  Message message{std::string(rest), std::move(descriptors), header.is_posted != 0};
  if (header.is_in_memory != 0) {
    if (!rest.empty() || message.descriptors.empty()) return failure("a packet is malformed");
    EPHOST_ASSIGN_OR_RETURN(message.bytes, read_memory(message.descriptors.front(), header.size));
    message.descriptors.erase(message.descriptors.begin());
  } else if (rest.size() != header.size) {
    return failure("a packet has another size than it claims");
  }
  if (message.descriptors.size() > kMaxDescriptors) return failure("a packet is malformed");
  return message;
}

}  // namespace

Result<SocketPair> create_socket_pair() {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return socket_error("make a pair of sockets");
  }
  return SocketPair{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void hang_up(FileDescriptor& socket) {
  ::shutdown(socket.get(), SHUT_RDWR);
  socket.reset();
}

Status send_packet(const FileDescriptor& socket, const Message& message, Waiting waiting) {
  if (message.bytes.size() > kMaxMessageBytes || message.descriptors.size() > kMaxDescriptors) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("a message of {} bytes and {} descriptors is too large; at most {} and "
                            "{} can be sent",
                            message.bytes.size(), message.descriptors.size(), kMaxMessageBytes,
                            kMaxDescriptors));
  }
  if (message.is_posted && (message.bytes.size() > kMaxPostBytes || !message.descriptors.empty())) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("a post of {} bytes and {} descriptors is too large; at most {} bytes "
                            "can be posted",
                            message.bytes.size(), message.descriptors.size(), kMaxPostBytes));
  }
  PacketHeader header{.is_posted = message.is_posted, .size = message.bytes.size()};
  std::vector<int> sent;
  FileDescriptor memory;
  std::array<iovec, 2> parts = {iovec{&header, sizeof header}, iovec{}};
  if (message.bytes.size() > kMaxInline) {
    const auto bytes = std::as_bytes(std::span(message.bytes));
    EPHOST_ASSIGN_OR_RETURN(memory, SealedMapping::seal("ephost-message", bytes));
    header.is_in_memory = 1;
    sent.push_back(memory.get());
  } else {
    parts[1] = {const_cast<char*>(message.bytes.data()), message.bytes.size()};
  }
  for (const FileDescriptor& descriptor : message.descriptors) sent.push_back(descriptor.get());
  return send_parts(socket, parts, sent, waiting);
}

Result<std::optional<Message>> receive_packet(const FileDescriptor& socket, Waiting waiting) {
  const auto buffer = std::make_unique_for_overwrite<PacketBuffer>();
  return receive_packet(socket, waiting, *buffer);
}

Result<std::optional<Message>> receive_packet(const FileDescriptor& socket, Waiting waiting,
                                              PacketBuffer& buffer, size_t most) {
  PacketHeader header;
  std::array<iovec, 2> parts = {iovec{&header, sizeof header}, iovec{buffer.data(), buffer.size()}};
  ControlBuffer control = {};
  msghdr received = {};
  received.msg_iov = parts.data();
  received.msg_iovlen = parts.size();
  received.msg_control = control.bytes.data();
  received.msg_controllen = sizeof control.bytes;
  const int flags = MSG_CMSG_CLOEXEC | (waiting == Waiting::kNo ? MSG_DONTWAIT : 0);
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket.get(), &received, flags);
  } while (count < 0 && errno == EINTR);
  if (count == 0 || (count < 0 && errno == ECONNRESET)) return std::optional<Message>();
  if (count < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return failure("no message was sent");
    return socket_error("receive a message");
  }
  std::vector<FileDescriptor> descriptors = take_descriptors(received);
  const bool is_cut_off = (received.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if ((received.msg_flags & MSG_CTRUNC) != 0 && descriptors.size() < kMaxSent) {
    return Status(StatusCode::kFail,
                  "cannot receive the descriptors of a message: too many open files");
  }
  const auto size = static_cast<size_t>(count);
  if (is_cut_off || size < sizeof header) return failure("a packet is malformed");
  const std::string_view rest(buffer.data(), size - sizeof header);
  EPHOST_ASSIGN_OR_RETURN(Message message, unpack(header, rest, std::move(descriptors), most));
  return std::optional(std::move(message));
}

}  // namespace ephost::worker
