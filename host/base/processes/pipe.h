// Pipes between processes.
#pragma once

#include <ephost/status.h>

#include "host/base/files/file_descriptor.h"

namespace ephost {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Both ends are closed on exec. FAIL if the process has no descriptors left.
[[nodiscard]] Result<Pipe> make_pipe();

// Lets reads return EAGAIN where there is nothing to read yet.
[[nodiscard]] Status set_nonblocking(const FileDescriptor& descriptor);

}  // namespace ephost
