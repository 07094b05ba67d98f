#include "host/cli/report/page.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/cli/report/page_style.h"

namespace ephost::cli {
namespace {

// JSON that ends no element around it, whatever its strings are.
std::string script_data(const Json& data) {
  std::string text;
  for (const char c : data.dump()) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Puts a tab, which no text of a page has, in the place of each number that can be written in one
// way only.
std::pair<std::string, std::vector<int64_t>> split_numbers(std::string_view text) {
  constexpr size_t kMostDigits = 9;
  std::string form;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::string_view digits = text.substr(i, end - i);
    if (digits.empty()) {
      form += text[i++];
      continue;
    }
    const bool is_plain = digits.size() <= kMostDigits && (digits[0] != '0' || digits.size() == 1);
    if (is_plain) {
      form += '\t';
      numbers.push_back(std::stoll(std::string(digits)));
    } else {
      form += digits;
    }
    i = end;
  }
  return {std::move(form), std::move(numbers)};
}

Json packed_beginnings(std::span<const std::string> texts) {
  // From '#' on come the characters that JSON writes as they are, but for the backslash; and only
  // bytes of ASCII are repeated, as scripts count characters in another way.
  constexpr size_t kMostRepeated = '[' - '#';
  Json packed = Json::array();
  std::string_view before;
  for (const std::string& text : texts) {
    size_t same = 0;
    const size_t limit = std::min({kMostRepeated, text.size(), before.size()});
    while (same < limit && text[same] == before[same] &&
           static_cast<unsigned char>(text[same]) < 0x80) {
      ++same;
    }
    packed.push_back(std::string(1, static_cast<char>('#' + same)) + text.substr(same));
    before = text;
  }
  return packed;
}

}  // namespace

std::string make_page(std::string_view title, const Json& data, std::string_view script) {
  const std::string safe_title = escape_html(title);
  std::string html = formatted(
      "{0}<title>{1}</title>\n</head>\n<body>\n<main>\n<h1>{1}</h1>\n"
      "<noscript><p>This page is drawn by a script, which the browser "
      "does not run.</p></noscript>\n",
      kPageHead, safe_title);
  const std::vector<Json> graphs = data.member("graphs").elements();
  for (size_t i = 0; i < graphs.size(); ++i) {
    const std::string heading = escape_html(graphs[i].member("title").string());
    html += formatted(
        "<section id=\"graph{0}\" aria-labelledby=\"heading{0}\">\n"
        "<h2 id=\"heading{0}\">{1}</h2>\n</section>\n",
        i, heading);
  }
  return html + formatted(
                    "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n"
                    "<script>{}{}{}</script>\n</body>\n</html>\n",
                    script_data(data), kPageScript, script, kPageEnd);
}

std::string page_text(std::string_view text, size_t max_bytes) {
  std::string safe = printable_line(text);
  if (safe.size() <= max_bytes) return safe;
  constexpr std::string_view kGap = "\u2026";
  const size_t kept = max_bytes > kGap.size() ? max_bytes - kGap.size() : 0;
  size_t front = kept / 3;
  while (front > 0 && is_inside_character(safe[front])) --front;
  size_t back = safe.size() - (kept - kept / 3);
  while (back < safe.size() && is_inside_character(safe[back])) ++back;
  return safe.substr(0, front) + std::string(kGap) + safe.substr(back);
}

Json packed_names(std::span<const std::string> names, size_t longest) {
  std::vector<std::string> forms;
  std::map<std::string, size_t> known;
  std::vector<std::vector<int64_t>> last;  // by form
  std::vector<int64_t> numbers;
  for (const std::string& name : names) {
    auto [form, found] = split_numbers(page_text(name, longest));
    const auto [at, is_new] = known.try_emplace(std::move(form), forms.size());
    if (is_new) {
      forms.push_back(at->first);
      last.emplace_back(found.size(), 0);
    }
    numbers.push_back(static_cast<int64_t>(at->second));
    std::vector<int64_t>& before = last[at->second];
    for (size_t i = 0; i < found.size(); ++i) numbers.push_back(found[i] - before[i]);
    before = std::move(found);
  }
  return {{"forms", packed_beginnings(forms)}, {"numbers", Json(numbers)}};
}

std::vector<int64_t> run_lengths(std::span<const int64_t> numbers) {
  std::vector<int64_t> pairs;
  for (const int64_t number : numbers) {
    if (!pairs.empty() && pairs[pairs.size() - 2] == number) {
      ++pairs.back();
    } else {
      pairs.insert(pairs.end(), {number, 1});
    }
  }
  return pairs;
}

}  // namespace ephost::cli
