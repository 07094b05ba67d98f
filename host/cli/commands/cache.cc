// `ephost cache list|verify|prune|clear DIR`: maintains a cache store (ep.cache_dir).
#include <ephost/cache_store.h>

#include <chrono>
#include <memory>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct CacheFlags {
  ReportFlags report;
  std::filesystem::path folder;
  CacheLimits limits;  // of `prune`
};

std::string_view item_state_name(CacheItem::State state) {
  switch (state) {
    case CacheItem::State::kEntry:
      return "entry";
    case CacheItem::State::kQuarantined:
      return "quarantined";
    case CacheItem::State::kTemporary:
      break;
  }
  return "temporary";
}

std::string last_use_of(const CacheItem& item) {
  return utc_text(std::chrono::system_clock::to_time_t(item.last_used));
}

Json item_json(const CacheItem& item) {
  return {{"key", item.key.empty() ? Json() : Json(item.key)},
          {"state", item_state_name(item.state)},
          {"folder", item.folder},
          {"bytes", item.bytes},
          {"last_used", last_use_of(item)}};
}

Json to_json(const CacheItemDescription& described) {
  Json json = item_json(described.item);
  Json made_of = Json::array();
  for (const auto& [name, value] : described.made_of) {
    made_of.push_back({{"name", name}, {"value", value}});
  }
  json.set("model", described.model_name);
  json.set("providers", described.providers);
  json.set("partitions", described.partitions);
  json.set("made_of", made_of);
  json.set("problem", described.problem.empty() ? Json() : Json(described.problem));
  return json;
}

// What was found in the store. The first session that uses a store makes it; until then there is
// nothing to list or to remove, which the report says.
template <class Found>
Result<Found> found_in_store(const CacheFlags& flags, Result<Found> found) {
  if (found.status().code() != StatusCode::kNoSuchFile) return found;
  if (!flags.report.json() && !flags.report.quiet) {
    print(formatted("there is no store in {} yet\n", quote(flags.folder.native())));
  }
  return Found();
}

Result<int> list_store(const CacheFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<CacheItemDescription> items,
                          found_in_store(flags, list_cache(flags.folder)));
  uint64_t bytes = 0;
  Json entries = Json::array();
  Table table(
      {{"key"}, {"state"}, {"model"}, {"providers"}, {"size", Align::kRight}, {"last used"}});
  for (const CacheItemDescription& described : items) {
    bytes += described.item.bytes;
    entries.push_back(to_json(described));
    table.add_row({described.item.key, std::string(item_state_name(described.item.state)),
                   described.model_name, join(described.providers, ", "),
                   bytes_text(described.item.bytes), last_use_of(described.item)});
  }
  if (flags.report.json()) {
    print(to_text(Json{{"store", flags.folder.native()}, {"bytes", bytes}, {"entries", entries}}));
  } else {
    print(formatted("{}\n{}, {}\n", table.empty() ? "the store is empty" : table.to_text(),
                    counted(items.size(), "folder"), bytes_text(bytes)));
  }
  return kExitSuccess;
}

Result<int> verify_store(const CacheFlags& flags) {
  const auto checks = [&] {
    const Activity activity("verifying " + flags.folder.native(), flags.report.shows_progress());
    return verify_cache(flags.folder);
  }();
  EPHOST_RETURN_IF_ERROR(checks.status());
  size_t bad = 0;
  Json entries = Json::array();
  std::string text;
  for (const auto& [item, problems] : *checks) {
    if (!problems.empty()) ++bad;
    Json json = item_json(item);
    json.set("problems", problems);
    entries.push_back(std::move(json));
    text += item.key + (problems.empty() ? "  sound\n" : "  damaged\n");
    for (const std::string& problem : problems) text += "  " + printable(problem) + "\n";
  }
  const std::string summary = formatted("{} checked, {} damaged\n", entries.size(), bad);
  print(
      flags.report.json()
          ? to_text(Json{{"store", flags.folder.native()}, {"ok", bad == 0}, {"entries", entries}})
          : text + summary);
  if (bad == 0) return kExitSuccess;
  print_error(
      Status(StatusCode::kInvalidGraph,
             formatted("{} has damaged entries ({}); sessions that want them quarantine and "
                       "compile them again",
                       quote(flags.folder.native()), bad)),
      kExitFailure);
  return kExitFailure;
}

