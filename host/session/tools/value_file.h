// Values in files, as <ephost/value_file.h> says.
#pragma once

#include <ephost/status.h>
#include <ephost/types/value_file.h>

#include <filesystem>

#include "host/runtime/values/value.h"

namespace ephost::session {

[[nodiscard]] Result<runtime::NamedValue> read_value_file(const std::filesystem::path& path,
                                                          const ValueForm& form = {});

[[nodiscard]] Status write_value_file(const std::filesystem::path& path,
                                      const runtime::NamedValue& value, bool is_optional = false);

}  // namespace ephost::session
