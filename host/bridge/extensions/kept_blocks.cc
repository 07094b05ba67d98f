#include "host/bridge/extensions/kept_blocks.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace ephost::bridge {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<const KeptBlocks*> all;
};

Registry& registry() {
  static Registry* const made = new Registry;  // used by destructors of other statics
  return *made;
}

}  // namespace

KeptBlocks::KeptBlocks(std::vector<const Device*> devices, std::function<void()> give_back)
    : devices_(std::move(devices)), give_back_(std::move(give_back)) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.all.push_back(this);
}

KeptBlocks::~KeptBlocks() {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::erase(known.all, this);
}

void KeptBlocks::give_back(const Device& device) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  for (const KeptBlocks* const one : known.all) {
    if (std::ranges::find(one->devices_, &device) != one->devices_.end()) one->give_back_();
  }
}

}  // namespace ephost::bridge
