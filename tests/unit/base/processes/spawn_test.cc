#include "host/base/processes/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "host/base/processes/pipe.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::spawn_test {
namespace {

using test::IsOk;

// What a command of the shell writes to the descriptor 1, which is a pipe.
std::string output_of(const std::string& command, SpawnPlan plan = {}) {
  Result<Pipe> pipe = make_pipe();
  EXPECT_THAT(pipe, IsOk());
  plan.program = "/bin/sh";
  plan.arguments = {"sh", "-c", command};
  plan.descriptors.push_back({pipe->write_end.get(), STDOUT_FILENO});
  const Result<pid_t> child = spawn(plan);
  EXPECT_THAT(child, IsOk());
  pipe->write_end.reset();
  std::string text;
  std::array<char, 256> buffer{};
  for (ssize_t count = 0;
       (count = ::read(pipe->read_end.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  int state = 0;
  EXPECT_EQ(::waitpid(*child, &state, 0), *child);
  EXPECT_EQ(state, 0) << text;
  return text;
}

TEST(Spawn, PassesNoFurtherDescriptors) {
  const FileDescriptor inherited(::open("/dev/null", O_RDONLY));  // not closed on exec
  // That of the folder, which the shell lists, is closed again when it is asked for.
  EXPECT_EQ(output_of("for fd in /proc/$$/fd/*; do [ ! -e $fd ] || echo ${fd##*/}; done"),
            "0\n1\n2\n");
}

TEST(Spawn, GivesDescriptorsTheirNumbersWhicheverTheyHaveHere) {
  Result<Pipe> first = make_pipe();
  Result<Pipe> second = make_pipe();
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  ASSERT_EQ(::write(first->write_end.get(), "first\n", 6), 6);
  ASSERT_EQ(::write(second->write_end.get(), "second\n", 7), 7);
  // Each gets the number that the other one has.
  const int one = first->read_end.get();
  const int other = second->read_end.get();
  EXPECT_EQ(output_of("read -r a <&" + std::to_string(one) + "; read -r b <&" +
                          std::to_string(other) + "; echo $a $b",
                      {.descriptors = {{one, other}, {other, one}}}),
            "second first\n");
}

TEST(Spawn, SetsFolderEnvironmentAndGroup) {
  const test::TempDirectory folder;
  EXPECT_EQ(output_of("pwd -P; echo $WORD", {.environment = {"WORD=abc"}, .folder = folder.path()}),
            std::filesystem::canonical(folder.path()).string() + "\nabc\n");
  const std::string command = "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && echo own || echo other";
  EXPECT_EQ(output_of(command), "own\n");
  EXPECT_EQ(output_of(command, {.leads_group = false}), "other\n");
}

TEST(Spawn, SaysWhatCannotBeStarted) {
  const Result<pid_t> missing = spawn({.program = "/nowhere/program", .arguments = {"program"}});
  EXPECT_EQ(missing.status().code(), StatusCode::kNoSuchFile);
  EXPECT_EQ(missing.status().message(),
            "cannot start \"/nowhere/program\": No such file or directory");
  const Result<pid_t> folder = spawn({.program = "/", .arguments = {"/"}});
  EXPECT_EQ(folder.status().code(), StatusCode::kFail);
}

}  // namespace
}  // namespace ephost::spawn_test
