// Keys and entries for the tests of the cache store.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "host/context/store/cache_entry.h"
#include "host/context/store/cache_key.h"
#include "host/context/store/cache_store.h"
#include "host/context/store/cache_upkeep.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::testing {

namespace fs = std::filesystem;

// A file system without locks.
class LocklessFileSystem : public PosixFileSystem {
 public:
  int flock(int, int) const override {
    errno = ENOLCK;
    return -1;
  }
};

inline ContentChecksum checksum_of_text(std::string_view text) {
  return {.hash = content_checksum(as_bytes(text)), .size = text.size()};
}

inline CacheIngredients sample_ingredients() {
  return {.host_version = "1.2.3",
          .abi = "1.0",
          .model = checksum_of_text("model"),
          .external_data = {{"a.bin", checksum_of_text("a")}, {"b.bin", checksum_of_text("b")}},
          .session_options = {{"ep.context_node_name_prefix", ""}},
          .providers = {{.name = "One",
                         .plugin_id = "org.one",
                         .plugin_version = "1.0.0",
                         .abi = "1.0",
                         .library = checksum_of_text("library"),
                         .options = {{"threads", "0"}, {"mode", "fast"}},
                         .devices = {{.type = "1",
                                      .name = "device",
                                      .vendor = "vendor",
                                      .architecture = "avx2",
                                      .driver_version = "5"}},
                         .compatibility = "sdk 1"},
                        {.name = "Two", .plugin_id = "org.two", .plugin_version = "1.0.0"}}};
}

// A key that depends on `name`.
inline CacheKey key_of(std::string_view name) {
  CacheIngredients ingredients = sample_ingredients();
  ingredients.model = checksum_of_text(name);
  return make_cache_key(ingredients);
}

// Publishes the sample model with this payload, and with these digests of its contexts.
inline Status publish_sample(const CacheStore& store, const CacheKey& key,
                             std::string_view payload = "payload",
                             std::vector<std::pair<std::string, std::string>> contexts = {}) {
  EPHOST_ASSIGN_OR_RETURN(StagedEntry staged, store.stage());
  EPHOST_ASSIGN_OR_RETURN(const WrittenContext written,
                          write_sample({.output_path = staged.model_path(),
                                        .external_initializers_file_name = "initializers.bin",
                                        .file_system = store.options().file_system},
                                       payload));
  return store.publish(std::move(staged), key,
                       {.files = entry_files(written.files),
                        .contexts = std::move(contexts),
                        .model_name = "sample.onnx"});
}

// A key of the same model as key_of, for another version of the host.
inline CacheKey key_of_host(std::string_view name, std::string_view host_version) {
  CacheIngredients ingredients = sample_ingredients();
  ingredients.model = checksum_of_text(name);
  ingredients.host_version = host_version;
  return make_cache_key(ingredients);
}

// The digests that an entry has for the sample model.
inline std::vector<std::pair<std::string, std::string>> sample_contexts() {
  return {{"first", std::string(64, 'a')}, {"second", std::string(64, 'b')}};
}

// The payload of the entry of the key, as a session loads it, "none", or the failure.
inline std::string payload_in(const CacheStore& store, const CacheKey& key) {
  const Result<CacheLookup> lookup = store.find(key);
  if (!lookup.ok()) return lookup.status().to_string();
  if (!lookup->damage.ok()) return lookup->damage.to_string();
  if (!lookup->found) return "none";
  const Result<Loaded> loaded = load_file(lookup->found->model->path());
  return loaded.ok() ? loaded->payload_of("second") : loaded.status().to_string();
}

// The folder of the store.
inline fs::path store_in(const fs::path& folder) { return folder / kStoreFolderName; }

inline std::string entry_name(const CacheKey& key) { return std::string(kEntryPrefix) + key.id; }

inline fs::path entry_in(const fs::path& folder, const CacheKey& key) {
  return store_in(folder) / entry_name(key);
}

// The content of the store without its marker; empty if there is no store.
inline std::vector<std::string> folders_in(const fs::path& folder) {
  if (!fs::exists(store_in(folder))) return {};
  std::vector<std::string> names = files_in(store_in(folder));
  std::erase(names, kStoreMarkerName);
  return names;
}

inline std::vector<CacheItem> items_in(const fs::path& folder) {
  Result<std::vector<CacheItem>> items = list_items({.folder = folder});
  EXPECT_THAT(items, test::IsOk());
  return items.ok() ? std::move(*items) : std::vector<CacheItem>();
}

// Makes the folder look as if it was last used this many hours ago.
inline void make_older(const fs::path& folder, int hours) {
  const auto now = std::chrono::system_clock::now() - std::chrono::hours(hours);
  const struct timespec then = {.tv_sec = std::chrono::system_clock::to_time_t(now), .tv_nsec = 0};
  const struct timespec times[] = {then, then};
  EXPECT_EQ(::utimensat(AT_FDCWD, folder.c_str(), times, 0), 0);
}

}  // namespace ephost::context::testing
