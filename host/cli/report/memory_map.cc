#include "host/cli/report/memory_map.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/report/memory_map_page.h"
#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

// Size of the drawing in its own units; the browser stretches it.
constexpr double kWidth = 1000;
constexpr double kHeight = 500;
constexpr size_t kColors = 8;  // in the style sheet

std::string percent(double part, double whole) {
  return fixed(whole > 0 ? 100 * part / whole : 0, 3) + "%";
}

std::string color_class(std::optional<uint32_t> provider) {
  return provider ? formatted("p{}", *provider % kColors) : "none";
}

std::string bytes_exactly(uint64_t bytes) {
  return counted(bytes, "byte") + (bytes >= 1024 ? formatted(" ({})", bytes_text(bytes)) : "");
}

// One graph's part of the page.
class Section {
 public:
  explicit Section(const MemoryMap& map) : map_(map) {}

  std::string html() {
    add(formatted("<section>\n<h2>{}</h2>\n", escape_html(map_.name)));
    legend();
    for (const MapBlock& block : map_.blocks) draw(block);
    if (map_.blocks.empty()) add("<p>There is no block: sizes are known at run time only.</p>\n");
    if (map_.unplaced > 0) {
      add("<p>" + counted(map_.unplaced, "value") +
          " not in a block: sizes are known at run time, " +
          "or the caller gives the memory.</p>\n");
    }
    steps();
    add("</section>\n");
    return std::move(html_);
  }

 private:
  void add(std::string_view text) { html_ += text; }

  void legend() {
    if (map_.providers.empty()) return;
    add("<ul class=\"legend\">\n");
    for (uint32_t i = 0; i < map_.providers.size(); ++i) {
      add(formatted("<li><i class=\"key {}\"></i>{}</li>\n", color_class(i),
                    escape_html(map_.providers[i])));
    }
    add("<li><i class=\"key workspace\"></i>workspace</li>\n</ul>\n");
  }

  [[nodiscard]] double x(uint64_t time) const {
    return kWidth * static_cast<double>(time) /
           static_cast<double>(std::max<uint64_t>(map_.end, 1));
  }
  // Offset 0 is at the bottom.
  [[nodiscard]] static double y(uint64_t offset, const MapBlock& block) {
    const auto peak = static_cast<double>(std::max<uint64_t>(block.peak, 1));
    return kHeight - kHeight * static_cast<double>(offset) / peak;
  }

  void draw(const MapBlock& block) {
    const double ratio = block.lower_bound == 0 ? 1.0
                                                : static_cast<double>(block.peak) /
                                                      static_cast<double>(block.lower_bound);
    add(formatted(
        "<p class=\"facts\">Block {}: peak {}, lower bound {}, ratio {}{}, {} placed</p>\n"
        "<div class=\"frame\">\n",
        escape_html(block.name), bytes_exactly(block.peak), bytes_exactly(block.lower_bound),
        fixed(ratio, 3), block.proved_optimal ? ", optimal" : "", block.boxes.size()));
    add("<svg class=\"map\" role=\"img\" viewBox=\"0 0 1000 500\" preserveAspectRatio=\"none\">\n");
    for (const MapBox& one : block.boxes) box(one, block);
    line("peak", 0, "peak: " + bytes_exactly(block.peak));
    line("bound", y(block.lower_bound, block), "lower bound: " + bytes_exactly(block.lower_bound));
    live(block);
    add(formatted("</svg>\n</div>\n<p class=\"axis\"><span>step 0</span><span>{}</span></p>\n",
                  map_.end));
    add("<p class=\"hover\">&nbsp;</p>\n");
  }

  void box(const MapBox& one, const MapBlock& block) {
    const double top = y(one.offset + one.size, block);
    add(formatted(R"(<rect class="{}{}" x="{}" y="{}" width="{}" height="{}"><title>{}&#10;)",
                  one.is_workspace ? "workspace " : "", color_class(one.provider),
                  fixed(x(one.begin), 3), fixed(top, 3), fixed(x(one.end) - x(one.begin), 3),
                  fixed(y(one.offset, block) - top, 3), escape_html(one.name)));
    if (!one.what.empty()) add(escape_html(one.what) + "&#10;");
    if (one.provider) add(escape_html(map_.providers[*one.provider]) + "&#10;");
    add(formatted("{} at offset {}&#10;steps {} to {}</title></rect>\n", bytes_exactly(one.size),
                  one.offset, one.begin, one.end - 1));
  }

  void line(std::string_view kind, double at, const std::string& title) {
    add(formatted(R"(<line class="{0}" x1="0" x2="1000" y1="{1}" y2="{1}">)", kind, fixed(at, 3)));
    add(formatted("<title>{}</title></line>\n", title));
  }

  // Live bytes over time, as a step function.
  void live(const MapBlock& block) {
    add("<path class=\"live\" d=\"M0 " + fixed(y(0, block), 3));
    for (const auto& [time, bytes] : block.live) {
      add(formatted("H{}V{}", fixed(x(time), 3), fixed(y(bytes, block), 3)));
    }
    add("\"/>\n");
  }

  void steps() {
    if (map_.steps.empty()) return;
    uint64_t most = 1;
    for (const MapStep& step : map_.steps) most = std::max(most, step.live);
    add("<h3>Order</h3>\n<table>\n<thead><tr><th>step</th><th>provider</th><th>node</th>"
        "<th>operator</th><th>live bytes</th></tr></thead>\n<tbody>\n");
    for (size_t pc = 0; pc < map_.steps.size(); ++pc) {
      const MapStep& step = map_.steps[pc];
      add(formatted(
          R"(<tr><td class="number">{}</td><td><i class="key {}"></i>{}</td><td>{}</td><td>{}</td>)"
          "<td class=\"number bar\" style=\"--part:{}\">{}</td></tr>\n",
          pc, color_class(step.provider), escape_html(map_.providers[step.provider]),
          escape_html(step.node), escape_html(step.op),
          percent(static_cast<double>(step.live), static_cast<double>(most)), step.live));
    }
    add("</tbody>\n</table>\n");
  }

  const MemoryMap& map_;
  std::string html_;
};

}  // namespace

std::vector<std::pair<uint64_t, uint64_t>> live_bytes(std::span<const LiveRange> ranges) {
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> changes;  // bytes that begin and end
  for (const LiveRange& range : ranges) {
    changes[range.begin].first += range.size;
    changes[range.end].second += range.size;
  }
  std::vector<std::pair<uint64_t, uint64_t>> live;
  uint64_t now = 0;
  for (const auto& [time, change] : changes) {
    now = now + change.first - change.second;
    live.emplace_back(time, now);
  }
  return live;
}

std::string to_html(const std::string& title, std::span<const MemoryMap> maps) {
  std::string html = formatted("{0}<title>{1}</title>\n</head>\n<body>\n<h1>{1}</h1>\n", kPageHead,
                               escape_html(title));
  for (const MemoryMap& map : maps) html += Section(map).html();
  return html + std::string(kPageScript) + "</body>\n</html>\n";
}

}  // namespace ephost::cli
