#include "host/optimize/passes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::optimize {
namespace {

constexpr std::array<std::string_view, kPassCount> kNames = {
    "ConstantFolding",   "DeadCodeElimination", "QDQSelectorActionTransformer",
    "EliminateIdentity", "EliminateDropout",    "EliminateCast",
    "EliminateReshape",  "EliminateTranspose",  "EliminatePad",
    "EliminateSlice",    "EliminateExpand",
};
constexpr std::array<std::string_view, 4> kLevels = {"disable_all", "basic", "extended", "all"};

template <class Names>
std::string choose(std::string_view given, const Names& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (const auto nearest = nearest_match(given, known)) {
    return "did you mean " + quote(*nearest) + "?";
  }
  return "there are " + join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

}  // namespace

std::string_view pass_name(Pass pass) { return kNames[static_cast<size_t>(pass)]; }

Result<PassSelection> PassSelection::create(std::string_view level,
                                            std::span<const std::string> disabled) {
  PassSelection selection;
  if (std::ranges::find(kLevels, level) == kLevels.end()) {
    return Status(StatusCode::kInvalidArgument, formatted("there is no optimization level {}; {}",
                                                          quote(level), choose(level, kLevels)));
  }
  if (level == "disable_all") selection.runs_.reset();
  for (const std::string& name : disabled) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("there is no optimizer {}; {}", quote(name), choose(name, kNames)));
    }
    selection.runs_.reset(static_cast<size_t>(found - kNames.begin()));
  }
  return selection;
}

std::string PassSelection::disabled_names() const {
  std::string names;
  for (size_t i = 0; i < kPassCount; ++i) {
    if (!runs_[i]) names += (names.empty() ? "" : ";") + std::string(kNames[i]);
  }
  return names;
}

}  // namespace ephost::optimize
