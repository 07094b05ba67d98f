#include "host/cli/validate/kit.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "host/base/format.h"
#include "host/base/processes/waiting.h"
#include "host/base/text.h"
#include "host/cli/report/json.h"
#include "host/cli/validate/child.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

// What the program answers when it is asked with these arguments. What else it prints, such as
// remarks of the loader, is not part of it.
Result<Json> ask(const fs::path& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program.native());
  arguments.insert(arguments.end(), {"--answer", "3"});
  std::error_code ignored;
  EPHOST_ASSIGN_OR_RETURN(Child child, Child::start(std::move(arguments), fs::current_path(ignored),
                                                    std::chrono::seconds(60)));
  std::optional<ChildEnd> end;
  while (!(end = child.update())) {
    std::vector<int> watched;
    child.watch(watched);
    wait_a_moment(watched, std::chrono::milliseconds(5));
  }
  const Json answer = Json::parse(end->answer);
  const Json error = answer.member("error");
  if (!error.is_null()) {
    return Status(static_cast<StatusCode>(error.member("code").number()),
                  error.member("message").string());
  }
  if (!answer.is_null()) return answer;
  return Status(StatusCode::kFail,
                formatted("{} does not answer as this version of ephost expects; reinstall both",
                          quote(program.native())));
}

fs::path first_that_exists(const fs::path& folder, std::span<const char* const> candidates) {
  std::error_code ignored;
  for (const char* const candidate : candidates) {
    fs::path path = (folder / candidate).lexically_normal();
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

bool is_named(const KitCheck& check, std::string_view name) {
  return name == check.id || name == check.name || name == std::to_string(check.rule);
}

}  // namespace

Result<Kit> Kit::find() {
  std::error_code failure;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failure).parent_path();
  // In an installation, and in a build tree.
  constexpr std::array kPrograms = {EPHOST_KIT_FROM_BIN, "../lib/ephost/ephost-conformance"};
  constexpr std::array kData = {EPHOST_KIT_DATA_FROM_BIN, "../share/ephost/conformance"};
  Kit kit;
  kit.program_ = first_that_exists(folder, kPrograms);
  kit.data_ = first_that_exists(folder, kData);
  if (kit.data_.empty()) kit.data_ = (folder / kData[0]).lexically_normal();
  if (!kit.program_.empty()) return kit;
  return Status(StatusCode::kNoSuchFile,
                formatted("the program of the conformance kit is missing, {}; reinstall ephost",
                          quote((folder / kPrograms[0]).lexically_normal().native())));
}

Result<std::vector<KitCheck>> Kit::checks() const {
  EPHOST_ASSIGN_OR_RETURN(const Json list, ask(program_, {"list"}));
  std::vector<KitCheck> checks;
  for (const Json& json : list.member("checks").elements()) {
    checks.push_back(
        {json.member("id").string(), static_cast<int>(json.member("rule").number()),
         json.member("rule_title").string(), json.member("name").string(),
         json.member("title").string(), json.member("level").string() == "basic",
         std::chrono::seconds(static_cast<int64_t>(json.member("deadline_seconds").number()))});
  }
  return checks;
}

Result<std::vector<KitPlugin>> Kit::plugins(const fs::path& path) const {
  EPHOST_ASSIGN_OR_RETURN(const Json list, ask(program_, {"plugins", path.native()}));
  std::vector<KitPlugin> plugins;
  for (const Json& json : list.member("plugins").elements()) {
    plugins.push_back({json.member("manifest").string(), json.member("provider").string(),
                       json.member("name").string(), json.member("version").string()});
  }
  return plugins;
}

Result<std::vector<Exclusion>> Kit::exclusions(const fs::path& file) const {
  EPHOST_ASSIGN_OR_RETURN(const Json list, ask(program_, {"exclusions", file.native()}));
  std::vector<Exclusion> exclusions;
  for (const Json& json : list.member("exclusions").elements()) {
    exclusions.push_back({json.member("check").string(), json.member("reason").string(),
                          json.member("optional").dump() == "true"});
  }
  return exclusions;
}

Result<std::vector<KitCheck>> choose_checks(std::vector<KitCheck> checks,
                                            const std::vector<std::string>& names) {
  if (names.empty()) return checks;
  for (const std::string& name : names) {
    if (std::ranges::any_of(checks, [&](const KitCheck& one) { return is_named(one, name); })) {
      continue;
    }
    std::vector<std::string_view> known;
    for (const KitCheck& one : checks) known.push_back(one.name);
    const auto nearest = nearest_match(name, known);
    return Status(StatusCode::kInvalidArgument,
                  formatted("unknown check {}; {}", quote(name),
                            nearest ? formatted("did you mean {}?", *nearest)
                                    : std::string("\"ephost validate --list\" lists all")));
  }
  std::erase_if(checks, [&](const KitCheck& check) {
    return std::ranges::none_of(names, [&](const auto& name) { return is_named(check, name); });
  });
  return checks;
}

}  // namespace ephost::cli
