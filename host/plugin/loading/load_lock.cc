#include "host/plugin/loading/load_lock.h"

namespace ephost::plugin {

std::unique_lock<std::recursive_mutex> lock_loading() {
  // Never destroyed: a session in static storage may unload its plugin after everything else.
  static auto* const mutex = new std::recursive_mutex;
  return std::unique_lock(*mutex);
}

}  // namespace ephost::plugin