Json items_json(const std::vector<CacheItem>& items) {
  Json json = Json::array();
  for (const CacheItem& item : items) json.push_back(item_json(item));
  return json;
}

Result<int> report_removal(const CacheFlags& flags, Result<CacheRemoval> result) {
  EPHOST_ASSIGN_OR_RETURN(const CacheRemoval removal, found_in_store(flags, std::move(result)));
  uint64_t bytes = 0;
  for (const CacheItem& item : removal.removed) bytes += item.bytes;
  if (flags.report.json()) {
    print(to_text(Json{{"store", flags.folder.native()},
                       {"removed_bytes", bytes},
                       {"removed", items_json(removal.removed)},
                       {"in_use", items_json(removal.in_use)}}));
    return kExitSuccess;
  }
  if (flags.report.quiet) return kExitSuccess;
  for (const CacheItem& item : removal.removed) {
    print(formatted("removed {} ({}, {})\n", std::filesystem::path(item.folder).filename().native(),
                    item_state_name(item.state), bytes_text(item.bytes)));
  }
  for (const CacheItem& item : removal.in_use) {
    print(formatted("in use: {}\n", std::filesystem::path(item.folder).filename().native()));
  }
  print(counted(removal.removed.size(), "folder") + " removed, " + bytes_text(bytes) + "\n");
  return kExitSuccess;
}

ArgumentParser add_verb(ArgumentParser& cache, const std::string& name, const std::string& help,
                        CacheFlags& flags) {
  ArgumentParser app = cache.add_subcommand(name, help);
  app.add("DIR,--cache-dir", flags.folder,
          "The folder that sessions were given as ep.cache_dir [EPHOST_CACHE_DIR]")
      .type_name("DIR");
  add_report_flags(app, flags.report);
  return app;
}

}  // namespace

Command add_cache(ArgumentParser& root) {
  auto flags = std::make_shared<CacheFlags>();
  ArgumentParser cache = root.add_subcommand("cache", "Maintain a cache store (ep.cache_dir)");
  cache.require_subcommand();
  std::vector<Command> verbs = {
      {add_verb(cache, "list", "List the entries and what their keys were computed from", *flags),
       [flags] { return list_store(*flags); }},
      {add_verb(cache, "verify", "Compare every entry with its checksums", *flags),
       [flags] { return verify_store(*flags); }},
      {add_verb(cache, "prune", "Remove entries that exceed the limits or are quarantined", *flags),
       [flags] { return report_removal(*flags, prune_cache(flags->folder, flags->limits)); }},
      {add_verb(cache, "clear", "Remove everything that is not in use", *flags),
       [flags] { return report_removal(*flags, clear_cache(flags->folder)); }},
  };
  CacheLimits& limits = flags->limits;
  ArgumentParser prune = verbs[2].parser;
  prune.add("--max-bytes", limits.max_bytes, "Most bytes to keep; 0: no limit")
      .type_name("N")
      .show_default();
  prune
      .add("--max-age-days", limits.max_age_days,
           "Days since the last use after which an entry is removed; 0: no limit")
      .type_name("N")
      .show_default();
  return {cache, [flags, verbs = std::move(verbs)]() -> Result<int> {
            apply(flags->report);
            if (flags->folder.empty()) flags->folder = default_cache_dir();
            if (flags->folder.empty()) {
              return Status(StatusCode::kInvalidArgument,
                            "no cache store is named; give DIR, or set EPHOST_CACHE_DIR");
            }
            return run_chosen(verbs);
          }};
}

}  // namespace ephost::cli
