// verify_context: checks a context model without running it: its structure, its files and their
// checksums, and whether the installed providers can load it.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/model_report.h>
#include <ephost/environment.h>
#include <ephost/status.h>
#include <ephost/types/context_report.h>

#include <cstddef>
#include <string>

namespace ephost {
inline namespace v1 {

// Errors are those of reading the model; INVALID_ARGUMENT for one without EPContext nodes. What is
// wrong with a context model is not an error but a problem in the report. INVALID_ARGUMENT for a
// `device` that no provider of the model's contexts has. A model that is replaced meanwhile is read
// again. For `requests`, errors are also those of creating a session with them. May be called from
// any thread.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<ContextReport> verify_context(
    const Environment& environment, const std::string& model,
    const VerifyContextOptions& options = {}) {
  using Providers = VerifyContextOptions::Providers;
  auto given = detail::sized<ephost_verify_options>();
  given.skip_checksums = options.compare_checksums ? 0 : 1;
  if (options.providers == Providers::kFind) given.providers = EPHOST_VERIFY_FIND;
  if (options.providers == Providers::kIgnore) given.providers = EPHOST_VERIFY_IGNORE;
  given.device = options.device.c_str();
  const size_t request_count = options.requests ? options.requests->size() : 0;
  detail::SmallArray<detail::Owned<detail::RequestView, detail::Delete>> views(request_count);
  detail::SmallArray<const ephost_provider_request*> requests(request_count);
  if (options.requests) {
    for (size_t i = 0; i < request_count; ++i) {
      views[i].reset(new detail::RequestView((*options.requests)[i]));
      requests[i] = views[i]->record();
    }
    given.requests = requests.data();
    given.request_count = request_count;
    given.requested_only = 1;
  }
  const detail::OptionViews entries(options.session_entries);
  given.session_entries = entries.data();
  given.session_entry_count = entries.size();
  return detail::take_report<ContextReport>([&](const ephost_context_report** report) {
    return detail::api().model->verify_context(environment.handle(), model.c_str(), &given, report);
  });
}

}  // namespace v1
}  // namespace ephost
