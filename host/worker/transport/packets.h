// Messages as packets of a socket (SOCK_SEQPACKET). Long ones travel as sealed memory, of which the
// packet has the descriptor. What is received is checked and may come from a hostile process.
#pragma once

#include <ephost/status.h>

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

// INVALID_ARGUMENT: the message is larger than a message may be. FAIL: the other end is gone, or
// (without waiting) does not read.
[[nodiscard]] Status send_packet(const FileDescriptor& socket, const Message& message,
                                 Waiting waiting);

// The next packet; nothing when the other end is closed. FAIL: what came is not a packet of
// send_packet; without waiting also when there is none.
[[nodiscard]] Result<std::optional<Message>> receive_packet(const FileDescriptor& socket,
                                                            Waiting waiting);

}  // namespace ephost::worker
