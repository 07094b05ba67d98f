#include "host/worker/transport/packets.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "host/worker/transport/regions.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::packets_test {
namespace {

using test::IsOk;

struct Header {
  uint32_t magic = 0x45505731;
  uint16_t is_in_memory = 0;
  uint16_t is_posted = 0;
  uint64_t size = 0;
};

class PacketsTest : public ::testing::Test {
 protected:
  std::string refusal_of(const Header& header, const std::string& rest = "") {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += rest;
    ::send(sockets_.worker.get(), bytes.data(), bytes.size(), 0);
    const auto message = receive_packet(sockets_.host, Waiting::kNo);
    return message.ok() ? "" : message.status().message();
  }

  SocketPair sockets_ = *create_socket_pair();
};

TEST_F(PacketsTest, DescriptorsArriveWithTheMessage) {
  Message message{"text"};
  for (size_t i = 0; i < kMaxDescriptors; ++i) {
    message.descriptors.push_back(*duplicate(sockets_.host));
  }
  ASSERT_THAT(send_packet(sockets_.host, message, Waiting::kNo), IsOk());
  const auto received = receive_packet(sockets_.worker, Waiting::kNo);
  EXPECT_EQ((*received)->bytes, "text");
  EXPECT_EQ((*received)->descriptors.size(), kMaxDescriptors);
}

TEST_F(PacketsTest, ALongMessageCanHaveDescriptorsToo) {
  Message message{std::string(1 << 20, 'x')};
  for (size_t i = 0; i < kMaxDescriptors; ++i) {
    message.descriptors.push_back(*duplicate(sockets_.host));
  }
  ASSERT_THAT(send_packet(sockets_.host, message, Waiting::kNo), IsOk());
  const auto received = receive_packet(sockets_.worker, Waiting::kNo);
  EXPECT_EQ((*received)->bytes, message.bytes);
  EXPECT_EQ((*received)->descriptors.size(), kMaxDescriptors);
}

TEST_F(PacketsTest, NoPacketIsAFailureAndAClosedEndIsNot) {
  EXPECT_EQ(receive_packet(sockets_.host, Waiting::kNo).status().message(), "no message was sent");
  sockets_.worker.reset();
  const auto closed = receive_packet(sockets_.host, Waiting::kNo);
  ASSERT_THAT(closed, IsOk());
  EXPECT_FALSE(*closed);
}

TEST_F(PacketsTest, MalformedPacketsAreRefused) {
  EXPECT_EQ(refusal_of({.magic = 1}), "a packet is malformed");
  EXPECT_EQ(refusal_of({.is_in_memory = 2}), "a packet is malformed");
  EXPECT_EQ(refusal_of({.is_in_memory = 1}), "a packet is malformed");
  EXPECT_EQ(refusal_of({.is_posted = 2}), "a packet is malformed");
  EXPECT_EQ(refusal_of({.is_in_memory = 1, .is_posted = 1}), "a post has descriptors");
  EXPECT_EQ(refusal_of({.size = 4}, "abc"), "a packet has another size than it claims");
  EXPECT_EQ(refusal_of({.size = uint64_t{1} << 40}),
            "a message of 1099511627776 bytes is too large");
  ::send(sockets_.worker.get(), "short", 5, 0);
  EXPECT_FALSE(receive_packet(sockets_.host, Waiting::kNo).ok());
}

TEST_F(PacketsTest, APostIsShortAndHasNoDescriptors) {
  Message post{std::string(kMaxPostBytes, 'p')};
  post.is_posted = true;
  ASSERT_THAT(send_packet(sockets_.worker, post, Waiting::kNo), IsOk());
  const auto received = receive_packet(sockets_.host, Waiting::kNo);
  EXPECT_TRUE((*received)->is_posted);
  EXPECT_EQ((*received)->bytes, post.bytes);
  post.bytes += 'p';
  EXPECT_EQ(send_packet(sockets_.worker, post, Waiting::kNo).code(), StatusCode::kInvalidArgument);
  post.bytes = "p";
  post.descriptors.push_back(*duplicate(sockets_.host));
  EXPECT_EQ(send_packet(sockets_.worker, post, Waiting::kNo).code(), StatusCode::kInvalidArgument);
}

TEST_F(PacketsTest, DescriptorsOfARefusedPacketAreClosed) {
  const size_t before = open_descriptors();
  Header header{.is_in_memory = 1, .size = 100};
  iovec part = {&header, sizeof header};
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int sent = sockets_.worker.get();
  std::memcpy(CMSG_DATA(rights), &sent, sizeof sent);
  ASSERT_GT(::sendmsg(sockets_.worker.get(), &message, 0), 0);
  EXPECT_EQ(receive_packet(sockets_.host, Waiting::kNo).status().message(),
            "a message does not lie in sealed memory");
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace ephost::worker::packets_test
