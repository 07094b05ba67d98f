// The shapes that the runs of a session have had, and the specialisations for them: which ones are
// kept, and when a shape has come often enough. A bounded table; not thread-safe (the Specializer
// guards it), and knows nothing of what a specialisation is.
#pragma once

#include <ephost/status.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ephost::session {

template <class Item>
class ShapeTable {
 public:
  enum class State : uint8_t {
    kSeen,    // runs had this shape
    kMaking,  // its specialisation is being made
    kReady,
    kFailed,  // there is none, for a reason that stays
  };
  struct Entry {
    std::vector<int64_t> extents;
    State state = State::kSeen;
    uint64_t runs = 0;   // that began with this shape; once it is ready, those that `item` served
    double seconds = 0;  // that making it took
    Status reason;       // of kFailed
    std::shared_ptr<Item> item;  // of kReady
    uint64_t last_used = 0;
  };

  // At most `max_ready` items are kept, and some other shapes; the least recently used ones go.
  explicit ShapeTable(size_t max_ready) : max_ready_(max_ready) {}

  // The entry of a shape, and that it was used now; null if the table does not have it. Valid until
  // the table changes.
  [[nodiscard]] Entry* find(std::span<const int64_t> extents) {
    for (std::vector<Entry>* entries : {&ready_, &others_}) {
      for (Entry& entry : *entries) {
        if (!std::ranges::equal(entry.extents, extents)) continue;
        entry.last_used = ++clock_;
        return &entry;
      }
    }
    return nullptr;
  }

  // The same; a shape that is new gets an entry.
  Entry& find_or_add(std::span<const int64_t> extents) {
    if (Entry* const known = find(extents)) return *known;
    if (others_.size() >= kMaxOthers) {
      const auto oldest = find_oldest(others_);
      if (oldest != others_.end()) others_.erase(oldest);
    }
    Entry& entry = others_.emplace_back();
    entry.extents.assign(extents.begin(), extents.end());
    entry.last_used = ++clock_;
    return entry;
  }

  // Makes the shape ready. Returns the item that had to go for that, if any, so that the caller
  // destroys it where it holds no lock.
  [[nodiscard]] std::shared_ptr<Item> publish(std::span<const int64_t> extents,
                                              std::shared_ptr<Item> item, double seconds) {
    std::erase_if(others_,
                  [&](const Entry& entry) { return std::ranges::equal(entry.extents, extents); });
    std::shared_ptr<Item> dropped;
    if (ready_.size() >= max_ready_) {
      const auto oldest = find_oldest(ready_);
      backoff_ = oldest->runs < kWorthwhileRuns ? std::min(backoff_ + 1, kMaxBackoff) : 0;
      dropped = std::move(oldest->item);
      ready_.erase(oldest);
    }
    Entry& entry = ready_.emplace_back();
    entry.extents.assign(extents.begin(), extents.end());
    entry.state = State::kReady;
    entry.item = std::move(item);
    entry.seconds = seconds;
    entry.last_used = ++clock_;
    return dropped;
  }

  // Removes an item; the shape is as if it had never come.
  [[nodiscard]] std::shared_ptr<Item> drop(const Item& item) {
    const auto found =
        std::ranges::find_if(ready_, [&](const Entry& entry) { return entry.item.get() == &item; });
    if (found == ready_.end()) return nullptr;
    std::shared_ptr<Item> dropped = std::move(found->item);
    ready_.erase(found);
    return dropped;
  }

  [[nodiscard]] const std::vector<Entry>& ready() const { return ready_; }
  [[nodiscard]] const std::vector<Entry>& others() const { return others_; }

  // How often the number of runs that a shape needs is to be doubled: once for each item in a row
  // that had to go before it had served kWorthwhileRuns runs. So shapes that keep changing, as in
  // one generation of text after the other, do not have items made that are hardly used.
  [[nodiscard]] uint32_t backoff() const { return backoff_; }
  static constexpr uint64_t kWorthwhileRuns = 16;
  static constexpr uint32_t kMaxBackoff = 16;

  // How many shapes without an item are remembered.
  static constexpr size_t kMaxOthers = 64;

 private:
  // The least recently used entry that no item is being made for.
  static auto find_oldest(std::vector<Entry>& entries) {
    auto oldest = entries.end();
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
      if (entry->state == State::kMaking) continue;
      if (oldest == entries.end() || entry->last_used < oldest->last_used) oldest = entry;
    }
    return oldest;
  }

  size_t max_ready_;
  uint64_t clock_ = 0;
  uint32_t backoff_ = 0;
  std::vector<Entry> ready_;  // looked through first
  std::vector<Entry> others_;
};

}  // namespace ephost::session
