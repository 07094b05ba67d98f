// Lists of keys and values.
#pragma once

#include <ephost/c_api.h>
#include <ephost/types/session_options.h>

#include <span>

namespace ephost::api {

[[nodiscard]] inline OptionList to_list(const ephost_key_value* entries, uint64_t count) {
  OptionList list;
  for (const ephost_key_value& entry : std::span(entries, count)) {
    list.emplace_back(entry.key, entry.value);
  }
  return list;
}

}  // namespace ephost::api
