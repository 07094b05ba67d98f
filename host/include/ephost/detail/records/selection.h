// Fields of records and of the plain values that they become: reports on selection files.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/selection_report.h>

namespace ephost::detail {

template <>
struct RecordOf<SelectionFinding> {
  using C = ephost_selection_finding;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SelectionFinding::line, &C::line);
    visit(&SelectionFinding::column, &C::column);
    visit(&SelectionFinding::message, &C::message);
  }
};

template <>
struct RecordOf<SelectedProvider> {
  using C = ephost_selected_provider;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SelectedProvider::name, &C::name);
    visit(&SelectedProvider::version_range, &C::version_range);
    visit(&SelectedProvider::options, &C::options, &C::option_count);
    visit(&SelectedProvider::devices, &C::devices, &C::device_count);
    visit(&SelectedProvider::is_appended, &C::is_appended);
    visit(&SelectedProvider::provider, &C::provider);
    visit(&SelectedProvider::version, &C::version);
    visit(&SelectedProvider::manifest, &C::manifest);
    visit(&SelectedProvider::library, &C::library);
  }
};

template <>
struct RecordOf<SelectionVerdict> {
  using C = ephost_selection_verdict;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SelectionVerdict::manifest, &C::manifest);
    visit(&SelectionVerdict::position, &C::position);
    visit(&SelectionVerdict::reason, &C::reason);
  }
};

template <>
struct RecordOf<SelectionReport> {
  using C = ephost_selection_report;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SelectionReport::providers, &C::providers, &C::provider_count);
    visit(&SelectionReport::plugins, &C::plugins, &C::plugin_count);
    visit(&SelectionReport::session_entries, &C::session_entries, &C::session_entry_count);
    visit(&SelectionReport::findings, &C::findings, &C::finding_count);
  }
};

}  // namespace ephost::detail
