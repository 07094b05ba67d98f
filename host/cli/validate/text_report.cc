#include <algorithm>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/cli/report/output.h"
#include "host/cli/report/table.h"
#include "host/cli/validate/reports.h"

namespace ephost::cli {
namespace {

std::string rule_line(const KitCheck& check) {
  return formatted("\nrule {}: {}\n", check.rule, check.rule_title);
}

// "  failed    27.3   truncated-payloads   Every truncation of a payload is refused   12 ms".
std::string check_line(const CheckResult& result, size_t name_width) {
  const std::string title =
      result.outcome == CheckOutcome::kLeftOut || result.outcome == CheckOutcome::kExcluded
          ? formatted("{}: {}", result.check.title, result.reason)
          : result.check.title;
  return formatted("  {}  {}  {}  {}, {}\n", padded(outcome_name(result.outcome), 8),
                   padded(result.check.id, 5), padded(result.check.name, name_width), title,
                   seconds_text(result.seconds));
}

std::string figures_line(const CheckResult& result) {
  std::string line;
  for (const CheckFigure& figure : result.figures) {
    line += formatted("{}{}: {}", line.empty() ? "" : ", ", figure.name, compact(figure.value));
  }
  return line;
}

std::string failure_text(const PluginResults& all, const CheckResult& result, bool with_output) {
  const KitCheck& check = result.check;
  std::string text = formatted("\nFAILED {} {} (rule {}: {})\n", check.id, check.name, check.rule,
                               check.rule_title);
  for (const CheckFinding& finding : result.findings) {
    text += formatted("  {}\n    what to do: {}\n", finding.what, finding.advice);
  }
  if (!result.figures.empty()) text += formatted("  figures: {}\n", figures_line(result));
  text += formatted("  again: {}\n", how_to_reproduce(all, check));
  if (with_output && !result.output.empty()) {
    text += formatted("  output:\n{}{}", result.output, result.output.ends_with('\n') ? "" : "\n");
  }
  return text;
}

size_t longest_name(const std::vector<CheckResult>& results) {
  size_t longest = 0;
  for (const CheckResult& one : results) longest = std::max(longest, one.check.name.size());
  return longest;
}

std::string totals_line(const PluginResults& results) {
  return formatted("\n{}: {} in {}\n", results.plugin.name, counts_text(results),
                   seconds_text(results.seconds));
}

}  // namespace

std::string results_text(const PluginResults& results, bool with_output) {
  const KitPlugin& plugin = results.plugin;
  std::string text =
      formatted("{} ({}) {} of {}, level {}, seed {}\n", plugin.provider, plugin.name,
                plugin.version, plugin.manifest.native(), results.level, results.seed);
  const size_t width = longest_name(results.results);
  int rule = 0;
  for (const CheckResult& result : results.results) {
    if (result.outcome == CheckOutcome::kNotRun) continue;  // the totals count them
    if (result.check.rule != rule) text += rule_line(result.check);
    rule = result.check.rule;
    text += check_line(result, width);
  }
  for (const CheckResult& result : results.results) {
    if (result.outcome == CheckOutcome::kFailed) text += failure_text(results, result, with_output);
  }
  return text + totals_line(results);
}

std::string checks_text(const std::vector<KitCheck>& checks) {
  Table table({{"check"}, {"name"}, {"level"}, {"what holds"}});
  for (const KitCheck& check : checks) {
    table.add_row({check.id, check.name, check.is_basic ? "basic" : "full", check.title});
  }
  return table.to_text();
}

}  // namespace ephost::cli
