#include "host/base/format.h"
#include "host/cli/report/output.h"
#include "host/cli/report/page.h"
#include "host/cli/validate/reports.h"

namespace ephost::cli {
namespace {

// Draws a summary, a filter and a table; the failures are open, and the others can be opened.
constexpr std::string_view kResultsScript = R"js(
function draw(section, graph) {
  section.append(make("p", { class: "soft" }, graph.facts), make("p", {}, graph.summary));
  const filter = make("input", { type: "search", "aria-label": "Filter of the checks", placeholder: "name, rule, result or text" });
  const status = make("span", { class: "soft", role: "status" });
  section.append(make("div", { class: "filter" }, filter, status));
  const body = make("tbody");
  section.append(make("table", {}, make("caption", { class: "hint" }, "One row for each check, by the rules of the interface"),
    make("thead", {}, make("tr", {}, ...["Check", "Result", "What holds", "Seconds"].map((title) => make("th", { scope: "col" }, title)))), body));
  const rows = graph.checks.map((check) => {
    const what = make("td", {}, make("div", {}, check.title), make("div", { class: "hint" }, "rule " + check.rule));
    if (check.reason) what.append(make("p", { class: "soft" }, check.reason));
    for (const finding of check.findings) {
      what.append(make("p", { style: "color: var(--peak)" }, finding.what), make("p", {}, "What to do: " + finding.advice));
    }
    if (check.again) what.append(make("p", {}, "Again: ", make("code", {}, check.again)));
    if (check.output) what.append(make("details", {}, make("summary", {}, "Output"), make("pre", { style: "white-space: pre-wrap" }, check.output)));
    const failed = check.result === "failed";
    const row = make("tr", {}, make("th", { scope: "row" }, check.id + " " + check.name),
      make("td", { class: "keep", style: failed ? "color: var(--peak); font-weight: 600" : undefined }, check.result), what,
      make("td", { class: "number" }, check.seconds));
    body.append(row);
    return [row, row.textContent.toLowerCase()];
  });
  const apply = () => {
    const wanted = filter.value.toLowerCase();
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !text.includes(wanted);
      if (!row.hidden) ++shown;
    }
    status.textContent = shown + " of " + rows.length + " checks";
  };
  filter.addEventListener("input", apply);
  apply();
}
)js";

Json row_json(const PluginResults& all, const CheckResult& result) {
  constexpr size_t kLongestOutput = 20000;
  const KitCheck& check = result.check;
  Json findings = Json::array();
  for (const CheckFinding& one : result.findings) {
    findings.push_back({{"what", page_text(one.what)}, {"advice", page_text(one.advice)}});
  }
  const bool has_failed = result.outcome == CheckOutcome::kFailed;
  return {{"id", check.id},
          {"name", check.name},
          {"rule", page_text(formatted("{}: {}", check.rule, check.rule_title))},
          {"title", page_text(check.title)},
          {"result", outcome_name(result.outcome)},
          {"reason", page_text(result.reason)},
          {"findings", findings},
          {"again", has_failed ? Json(page_text(how_to_reproduce(all, check))) : Json()},
          {"output", has_failed ? Json(page_text(result.output, kLongestOutput)) : Json()},
          {"seconds", fixed(result.seconds, 3)}};
}

Json section_json(const PluginResults& results) {
  const KitPlugin& plugin = results.plugin;
  Json checks = Json::array();
  // The failures first, since those are what the page is opened for.
  for (const bool failed : {true, false}) {
    for (const CheckResult& result : results.results) {
      if ((result.outcome == CheckOutcome::kFailed) == failed) {
        checks.push_back(row_json(results, result));
      }
    }
  }
  return {
      {"title", page_text(formatted("{} ({}) {}", plugin.provider, plugin.name, plugin.version))},
      {"facts", page_text(formatted("{}, level {}, seed {}", plugin.manifest.native(),
                                    results.level, results.seed))},
      {"summary", formatted("{} in {}.", counts_text(results), seconds_text(results.seconds))},
      {"checks", checks}};
}

}  // namespace

std::string results_page(const std::vector<PluginResults>& all) {
  Json sections = Json::array();
  for (const PluginResults& results : all) sections.push_back(section_json(results));
  return make_page("Conformance", {{"graphs", sections}}, kResultsScript);
}

}  // namespace ephost::cli
