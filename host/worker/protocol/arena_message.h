// Messages that hold graphs: their parts lie in few blocks of memory, which are released at once.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>

namespace ephost::worker {

template <class Message>
class ArenaMessage {
 public:
  ArenaMessage() : arena_(options()) {}

  Message& operator*() const { return *message_; }
  Message* operator->() const { return message_; }

 private:
  static google::protobuf::ArenaOptions options() {
    google::protobuf::ArenaOptions chosen;  // each block is twice as large as the one before
    chosen.max_block_size = size_t{1} << 20;
    return chosen;
  }

  google::protobuf::Arena arena_;
  Message* const message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
};

}  // namespace ephost::worker
