// Fields of records and of the plain values that they become: reports on selection files.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/selection_report.h>

namespace ephost::detail {

template <>
struct RecordOf<SelectionFinding> {
  using C = ephost_selection_finding;
  static constexpr auto kFields = std::tuple(field(&SelectionFinding::line, &C::line),
                                             field(&SelectionFinding::column, &C::column),
                                             field(&SelectionFinding::message, &C::message));
};

template <>
struct RecordOf<SelectedProvider> {
  using C = ephost_selected_provider;
  static constexpr auto kFields =
      std::tuple(field(&SelectedProvider::name, &C::name),
                 field(&SelectedProvider::version_range, &C::version_range),
                 field(&SelectedProvider::options, &C::options, &C::option_count),
                 field(&SelectedProvider::devices, &C::devices, &C::device_count),
                 field(&SelectedProvider::is_appended, &C::is_appended),
                 field(&SelectedProvider::provider, &C::provider),
                 field(&SelectedProvider::version, &C::version),
                 field(&SelectedProvider::manifest, &C::manifest),
                 field(&SelectedProvider::library, &C::library));
};

template <>
struct RecordOf<SelectionVerdict> {
  using C = ephost_selection_verdict;
  static constexpr auto kFields = std::tuple(field(&SelectionVerdict::manifest, &C::manifest),
                                             field(&SelectionVerdict::position, &C::position),
                                             field(&SelectionVerdict::reason, &C::reason));
};

template <>
struct RecordOf<SelectionReport> {
  using C = ephost_selection_report;
  static constexpr auto kFields = std::tuple(
      field(&SelectionReport::providers, &C::providers, &C::provider_count),
      field(&SelectionReport::plugins, &C::plugins, &C::plugin_count),
      field(&SelectionReport::session_entries, &C::session_entries, &C::session_entry_count),
      field(&SelectionReport::findings, &C::findings, &C::finding_count));
};

}  // namespace ephost::detail
