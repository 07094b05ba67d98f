#include "host/session/caching/store_signatures.h"

#include <system_error>
#include <utility>

#include "host/base/environment.h"
#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/processes/process.h"
#include "host/base/text.h"
#include "host/trust/own_files.h"
#include "host/trust/secret_key.h"

namespace ephost::session {
namespace {

namespace fs = std::filesystem;

Result<trust::SecretKey> read_key(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(
      const std::string text,
      trust::read_own_file(file, trust::Owner::kRootOrUser, trust::kMaxKeyFileBytes));
  auto key = trust::open_secret_key(text, {});
  if (key.ok()) return key;
  return Status(key.status().code(),
                formatted("{} is not the key of the cache stores: {}; remove it, and entries that "
                          "it signed are compiled again",
                          quote(file.native()), key.status().message()));
}

// Another process may make the key at the same time: the first one wins, and a file under the final
// name is complete.
Status make_key(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const trust::SecretKey key, trust::SecretKey::generate());
  EPHOST_ASSIGN_OR_RETURN(const std::string text, key.to_text({}));
  EPHOST_RETURN_IF_ERROR(make_private_folders(file.parent_path()));
  fs::path temporary = file;
  temporary += formatted(".{}.{}", this_process(), trust::to_text(key.public_key().id));
  EPHOST_RETURN_IF_ERROR(create_file(temporary, text, 0600));
  std::error_code error, ignored;
  fs::create_hard_link(temporary, file, error);
  fs::remove(temporary, ignored);
  return !error || error == std::errc::file_exists ? Status()
                                                   : file_error("create", file, error.value());
}

Result<trust::SecretKey> store_key() {
  const fs::path file = store_key_file();
  if (file.empty()) {
    return Status(StatusCode::kFail,
                  "there is no folder for the key of the cache stores; set XDG_STATE_HOME or HOME");
  }
  auto key = read_key(file);
  if (key.status().code() != StatusCode::kNoSuchFile) return key;
  EPHOST_RETURN_IF_ERROR(make_key(file));
  return read_key(file);
}

}  // namespace

fs::path store_key_file() {
  const fs::path state = user_folder(UserFolder::kState);
  return state.empty() ? state : state / "ephost" / "store.key";
}

Status prepare_store_key() { return store_key().status(); }

trust::Verifier store_verifier() {
  trust::Verifier::Sources sources{.takes_keys = false};
  if (const auto key = store_key(); key.ok()) {
    sources.keys.push_back({.key = key->public_key(), .name = "this cache store", .models = true});
  }
  return {SignaturePolicy::kRequire, std::move(sources)};
}

std::string signed_description(const context::CacheEntry& entry) {
  return context::to_text({.key_text = entry.key_text,
                           .files = {},
                           .partitions = {},
                           .contexts = entry.contexts,
                           .model_name = {}});
}

Status sign_entry(const fs::path& model, const context::CacheEntry& entry) {
  EPHOST_ASSIGN_OR_RETURN(const trust::SecretKey key, store_key());
  EPHOST_ASSIGN_OR_RETURN(const MappedFile content, MappedFile::open(model));
  std::vector<MappedFile> mapped;
  trust::ModelFiles contents;
  for (const auto& [name, checksum] : entry.files) {
    if (name == model.filename().native()) continue;
    EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(model.parent_path() / name));
    contents.emplace(name, file.bytes());
    mapped.push_back(std::move(file));
  }
  const std::string description = signed_description(entry);
  contents.emplace(context::kEntryFileName, as_bytes(description));
  trust::SignedFacts facts{.time = trust::current_time(), .file = model.filename().native()};
  EPHOST_ASSIGN_OR_RETURN(facts.files, trust::digest_of_files(contents));
  const std::string text = trust::to_text(key.sign(content.bytes(), trust::to_text(facts)));
  return write_file_atomically(trust::signature_file(model), as_bytes(text));
}

}  // namespace ephost::session
