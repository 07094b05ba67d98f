// The reports for other programs: JSON and JUnit's XML.
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/report/output.h"
#include "host/cli/validate/reports.h"

namespace ephost::cli {
namespace {

Json check_json(const KitCheck& check) {
  return {
      {"id", check.id},     {"rule", check.rule},   {"rule_title", check.rule_title},
      {"name", check.name}, {"title", check.title}, {"level", check.is_basic ? "basic" : "full"}};
}

Json result_json(const PluginResults& all, const CheckResult& result) {
  Json json = check_json(result.check);
  json.set("result", outcome_name(result.outcome));
  json.set("reason", result.reason.empty() ? Json() : Json(result.reason));
  Json findings = Json::array();
  for (const CheckFinding& one : result.findings) {
    findings.push_back({{"what", one.what}, {"advice", one.advice}});
  }
  json.set("findings", findings);
  Json figures = Json::object();
  for (const CheckFigure& one : result.figures) figures.set(one.name, one.value);
  json.set("figures", figures);
  json.set("seconds", result.seconds);
  if (result.outcome == CheckOutcome::kFailed) {
    json.set("reproduce", how_to_reproduce(all, result.check));
    json.set("output", result.output);
  }
  return json;
}

Json plugin_json(const PluginResults& results) {
  Json checks = Json::array();
  for (const CheckResult& result : results.results) checks.push_back(result_json(results, result));
  return {{"manifest", results.plugin.manifest.native()},
          {"provider", results.plugin.provider},
          {"name", results.plugin.name},
          {"version", results.plugin.version},
          {"level", results.level},
          // A number of 64 bits, which readers of JSON may round.
          {"seed", std::to_string(results.seed)},
          {"passed", results.count(CheckOutcome::kPassed)},
          {"failed", results.count(CheckOutcome::kFailed)},
          {"left_out", results.count(CheckOutcome::kLeftOut)},
          {"excluded", results.count(CheckOutcome::kExcluded)},
          {"not_run", results.count(CheckOutcome::kNotRun)},
          {"interrupted", results.was_interrupted()},
          {"seconds", results.seconds},
          {"checks", checks}};
}

// Text of an element; line breaks stay.
std::string xml_text(std::string_view text) {
  std::string escaped;
  while (true) {
    const size_t newline = text.find('\n');
    escaped += escape_html(text.substr(0, newline));
    if (newline == std::string_view::npos) return escaped;
    escaped += '\n';
    text.remove_prefix(newline + 1);
  }
}

std::string failure_xml(const PluginResults& all, const CheckResult& result) {
  std::string text;
  for (const CheckFinding& one : result.findings) {
    text += formatted("{}\nwhat to do: {}\n", one.what, one.advice);
  }
  text += "again: " + how_to_reproduce(all, result.check);
  const std::string message = result.findings.empty() ? "" : result.findings.front().what;
  return formatted("      <failure message=\"{}\">{}</failure>\n", escape_html(message),
                   xml_text(text));
}

std::string case_xml(const PluginResults& all, const CheckResult& result) {
  const KitCheck& check = result.check;
  std::string xml = formatted(
      "    <testcase classname=\"{}.rule_{}\" name=\"{} {}\" time=\"{}\">\n",
      escape_html(all.plugin.name), check.rule, check.id, check.name, fixed(result.seconds, 3));
  if (result.outcome == CheckOutcome::kFailed) xml += failure_xml(all, result);
  if (!result.reason.empty()) {
    xml += formatted("      <skipped message=\"{}: {}\"/>\n", outcome_name(result.outcome),
                     escape_html(result.reason));
  }
  if (result.outcome == CheckOutcome::kFailed && !result.output.empty()) {
    xml += formatted("      <system-out>{}</system-out>\n", xml_text(result.output));
  }
  return xml + "    </testcase>\n";
}

std::string suite_xml(const PluginResults& results) {
  std::string xml = formatted(
      "  <testsuite name=\"{} {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"{}\">\n    <properties>\n      <property name=\"seed\" value=\"{}\"/>\n"
      "      <property name=\"level\" value=\"{}\"/>\n    </properties>\n",
      escape_html(results.plugin.name), escape_html(results.plugin.version), results.results.size(),
      results.count(CheckOutcome::kFailed),
      results.results.size() - results.count(CheckOutcome::kPassed) -
          results.count(CheckOutcome::kFailed),
      fixed(results.seconds, 3), results.seed, results.level);
  for (const CheckResult& result : results.results) xml += case_xml(results, result);
  return xml + "  </testsuite>\n";
}

}  // namespace

Json results_json(const std::vector<PluginResults>& all) {
  Json plugins = Json::array();
  for (const PluginResults& results : all) plugins.push_back(plugin_json(results));
  return {{"plugins", plugins}};
}

std::string results_junit(const std::vector<PluginResults>& all) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ephost validate\">\n";
  for (const PluginResults& results : all) xml += suite_xml(results);
  return xml + "</testsuites>\n";
}

Json checks_json(const std::vector<KitCheck>& checks) {
  Json list = Json::array();
  for (const KitCheck& check : checks) list.push_back(check_json(check));
  return {{"checks", list}};
}

}  // namespace ephost::cli
