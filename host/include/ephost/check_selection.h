// A check of a selection file without a model, which reports what the file would choose.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/records/selection.h>
#include <ephost/environment.h>
#include <ephost/status.h>
#include <ephost/types/selection_report.h>

#include <string>

namespace ephost {
inline namespace v1 {

// What is wrong with the selection is not an error but a finding in the report: its format,
// versions, plugins, options and configuration entries, and with SelectionCheck::kLoad devices and
// whether each provider can be created. Errors are those of reading the file. May be called from
// any thread.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<SelectionReport> check_selection(
    const Environment& environment, const std::string& file,
    SelectionCheck depth = SelectionCheck::kLoad) {
  return detail::take_report<SelectionReport>([&](const ephost_selection_report** report) {
    return detail::api().plugin->check_selection(
        environment.handle(), file.c_str(),
        depth == SelectionCheck::kLoad ? EPHOST_SELECTION_LOAD : EPHOST_SELECTION_FIND, report);
  });
}

}  // namespace v1
}  // namespace ephost
