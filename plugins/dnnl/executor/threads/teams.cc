#include "plugins/dnnl/executor/threads/teams.h"

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/guarded_step.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/workspace_plan.h"
#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

// Answers with layouts alone: another program has the constants in them, or cannot be used.
class LayoutSource : public ConstantSource {
 public:
  PackedConstant get(TensorId tensor, const Descriptor& stored, const Descriptor& wanted) override {
    PackedConstant constant;
    constant.tensor = tensor;
    constant.stored = stored;
    constant.wanted = wanted;
    return constant;
  }
};

// Whether the steps of one program could run on the arguments of another one's.
class Comparison {
 public:
  Comparison(const Program& ours, const Program& theirs) : ours_(ours), theirs_(theirs) {}

  bool agree() {
    if (ours_.steps.size() != theirs_.steps.size() || ours_.parameters != theirs_.parameters) {
      return false;
    }
    for (std::size_t i = 0; i < ours_.steps.size(); ++i) {
      if (!agree(ours_.steps[i], theirs_.steps[i])) return false;
    }
    return true;
  }

 private:
  bool agree(const Step& ours, const Step& theirs) {
    auto our = ours.arguments.begin(), their = theirs.arguments.begin();
    for (; their != theirs.arguments.end(); ++our, ++their) {
      if (our == ours.arguments.end() || our->argument != their->argument) return false;
      const View& our_view = ours_.views[our->view];
      const View& their_view = theirs_.views[their->view];
      if (our->argument == DNNL_ARG_SCRATCHPAD) {
        if (our_view.layout.get_size() < their_view.layout.get_size()) return false;
      } else if (our_view.layout != their_view.layout ||
                 !agree(our_view.buffer, their_view.buffer)) {
        return false;
      }
    }
    // What is left can only be scratch memory that the others do without.
    const auto left = ours.arguments.end() - our;
    return ours.op == theirs.op && (ours.own == nullptr) == (theirs.own == nullptr) &&
           (left == 0 || (left == 1 && our->argument == DNNL_ARG_SCRATCHPAD));
  }

  // Scratch memory is not compared, so buffers have other numbers.
  bool agree(uint32_t ours, uint32_t theirs) {
    const Buffer& our = ours_.buffers[ours];
    const Buffer& their = theirs_.buffers[theirs];
    return our.place == their.place && our.index == their.index &&
           our_buffers_.try_emplace(theirs, ours).first->second == ours &&
           their_buffers_.try_emplace(ours, theirs).first->second == theirs;
  }

  const Program& ours_;
  const Program& theirs_;
  std::map<uint32_t, uint32_t> our_buffers_, their_buffers_;
};

// Random numbers that no operation turns into infinities.
std::string random_bytes(std::size_t size, ElementType type) {
  std::mt19937 random(1);
  std::string bytes(size, '\0');
  if (type == ElementType::kF32) {
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (std::size_t at = 0; at + sizeof(float) <= size; at += sizeof(float)) {
      const float number = numbers(random);
      std::memcpy(&bytes[at], &number, sizeof number);
    }
  } else {
    for (char& byte : bytes) byte = static_cast<char>(random());
  }
  return bytes;
}

// The arguments of one step: constants and parameters where they are, random numbers elsewhere.
class TrialArguments {
 public:
  TrialArguments(const Program& program, const Step& step, const dnnl::engine& engine) {
    for (const StepArgument& argument : step.arguments) {
      const View& view = program.views[argument.view];
      if (fixed_memory(program, program.buffers[view.buffer]) != nullptr) continue;
      Storage& storage = storages_[view.buffer];
      storage.is_scratch = argument.argument == DNNL_ARG_SCRATCHPAD;
      if (storage.before.size() >= view.layout.get_size()) continue;
      storage.before = random_bytes(view.layout.get_size(), type_of(view.layout));
      storage.memory.resize(storage.before.size() + kBufferAlignment);
    }
    for (const StepArgument& argument : step.arguments) {
      const View& view = program.views[argument.view];
      void* const fixed = fixed_memory(program, program.buffers[view.buffer]);
      memories_.emplace_back(view.layout, engine,
                             fixed != nullptr ? fixed : storages_[view.buffer].data());
      arguments_.push_back({argument.argument, memories_.back().get()});
    }
  }

  // What the arguments hold after the primitive has run on them; nothing if it fails.
  std::vector<std::string> after(const dnnl::primitive& primitive, const dnnl::engine& engine) {
    for (auto& [buffer, storage] : storages_) {
      std::memcpy(storage.data(), storage.before.data(), storage.before.size());
    }
    dnnl::stream stream(engine);
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data());
    stream.wait();
    std::vector<std::string> found;
    if (status != dnnl_success) return found;
    for (auto& [buffer, storage] : storages_) {
      if (!storage.is_scratch) found.emplace_back(storage.data(), storage.before.size());
    }
    return found;
  }

 private:
  struct Storage {
    [[nodiscard]] char* data() {
      void* data = memory.data();
      std::size_t space = memory.size();
      return static_cast<char*>(std::align(kBufferAlignment, before.size(), data, space));
    }
    std::string before;
    std::vector<char> memory;
    bool is_scratch = false;
  };
  std::map<uint32_t, Storage> storages_;  // by buffer
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace

const Primitives* Teams::primitives_for(int threads) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = made_.try_emplace(threads);
  if (is_new) entry->second = make(threads);
  return entry->second ? &*entry->second : nullptr;
}

std::optional<Primitives> Teams::make(int threads) const {
  try {
    Program smaller = make_smaller(threads);
    if (!Comparison(program_, smaller).agree()) return {};
    create_primitives(smaller, threads);
    Primitives primitives;
    for (std::size_t i = 0; i < smaller.steps.size(); ++i) {
      if (smaller.steps[i].own == nullptr && !can_replace(i, smaller.steps[i].primitive, threads)) {
        return {};
      }
      primitives.push_back(std::move(smaller.steps[i].primitive));
    }
    return primitives;
  } catch (const std::runtime_error&) {  // NoPrimitive, StepFailed
    return {};
  } catch (const dnnl::error&) {
    return {};
  }
}

Program Teams::make_smaller(int threads) const {
  const ThreadScope scope(threads);
  LayoutSource layouts;
  return assemble(recipe_, layouts, engine_);
}

bool Teams::can_replace(std::size_t step, const dnnl::primitive& smaller, int threads) const {
  TrialArguments arguments(program_, program_.steps[step], engine_);
  const auto run = [&](const dnnl::primitive& primitive, int team) {
    const ThreadScope scope(team);
    return arguments.after(primitive, engine_);
  };
  if (find_touch(program_, step, smaller, engine_)) return false;
  const std::vector<std::string> results = run(program_.steps[step].primitive, threads_);
  return !results.empty() && results == run(smaller, threads);
}

}  // namespace ephost_dnnl
