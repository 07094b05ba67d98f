// The maker of the specialisations of a session's model for the shapes that its runs have, which
// also chooses the one that a run uses. Only a session whose model has open extents that a provider
// wishes to be fixed has one; the base is the model as it is, which runs whenever there is no
// specialisation.
#pragma once

#include <ephost/status.h>
#include <ephost/types/specialization.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/base/files/known_checksums.h"
#include "host/base/log.h"
#include "host/base/threads/task_threads.h"
#include "host/session/config/cancellation.h"
#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/creation/executable.h"
#include "host/session/environment/environment.h"
#include "host/session/shapes/input_extents.h"
#include "host/session/shapes/shape_table.h"

namespace ephost::session {

// The settings of a session for models that are made during runs: without what only its first
// model is for, and what the application gives for the creation alone.
[[nodiscard]] SessionSettings settings_of_later_models(SessionSettings settings);
// The same of those that take the place of the first one: what they record goes into the profile
// that exists.
[[nodiscard]] SessionSettings settings_of_replacements(const SessionSettings& settings);

class Specializer {
 public:
  // Null if the base has nothing to be fixed, or the session wants no specialisations. Loads those
  // that a context model lists, and makes those of the profiles, at once, until the deadline.
  // `base` is borrowed; `settings` are those of the session, and `log` its log. INVALID_ARGUMENT if
  // a profile lacks an extent that has to be fixed; INVALID_GRAPH for a stored one that does not
  // fit or is damaged; otherwise the failures of making one.
  [[nodiscard]] static Result<std::unique_ptr<Specializer>> create(Executable& base,
                                                                   EnvironmentState& environment,
                                                                   const SessionSettings& settings,
                                                                   const Log& log,
                                                                   Deadline deadline = {});
  Specializer(const Specializer&) = delete;
  Specializer& operator=(const Specializer&) = delete;
  // Not during runs. Cancels the work in the background and waits for it.
  ~Specializer();

  // Runs the specialisation for the inputs' shapes, or the base. May make a specialisation before,
  // which the run's flag and deadline end. May be called by several threads at once.
  [[nodiscard]] Status run(std::span<const runtime::Value* const> inputs,
                           std::span<runtime::Value> outputs, const RunOptions& options);

  // As SessionRuns::change_options, of the base and of all specialisations, those of later times
  // included.
  [[nodiscard]] Status change_options(const OptionList& entries);

  // As Executable::shrink, of the base and of all specialisations, which stay.
  void shrink();

  // Adds what providers of specialisations recorded to the profile, and ends that. Not during
  // runs.
  void stop_profiling();

  // Those that are ready or have failed, and shapes whose specialisation is being made.
  [[nodiscard]] std::vector<Specialization> list() const;

 private:
  using Table = ShapeTable<Executable>;
  struct Choice {
    std::shared_ptr<Executable> executable;  // null: the base runs
    bool makes = false;                      // the caller has to make the specialisation
  };
  struct Limits {
    const std::atomic<bool>* cancelled = nullptr;
    Deadline deadline;
  };
  // What counts while the session is created.
  struct Creation {
    SessionSettings settings;
    Deadline deadline;
  };

  Specializer(Executable& base, EnvironmentState& environment, const SessionSettings& settings,
              InputExtents inputs, const Log& log, Deadline deadline);
  // Loads the specialisations that the context model lists.
  Status load_stored(const SessionConfig& config);
  Status load_one(const std::string& name, const context::ContentChecksum& stated,
                  const KnownChecksums& known);
  // Makes those of the profiles that were not stored.
  Status make_profiles();
  [[nodiscard]] Choice choose(std::span<const int64_t> extents);
  [[nodiscard]] Status run_chosen(std::span<const int64_t> extents,
                                  std::span<const runtime::Value* const> inputs,
                                  std::span<runtime::Value> outputs, const RunOptions& options);
  void start_in_background(std::span<const int64_t> extents);
  // Makes the specialisation and publishes it; a failure is noted in the table and returned.
  Result<std::shared_ptr<Executable>> make(std::span<const int64_t> extents, const Limits& limits,
                                           const SessionSettings& settings);
  Result<std::shared_ptr<Executable>> create_executable(std::span<const int64_t> extents,
                                                        const Limits& limits,
                                                        SessionSettings settings) const;
  // The workers of a specialisation's providers are noted there; null if the session does not.
  [[nodiscard]] std::shared_ptr<ProviderWorkers> make_workers() const;
  // EP_FAIL if one of them has ended meanwhile; otherwise the base watches them, too. It takes
  // over the ended ones that the session has to do without, and during the creation, all.
  Status take_workers(const std::shared_ptr<ProviderWorkers>& workers) const;
  // Those that are ready now.
  [[nodiscard]] std::vector<std::shared_ptr<Executable>> ready() const;
  Status publish(std::span<const int64_t> extents, const std::shared_ptr<Executable>& made,
                 double seconds);
  void note_failure(std::span<const int64_t> extents, const Status& failure);

  Executable& base_;
  const std::shared_ptr<EnvironmentState> environment_;
  std::optional<Creation> creation_;  // until `create` has ended
  const SessionSettings settings_;    // of specialisations that runs need
  const SpecializeMode mode_;
  const uint64_t runs_before_;
  const InputExtents inputs_;
  const Log log_;

  std::atomic<bool> is_closing_{false};
  mutable std::mutex mutex_;  // guards `table_`
  Table table_;
  std::mutex changes_mutex_;  // held while options change, and before `mutex_`
  OptionList changes_;        // of options, so far; the last one of a key stands
  std::optional<TaskGroup> background_;
};

}  // namespace ephost::session
