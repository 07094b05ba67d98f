#include "host/cli/report/selection_report.h"

#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/report/output.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

Json entries_json(const OptionList& entries) {
  Json json = Json::object();
  for (const auto& [key, value] : entries) json.set(key, value);
  return json;
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json provider_json(const SelectedProvider& provider) {
  return {{"name", provider.name},
          {"version_range", or_null(provider.version_range)},
          {"options", entries_json(provider.options)},
          {"devices", provider.devices},
          {"appended", provider.is_appended},
          {"provider", or_null(provider.provider)},
          {"version", or_null(provider.version)},
          {"manifest", or_null(provider.manifest)},
          {"library", or_null(provider.library)}};
}

std::string options_text(const OptionList& options) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : options) parts.push_back(formatted("{}={}", key, value));
  return join(parts, ", ");
}

}  // namespace

Json selection_json(const SelectionFile& file, const SelectionReport& report) {
  Json providers = Json::array();
  for (const SelectedProvider& provider : report.providers) {
    providers.push_back(provider_json(provider));
  }
  Json findings = Json::array();
  for (const SelectionFinding& finding : report.findings) {
    findings.push_back(
        {{"line", finding.line}, {"column", finding.column}, {"message", finding.message}});
  }
  return {{"file", file.path.native()},
          {"origin", file.origin},
          {"providers", providers},
          {"session", entries_json(report.session_entries)},
          {"findings", findings}};
}

std::string providers_text(const SelectionReport& report) {
  Table table({{"order", Align::kRight},
               {"name"},
               {"provider"},
               {"range"},
               {"version"},
               {"options"},
               {"devices"}});
  for (size_t i = 0; i < report.providers.size(); ++i) {
    const SelectedProvider& one = report.providers[i];
    table.add_row({std::to_string(i + 1), one.is_appended ? "(added)" : one.name,
                   one.provider.empty() ? "none" : one.provider, one.version_range, one.version,
                   options_text(one.options), join(one.devices, ", ")});
  }
  std::string text = table.to_text();
  for (const auto& [key, value] : report.session_entries) {
    text += printable(formatted("session: {}={}\n", key, value));
  }
  return text;
}

std::string findings_text(const std::filesystem::path& file, const SelectionReport& report) {
  std::string text;
  for (const SelectionFinding& finding : report.findings) {
    text += printable_line(formatted("{}:{}:{}: {}", file.native(), finding.line, finding.column,
                                     finding.message)) +
            "\n";
  }
  return text;
}

}  // namespace ephost::cli
