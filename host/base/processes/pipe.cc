#include "host/base/processes/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "host/base/format.h"

namespace ephost {
namespace {

Status pipe_failure() {
  return {StatusCode::kFail,
          formatted("cannot make a pipe: {}", std::generic_category().message(errno))};
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return pipe_failure();
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Status set_nonblocking(const FileDescriptor& descriptor) {
  if (::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK) != 0) return pipe_failure();
  return {};
}

}  // namespace ephost
