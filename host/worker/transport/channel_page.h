// The memory that both ends of a channel share: whose turn it is, the hot area, and the places of
// messages. The worker may change any of it at any time: the host reads each byte once and
// checks what it has read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "host/worker/transport/message.h"

namespace ephost::worker {

inline constexpr size_t kHotAreaBytes = size_t{64} << 10;
// Messages without descriptors up to this size lie in the page.
inline constexpr size_t kShortMessageBytes = size_t{64} << 10;

// The value of ChannelPage::turn, without the bit kSleeping. Only the end that has the turn sets
// it.
enum class Turn : uint32_t {
  kIdle = 0,        // no call; the host has the turn
  kRequest,         // to the worker: a message
  kHotRequest,      // to the worker: the hot area
  kCallbackAnswer,  // to the worker: a message, the answer to its callback
  kCallback,        // to the host: a message, within the call
  kAnswer,          // to the host: a message that ends the call
  kHotAnswer,       // to the host: the hot area; ends the call
  kClosed,          // the other end is gone
  kCallbackFailed,  // to the worker: the host has no answer to its callback, for want of memory
};
// Set in `turn` by the side that waits in the kernel and has to be woken.
inline constexpr uint32_t kSleeping = 0x100;

// Where the message lies that a turn is about.
enum class MessagePlace : uint32_t {
  kSocket = 0,  // a packet
  kPage = 1,    // ChannelPage::message
  kLong = 2,    // ChannelPage::long_message; only of a worker
};

struct ChannelPage {
  std::atomic<uint32_t> turn;  // a futex
  // The size of the message or the hot request or answer that the turn is about.
  std::atomic<uint32_t> size;
  std::atomic<uint32_t> place;  // a MessagePlace
  // How many messages the worker has posted, by which the host knows that some are in the socket.
  std::atomic<uint32_t> posted;
  alignas(64) std::atomic<uint32_t> is_cancelled;
  alignas(64) std::array<std::byte, kHotAreaBytes> hot;
  alignas(64) std::array<std::byte, kShortMessageBytes> message;
  // Long messages of the worker, which then makes no uncounted memory of its own. Has no pages
  // before it is used, and none once the host has read it.
  alignas(4096) std::array<std::byte, kMaxFromWorkerBytes> long_message;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace ephost::worker
