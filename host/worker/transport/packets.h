// Messages as packets of a socket (SOCK_SEQPACKET). Long ones travel as sealed memory, of which the
// packet has the descriptor. What is received is checked and may come from a hostile process.
#pragma once

#include <ephost/status.h>

#include <array>
#include <optional>

#include "host/base/files/file_descriptor.h"
#include "host/worker/transport/message.h"

namespace ephost::worker {

enum class Waiting : bool { kNo, kYes };

struct SocketPair {
  FileDescriptor host;
  FileDescriptor worker;
};
[[nodiscard]] Result<SocketPair> create_socket_pair();
// Closes the connection for both ends, although a process that was forked from this one has the
// socket too.
void hang_up(FileDescriptor& socket);

// INVALID_ARGUMENT: the message is larger than a message, or a post, may be. EP_FAIL: the other end
// is gone, or (without waiting) does not read. FAIL: this process or its user is short of memory or
// descriptors. Nothing was sent then.
[[nodiscard]] Status send_packet(const FileDescriptor& socket, const Message& message,
                                 Waiting waiting);

// Longer messages do not fit into the buffers of sockets everywhere, and travel as memory.
inline constexpr size_t kMaxInline = size_t{32} << 10;
static_assert(kMaxPostBytes <= kMaxInline);

// The buffer that a packet is received into; a receiver of many keeps one.
using PacketBuffer = std::array<char, kMaxInline>;

// The next packet; nothing when the other end is closed. EP_FAIL: what came is not a packet of
// send_packet; without waiting also when there is none. FAIL: this process is short of descriptors;
// the packet is lost, as it is when memory runs out (std::bad_alloc).
// `most`: bytes that a message may have; a larger one is not a packet either, and is not read.
[[nodiscard]] Result<std::optional<Message>> receive_packet(const FileDescriptor& socket,
                                                            Waiting waiting, PacketBuffer& buffer,
                                                            size_t most = kMaxMessageBytes);
[[nodiscard]] Result<std::optional<Message>> receive_packet(const FileDescriptor& socket,
                                                            Waiting waiting);

// Whether a failure of the functions above is one of this process, not of the other end or of what
// it sent.
[[nodiscard]] inline bool is_shortage(const Status& failure) {
  return failure.code() == StatusCode::kFail || failure.code() == StatusCode::kOutOfMemory;
}

}  // namespace ephost::worker
