// A specialisation of a session's model: the extents of inputs that it fixed, because a
// provider wished for that.
#pragma once

#include <ephost/types/session_provider.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ephost {

enum class SpecializationState : uint8_t {
  kReady,   // runs with these extents use it
  kMaking,  // it is being made; runs use the model with open extents until then
  kFailed,  // there is none, for `reason`; runs use the model with open extents
};

// An extent that was fixed.
struct FixedExtent {
  std::string name;  // of the dimension, or its place in an input, e.g. "x[0]"
  int64_t extent = 0;
};

struct Specialization {
  std::vector<FixedExtent> extents;
  SpecializationState state = SpecializationState::kReady;
  uint64_t runs = 0;                       // that it has served
  double seconds = 0;                      // that making it took
  std::string reason;                      // of a failure; empty otherwise
  std::vector<SessionProvider> providers;  // of one that is ready
};

}  // namespace ephost
