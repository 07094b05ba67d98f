#include "host/manifest/names.h"

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"

namespace ephost::manifest {

std::string name_problem(std::string_view name, const NameRule& rule) {
  if (name.empty()) return "the name is empty; fill it in";
  if (name.find_first_not_of(rule.letters) != std::string_view::npos) {
    return formatted("the name {} is not allowed; use only {}", quote(name), rule.description);
  }
  if (name.size() > rule.longest) {
    return formatted("the name {} is too long; use at most {} characters", quote(name),
                     rule.longest);
  }
  return {};
}

Result<std::string> read_name(const Field& field, const NameRule& rule) {
  EPHOST_ASSIGN_OR_RETURN(std::string name, field.text());
  const std::string problem = name_problem(name, rule);
  if (!problem.empty()) return field.error(problem);
  return name;
}

bool names_provider(std::string_view name, std::string_view type_name,
                    std::string_view short_name) {
  return equal_ignoring_case(name, type_name) || equal_ignoring_case(name, short_name);
}

}  // namespace ephost::manifest
