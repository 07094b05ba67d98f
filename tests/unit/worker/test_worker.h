// Parts of the program that the tests start as a worker.
#pragma once

#include <string>
#include <string_view>

#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

// Ends the process, or tries to, in the way that `how` says.
void die(std::string_view how);
// Tries what a sandbox forbids; returns "ok" or the name of the error, e.g. "EACCES".
std::string attempt(std::string_view what, std::string_view argument);
// Breaks every rule of the transport, at random, after a proper start. Does not return before the
// host has closed the socket.
int misbehave(unsigned seed);
// Answers every call of its one channel properly but for what `how` says of its posts and answers.
int lie(std::string_view how);

}  // namespace ephost::worker
