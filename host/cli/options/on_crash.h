// Entries of a session that say what follows from the death of a worker.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>

#include <string>

namespace ephost::cli {

// Adds an entry of the command line. A policy for one provider replaces what the selection says of
// it by its other name, too.
void add_entry(const std::string& key, const std::string& word, const Environment& environment,
               SessionOptions& options);

// Overwrites all such entries by `fail`, for sessions whose providers must not be replaced.
void fail_on_crash(SessionOptions& options);

}  // namespace ephost::cli
