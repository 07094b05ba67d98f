// `ephost cache list|verify|prune|clear DIR`: looks after a cache store (ep.cache_dir).
#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/context/store/cache_upkeep.h"

namespace ephost::cli {
namespace {

using context::CacheItem;
using context::CacheRemoval;
using State = CacheItem::State;

struct Flags {
  ReportFlags report;
  context::CacheStoreOptions store;
};

// An item with what its folder says about it.
struct Described {
  CacheItem item;
  context::TextPairs made_of;
  std::string model_name;
  std::vector<std::string> providers;
  uint64_t partitions = 0;
  std::string problem;  // why it is quarantined, or why it cannot be described
};

std::string_view state_name(State state) {
  switch (state) {
    case State::kEntry:
      return "entry";
    case State::kQuarantined:
      return "quarantined";
    case State::kTemporary:
      break;
  }
  return "temporary";
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  struct tm parts {};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Described describe(CacheItem item) {
  Described described{.item = std::move(item)};
  const FileSystem& file_system = posix_file_system();
  const Result<context::CacheEntry> entry = context::read_entry(described.item.folder, file_system);
  if (entry.ok()) {
    described.made_of = context::parse_lines(entry->key_text);
    described.model_name = entry->model_name;
    described.partitions = entry->partitions.size();
    for (const auto& [name, value] : described.made_of) {
      if (name == "provider") described.providers.push_back(value);
    }
  }
  if (described.item.state == State::kQuarantined) {
    described.problem = context::read_reason(described.item.folder, file_system);
  } else if (described.item.state == State::kEntry && !entry.ok()) {
    described.problem = entry.status().message();
  }
  return described;
}

Json item_json(const CacheItem& item) {
  return {{"key", item.id.empty() ? Json() : Json(item.id)},
          {"state", state_name(item.state)},
          {"folder", item.folder.native()},
          {"bytes", item.bytes},
          {"last_used", utc_text(item.last_used)}};
}

Json to_json(const Described& described) {
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

// The latest first.
Result<std::vector<CacheItem>> scan(const Flags& flags) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<CacheItem> items, context::list_items(flags.store));
  std::ranges::reverse(items);
  return items;
}

Result<int> list(const Flags& flags) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<CacheItem> items, scan(flags));
  uint64_t bytes = 0;
  Json entries = Json::array();
  Table table(
      {{"key"}, {"state"}, {"model"}, {"providers"}, {"size", Align::kRight}, {"last used"}});
  for (CacheItem& item : items) {
    const Described described = describe(std::move(item));
    bytes += described.item.bytes;
    entries.push_back(to_json(described));
    table.add_row({described.item.id, std::string(state_name(described.item.state)),
                   described.model_name, join(described.providers, ", "),
                   bytes_text(described.item.bytes), utc_text(described.item.last_used)});
  }
  if (flags.report.json()) {
    print(to_text(
        Json{{"store", flags.store.folder.native()}, {"bytes", bytes}, {"entries", entries}}));
  } else {
    print((table.empty() ? "the store is empty\n" : table.to_text() + "\n") +
          counted(items.size(), "folder") + ", " + bytes_text(bytes) + "\n");
  }
  return kExitSuccess;
}

Result<int> verify(const Flags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<CacheItem> items, scan(flags));
  size_t bad = 0;
  Json entries = Json::array();
  std::string text;
  for (const CacheItem& item : items) {
    if (item.state != State::kEntry) continue;
    const std::vector<std::string> problems = context::verify_entry(item, posix_file_system());
    if (!problems.empty()) ++bad;
    Json json = item_json(item);
    json.set("problems", problems);
    entries.push_back(std::move(json));
    text += item.id + (problems.empty() ? "  sound\n" : "  damaged\n");
    for (const std::string& problem : problems) text += "  " + printable(problem) + "\n";
  }
  const std::string summary =
      std::to_string(entries.size()) + " checked, " + std::to_string(bad) + " damaged\n";
  print(flags.report.json()
            ? to_text(Json{
                  {"store", flags.store.folder.native()}, {"ok", bad == 0}, {"entries", entries}})
            : text + summary);
  if (bad == 0) return kExitSuccess;
  return Status(StatusCode::kInvalidGraph,
                quote(flags.store.folder.native()) + " has damaged entries (" +
                    std::to_string(bad) +
                    "); sessions that want them quarantine and compile them again");
}

Json items_json(const std::vector<CacheItem>& items) {
  Json json = Json::array();
  for (const CacheItem& item : items) json.push_back(item_json(item));
  return json;
}

using Remove = Result<CacheRemoval> (*)(const context::CacheStoreOptions&);

Result<int> remove(const Flags& flags, Remove remove_from) {
  EPHOST_ASSIGN_OR_RETURN(const CacheRemoval removal, remove_from(flags.store));
  uint64_t bytes = 0;
  for (const CacheItem& item : removal.removed) bytes += item.bytes;
  if (flags.report.json()) {
    print(to_text(Json{{"store", flags.store.folder.native()},
                       {"removed_bytes", bytes},
                       {"removed", items_json(removal.removed)},
                       {"in_use", items_json(removal.in_use)}}));
    return kExitSuccess;
  }
  for (const CacheItem& item : removal.removed) {
    print("removed " + item.folder.filename().native() + " (" +
          std::string(state_name(item.state)) + ", " + bytes_text(item.bytes) + ")\n");
  }
  for (const CacheItem& item : removal.in_use) {
    print("in use: " + item.folder.filename().native() + "\n");
  }
  print(counted(removal.removed.size(), "folder") + " removed, " + bytes_text(bytes) + "\n");
  return kExitSuccess;
}

struct Verb {
  ArgumentParser parser;
  std::function<Result<int>()> run;
};

ArgumentParser add_verb(ArgumentParser& cache, const std::string& name, const std::string& help,
                        Flags& flags) {
  ArgumentParser app = cache.add_subcommand(name, help);
  app.add("DIR,--cache-dir", flags.store.folder,
          "The folder that sessions were given as ep.cache_dir")
      .type_name("DIR")
      .required();
  add_report_flags(app, flags.report);
  return app;
}

}  // namespace

Command add_cache(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  flags->store.lock_wait.report = [](const std::string& message) { log_warning(message); };
  ArgumentParser cache = root.add_subcommand("cache", "Look after a cache store (ep.cache_dir)");
  cache.require_subcommand();
  std::vector<Verb> verbs = {
      {add_verb(cache, "list", "What is in it, and what each key was made of", *flags),
       [flags] { return list(*flags); }},
      {add_verb(cache, "verify", "Compare every entry with its checksums", *flags),
       [flags] { return verify(*flags); }},
      {add_verb(cache, "prune", "Remove what exceeds the limits or is quarantined", *flags),
       [flags] { return remove(*flags, &context::prune); }},
      {add_verb(cache, "clear", "Remove all that is not in use", *flags),
       [flags] { return remove(*flags, &context::clear); }},
  };
  context::CacheLimits& limits = flags->store.limits;
  ArgumentParser prune = verbs[2].parser;
  prune.add("--max-bytes", limits.max_bytes, "Keep so many bytes; 0: any number")
      .type_name("N")
      .show_default();
  prune.add("--max-age-days", limits.max_age_days, "Keep what was used in so many days; 0: ever")
      .type_name("N")
      .show_default();
  return {cache, [flags, verbs = std::move(verbs)]() -> Result<int> {
            apply(flags->report);
            for (const Verb& verb : verbs) {
              if (verb.parser.is_chosen()) return verb.run();
            }
            return kExitUsage;
          }};
}

}  // namespace ephost::cli
