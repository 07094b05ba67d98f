#include "host/layers/validate/validator.h"

#include "host/base/log.h"
#include "host/layers/validate/runs/reference_comparison.h"
#include "host/layers/validate/validator_calls.h"

namespace ephost::layers {
namespace {

// The shapes of one computation for which runs are repeated, each a few times.
constexpr size_t kMostRepeatedShapes = 8;

// Outputs that the host has placed over an input although the computation allows it for none.
std::vector<Finding> undeclared_sharing(const eph_run& run, const Sharing& sharing) {
  std::vector<Finding> found;
  const auto begin = [](const eph_value* value) {
    return static_cast<const std::byte*>(value->data);
  };
  for (uint32_t o = 0; o < run.output_count; ++o) {
    const eph_value* const output = run.outputs[o];
    if (!is_plain(output) || sharing.allows(o)) continue;
    for (uint32_t i = 0; i < run.input_count; ++i) {
      const eph_value* const input = run.inputs[i];
      const bool overlaps = is_plain(input) && begin(input) < begin(output) + output->byte_size &&
                            begin(output) < begin(input) + input->byte_size;
      if (!overlaps) continue;
      found.push_back({25, formatted("was given output {} in the memory of input {}", o, i),
                       std::string(kReportTheHost)});
    }
  }
  return found;
}

}  // namespace

Validator::ProviderState::ProviderState(const Call<Validator>& call)
    : payloads(std::make_shared<PayloadCopies>(call.table.layer().options_.guard,
                                               call.table.layer().log_.provider())) {}

Validator::ComputationState::ComputationState(const Call<Validator>& call) {
  call.provider->state().order.add_computation();
  auto& made = call.provider->state().made;
  const auto known = made.find(call.computation->inner());
  if (known == made.end()) return;
  signature = std::move(known->second.signature);
  constants_ = std::move(known->second.constants);
  reference = std::move(known->second.reference);
  made.erase(known);
}

std::vector<Finding> Validator::ComputationState::changed_constants() {
  const std::lock_guard lock(mutex_);
  return constants_.findings();
}

bool Validator::ComputationState::is_new(const eph_run& run) {
  std::vector<int64_t> shapes;
  for (uint32_t i = 0; i < run.input_count; ++i) {
    const eph_value* const value = run.inputs[i];
    if (value == nullptr) continue;
    shapes.push_back(static_cast<int64_t>(value->rank));
    shapes.insert(shapes.end(), value->shape, value->shape + value->rank);
  }
  const std::lock_guard lock(mutex_);
  if (seen_.size() >= kMostRepeatedShapes) return false;
  if (std::ranges::find(seen_, shapes) != seen_.end()) return false;
  seen_.push_back(std::move(shapes));
  return true;
}

size_t Validator::end(ObjectState& state) noexcept {
  state.loan.end();
  size_t bytes = 0;
  if (state.copies != nullptr) {
    bytes = state.copies->bytes();
    state.copies->poison();
  }
  for (const auto& body : state.bodies) bytes += sizeof(*body) + end(body->state());
  return bytes;
}

void Validator::make_copies(const Subject& subject, const HostObject<Validator, eph_graph>& graph) {
  ObjectState& state = graph.state();
  const auto wrap = [this, subject, &state](const eph_graph* body) -> const eph_graph* {
    auto wrapped = std::make_shared<HostObject<Validator, eph_graph>>(*this, body);
    lend_object(subject, *wrapped);
    state.bodies.push_back(wrapped);
    return wrapped.get();
  };
  state.copies = std::make_unique<GraphCopies>(
      options_.guard,
      "what the graph of " + log_.name(subject) + " told, which had returned (rule 20)", wrap);
}

void Validator::note(const Call<Validator>& call, const eph_computation_info* info) {
  const auto known = plugin::adopt<eph_computation_info>(info, {});
  if (!known.ok()) return;
  GuardedRun::Declared& declared = call.computation->state().declared;
  if (known->memory == 0) declared.workspace_bytes = known->workspace_bytes;
  const uint64_t asked = known->host_alignment;
  const bool is_sound = asked != 0 && (asked & (asked - 1)) == 0 && asked <= uint64_t{2} << 20;
  if (is_sound) declared.alignment = std::max<uint64_t>(declared.alignment, asked);
  // The host refuses arrays that make no sense, and with them the computation.
  const auto copy = [&](const auto* entries, uint64_t count, auto& copied) {
    const auto list = plugin::adopt_array(entries, count, uint64_t{1} << 20, {}, {});
    if (list.ok()) copied.assign(list->begin(), list->end());
  };
  Sharing& sharing = declared.sharing;
  copy(known->may_inplace, known->may_inplace_count, sharing.may_inplace);
  copy(known->must_share, known->must_share_count, sharing.must_share);
  copy(known->aliases, known->alias_count, sharing.aliases);
  copy(known->input_parts, known->input_part_count, sharing.input_parts);
  copy(known->output_parts, known->output_part_count, sharing.output_parts);
}

void Validator::note_claim(const eph_fused_claim* claim, const eph_error*) noexcept {
  try {
    const auto known = plugin::adopt<eph_fused_claim>(claim, {});
    if (known.ok() && (known->flags & EPH_CLAIM_DROP_CONSTANTS) != 0) drops_constants_ = true;
  } catch (...) {  // out of memory
    drops_constants_ = true;
  }
}

void Validator::add_mismatch(int32_t code, const ErrorObject& error, std::vector<Finding>& found) {
  if (code != EPH_OK && !error.has_message()) {
    found.push_back({18, formatted("failed with code {} and gave no message", code),
                     "call set_message before it returns a code"});
  }
  if (code == EPH_OK && static_cast<const Error&>(error).has_message_of_plugin()) {
    found.push_back({18, formatted("succeeded and gave the message {}", quote(error.message())),
                     "return a code, or write to the log"});
  }
}

void Validator::add_changed_constants(const HostObject<Validator, eph_graph>* graph,
                                      std::vector<Finding>& found) {
  const ObjectState& state = graph->state();
  if (state.copies == nullptr) return;
  add_all(state.copies->findings(), found);
  for (const auto& body : state.bodies) add_changed_constants(body.get(), found);
}

std::shared_ptr<Reference> Validator::make_reference(const eph_partition& partition) {
  // The graph of a cached partition is its EPContext node.
  if (!make_reference_ || partition.ep_context != nullptr) return nullptr;
  const auto* const graph = static_cast<const HostObject<Validator, eph_graph>*>(partition.graph);
  auto made = reference_of(*graph->inner(), make_reference_);
  if (made.ok()) return std::move(made).value();
  log_info(formatted("the layer validate does not compare the results of {} of {}: {}",
                     quote(std::string_view(partition.name.data, partition.name.size)),
                     log_.provider(), made.status().message()));
  return nullptr;
}

void Validator::check_run(const Call<Validator>& call, eph_run* host_run, const GuardedRun& run,
                          const GuardedRun::Memory& memory, const RepeatedRuns::Compute& repeat,
                          std::vector<Finding>& found) {
  ComputationState& state = call.computation->state();
  found = undeclared_sharing(*host_run, state.declared.sharing);
  if (found.empty()) found = state.signature.findings(run);
  if (!found.empty()) return;
  RepeatedRuns repeated(host_run, run, state.declared, memory, state.signature.open_outputs(),
                        repeat);
  if (!run.can_be_repeated()) return;
  const bool is_new = state.is_new(*host_run);
  found = is_new ? repeated.all_findings() : repeated.untouched_findings();
  if (is_new) add_all(state.changed_constants(), found);
  if (!found.empty() || state.reference == nullptr) return;
  std::optional<Finding> differing = difference_from(*state.reference, *host_run, run);
  if (differing && repeated.is_repeatable()) found.push_back(std::move(*differing));
}

void Validator::take_back_run(const Subject& subject, std::shared_ptr<GuardedRun> run) noexcept {
  run->retire();
  const size_t bytes = run->footprint();
  try {
    const auto inspect = [this, subject, kept = run.get()] {
      for (const std::string& name : kept->late_writes()) {
        log_.add(subject, {20, "wrote to " + name + " after it had returned",
                           "let it wait for all that it started, or copy what they need"});
      }
    };
    keep(std::move(run), bytes, inspect);
  } catch (...) {  // out of memory: it goes at once
  }
}

}  // namespace ephost::layers
