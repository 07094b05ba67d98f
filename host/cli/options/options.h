// Environment, SessionOptions and RunOptions made from the options of the command line.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <string>
#include <vector>

#include "host/cli/arguments/defaults.h"
#include "host/cli/arguments/flags.h"

namespace ephost::cli {

[[nodiscard]] Result<Environment> open_environment(const EnvironmentFlags& flags);

// The selection file that a session uses: of --selection, or of find_selection unless --ep or
// --policy say which providers there are.
[[nodiscard]] SelectionFile selection_of(const SessionFlags& flags);

// The type name of a provider that is named by type name or short name; the name itself if it is
// not installed.
[[nodiscard]] std::string provider_behind(const std::string& name, const Environment& environment);

// The type names of the providers that the command line asks for, with --ep or --selection.
[[nodiscard]] std::vector<std::string> asked_providers(const Environment& environment,
                                                       const SessionFlags& flags,
                                                       const SessionOptions& options);

// Options with what a selection file sets; without a path, nothing. A failure says how to do
// without a file that was not given.
[[nodiscard]] Result<SessionOptions> read_selection(const SelectionFile& selection);

// The providers of the selection file, then those of --ep. An option of --ep-option goes to the
// provider that it names by type name or short name; INVALID_ARGUMENT if that one was not asked
// for, except for the CPU provider, which every session has. A --device goes to the provider that
// it names, or to the only one that was asked for.
[[nodiscard]] Result<SessionOptions> make_session_options(const SessionFlags& flags,
                                                          const Environment& environment);

// What the flags say about a run that begins now.
[[nodiscard]] RunOptions make_run_options(const RunFlags& flags);

}  // namespace ephost::cli
