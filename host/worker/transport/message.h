// A message between the host and a worker: bytes with descriptors. The transport does not know
// what the bytes mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/file_descriptor.h"

namespace ephost::worker {

// Bounds of a message, on both sides. A larger one is not sent, and one that claims to be larger
// breaks the rules of the channel.
inline constexpr size_t kMaxMessageBytes = size_t{256} << 20;
inline constexpr size_t kMaxDescriptors = 64;
// The limit for a message of a worker: each entry of it becomes an object of the host.
inline constexpr size_t kMaxFromWorkerBytes = size_t{16} << 20;
// The limit for a post, which has no descriptors.
inline constexpr size_t kMaxPostBytes = size_t{32} << 10;

struct Message {
  std::string bytes;
  std::vector<FileDescriptor> descriptors = {};  // closed with the message unless taken out of it
  bool is_posted = false;                        // by the worker, which does not wait for an answer
};

// The first message on the socket of a channel, from the worker: whether a thread serves it.
inline constexpr std::string_view kChannelOpen = "open";
inline constexpr std::string_view kChannelRefused = "refused";

}  // namespace ephost::worker
