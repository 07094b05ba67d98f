#include "host/context/read/primaries.h"

#include <limits>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::context {
namespace {

// Marks a key that belongs to several payloads.
constexpr uint32_t kAmbiguous = std::numeric_limits<uint32_t>::max();

template <class Key>
void note(std::map<Key, uint32_t>& payloads, Key key, uint32_t payload) {
  const auto [entry, added] = payloads.emplace(std::move(key), payload);
  if (!added && entry->second != payload) entry->second = kAmbiguous;
}

template <class Key>
const uint32_t* look_up(const std::map<Key, uint32_t>& payloads, const Key& key) {
  const auto entry = payloads.find(key);
  return entry == payloads.end() ? nullptr : &entry->second;
}

Status no_primary(const EpContextNode& secondary, std::string_view reason) {
  return Status(StatusCode::kInvalidGraph,
                formatted("it has main_context 0 and refers to {} of source {}, but {}; keep the "
                          "node with main_context 1 in the model",
                          quote(secondary.reference), quote(secondary.source), reason));
}

}  // namespace

void Primaries::add(const EpContextNode& primary, uint32_t payload) {
  note(by_partition_, Key(primary.source, primary.partition_name), payload);
  if (!primary.embedded) note(by_file_, Key(primary.source, primary.reference), payload);
  note(by_source_, primary.source, payload);
}

Result<uint32_t> Primaries::find(const EpContextNode& secondary) const {
  const Key key(secondary.source, secondary.reference);
  const uint32_t* payload = secondary.reference.empty() ? nullptr : look_up(by_partition_, key);
  if (!payload) payload = look_up(by_file_, key);
  if (payload && *payload == kAmbiguous) {
    return no_primary(secondary, "several primary nodes of that name have different payloads");
  }
  if (!payload) payload = look_up(by_source_, secondary.source);
  if (!payload) return no_primary(secondary, "no primary node has that source");
  if (*payload == kAmbiguous) return no_primary(secondary, "no primary node has that name");
  return *payload;
}

}  // namespace ephost::context
