// The tables of optional interfaces.
#include "host/worker/tables/remote_call.h"

namespace ephost::worker {

void RemoteProvider::adopt(const wire::Provider& made) {
  handle_ = made.handle();
  for (const wire::Extension& extension : made.extensions()) {
    plugin::ProviderExtensions::find(extension.id(), [&]<class Table>() {
      fill_slots(extension.slots(), std::get<std::optional<Table>>(extensions_).emplace());
    });
  }
}

const void* RemoteProvider::extension(std::string_view id) const {
  const void* found = nullptr;
  plugin::ProviderExtensions::find(id, [&]<class Table>() {
    const auto& table = std::get<std::optional<Table>>(extensions_);
    if (table) found = &*table;
  });
  return found;
}

}  // namespace ephost::worker
