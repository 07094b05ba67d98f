// `ephost config list`: every configuration entry with its meaning and its default.
#include <ephost/session_options.h>

#include <memory>
#include <string>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct ConfigFlags {
  ReportFlags report;
  std::string pattern;
};

using Entries = std::vector<ConfigEntryDescription>;

std::string_view scope_name(ConfigScope scope) {
  switch (scope) {
    case ConfigScope::kSession:
      return "session";
    case ConfigScope::kRun:
      return "run";
    case ConfigScope::kProcess:
      break;
  }
  return "process";
}

// Those with this key, or else those that the pattern fits, or whose key contains it.
Entries matching(const Entries& known, const std::string& pattern) {
  Entries same;
  Entries similar;
  for (const ConfigEntryDescription& entry : known) {
    const bool fits = fits_pattern(pattern, entry.key);
    if (entry.key == pattern) same.push_back(entry);
    if (fits || entry.key.find(pattern) != std::string::npos) similar.push_back(entry);
  }
  return same.empty() ? similar : same;
}

Status unknown_entry(const Entries& known, const std::string& pattern) {
  std::vector<std::string_view> keys;
  for (const ConfigEntryDescription& entry : known) keys.push_back(entry.key);
  const auto nearest = nearest_match(pattern, keys);
  return Status(StatusCode::kInvalidArgument,
                formatted("no configuration entry is {} or contains that; {}", quote(pattern),
                          nearest ? formatted("did you mean {}?", quote(*nearest))
                                  : std::string("\"ephost config list\" has all of them")));
}

Json to_json(const Entries& entries) {
  Json list = Json::array();
  for (const ConfigEntryDescription& entry : entries) {
    list.push_back({{"key", entry.key},
                    {"scope", scope_name(entry.scope)},
                    {"subject", entry.subject},
                    {"values", entry.values},
                    {"default", entry.default_value},
                    {"meaning", entry.meaning},
                    {"own", entry.is_own}});
  }
  return {{"entries", std::move(list)}};
}

std::string entry_text(const ConfigEntryDescription& entry) {
  Facts facts;
  facts.add("key", entry.key);
  facts.add("meaning", entry.meaning);
  facts.add("values", entry.values);
  facts.add("default", entry.default_value);
  facts.add("scope", scope_name(entry.scope));
  facts.add("subject", entry.subject);
  facts.add("origin", entry.is_own ? "ephost" : "ONNX Runtime");
  return facts.to_text();
}

// One table for each subject.
std::string to_table(const Entries& entries) {
  if (entries.size() == 1) return entry_text(entries.front());
  std::string text;
  for (size_t first = 0; first < entries.size();) {
    const std::string& subject = entries[first].subject;
    Table table({{"key"}, {"values"}, {"default"}, {"meaning"}});
    size_t next = first;
    for (; next < entries.size() && entries[next].subject == subject; ++next) {
      const ConfigEntryDescription& entry = entries[next];
      table.add_row({entry.key, entry.values, entry.default_value, entry.meaning});
    }
    text += formatted("{}{}\n\n{}", first == 0 ? "" : "\n", subject, table.to_text());
    first = next;
  }
  return text;
}

Result<int> list_entries(const ConfigFlags& flags) {
  apply(flags.report);
  const Entries known = known_config_entries();
  const Entries entries = flags.pattern.empty() ? known : matching(known, flags.pattern);
  if (entries.empty()) return unknown_entry(known, flags.pattern);
  print(flags.report.json() ? to_text(to_json(entries)) : to_table(entries));
  return kExitSuccess;
}

}  // namespace

Command add_config(ArgumentParser& root) {
  auto flags = std::make_shared<ConfigFlags>();
  ArgumentParser config = root.add_subcommand("config", "Explain configuration entries");
  config.require_subcommand();
  ArgumentParser app = config.add_subcommand(
      "list", "List the configuration entries with their meanings and defaults");
  app.add("PATTERN", flags->pattern,
          "Only this entry, or those whose keys contain this or fit it, e.g. \"session.shapes.*\"")
      .type_name("PATTERN");
  add_report_flags(app, flags->report);
  return {config, [flags] { return list_entries(*flags); }};
}

}  // namespace ephost::cli
