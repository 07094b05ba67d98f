// Steps of C libraries that end by longjmp when a file is damaged.
#pragma once

#include <array>
#include <csetjmp>

#include "plugins/image/formats.h"

namespace ephost_image {

// What such a step works on derives from this: the library's error function writes the message and
// jumps to `escape`. Objects with destructors must not live in the functions in between.
struct Escape {
  std::jmp_buf escape;
  std::array<char, 256> message;
};

// Returns whether the step got to its end.
template <class Job>
bool succeeds(Job& job, void (*step)(Job& job)) {
  if (setjmp(job.escape) != 0) return false;
  step(job);
  return true;
}

// Throws Undecodable with the library's message if the step does not get to its end.
template <class Job>
void run(Job& job, void (*step)(Job& job)) {
  if (!succeeds(job, step)) throw Undecodable("is damaged: " + printable(job.message.data()));
}

}  // namespace ephost_image
