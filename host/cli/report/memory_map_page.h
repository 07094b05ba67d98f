// The constant parts of the memory map's page: style and behaviour.
#pragma once

#include <string_view>

namespace ephost::cli {

// The policy forbids the page to fetch anything, even if a name were not escaped.
inline constexpr std::string_view kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
:root { --ink: #222; --paper: #fff; --faint: #ddd; --edge: #0006; --peak: #c00; --bound: #06c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #181818; --faint: #444; --edge: #000a; --peak: #f66; --bound: #6af; }
}
body { font: 14px/1.4 sans-serif; margin: 2em; color: var(--ink); background: var(--paper); }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3em 1.5em; }
.key { display: inline-block; width: 1em; height: 1em; margin-right: .5em; vertical-align: -2px; }
.frame { border: 1px solid var(--faint); height: 60vh; min-height: 240px; }
.map { display: block; width: 100%; height: 100%; overflow: hidden; }
.map rect { stroke: var(--edge); stroke-width: 1; vector-effect: non-scaling-stroke; }
.map rect:hover { stroke: var(--ink); stroke-width: 2; }
.map rect.workspace { fill-opacity: .45; stroke-dasharray: 4 3; }
.map line, .map path { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
.peak { stroke: var(--peak); }
.bound { stroke: var(--bound); stroke-dasharray: 8 5; }
.live { stroke: var(--ink); pointer-events: none; opacity: .6; }
.axis { display: flex; justify-content: space-between; margin: 0; }
.hover { min-height: 1.4em; font-family: monospace; overflow-wrap: anywhere; }
.p0 { fill: #4e9a8f; background: #4e9a8f; } .p1 { fill: #e0913c; background: #e0913c; }
.p2 { fill: #5b8dc9; background: #5b8dc9; } .p3 { fill: #9a86c8; background: #9a86c8; }
.p4 { fill: #86ad4d; background: #86ad4d; } .p5 { fill: #cf7fb0; background: #cf7fb0; }
.p6 { fill: #c9b13f; background: #c9b13f; } .p7 { fill: #cc6258; background: #cc6258; }
.none { fill: #8c8c8c; background: #8c8c8c; }
i.workspace { border: 1px dashed var(--ink); box-sizing: border-box; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 2px 12px 2px 6px; border-bottom: 1px solid var(--faint); }
th { position: sticky; top: 0; background: var(--paper); }
td { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { background: linear-gradient(to left, var(--faint) var(--part), transparent var(--part)); }
</style>
)";

// Shows the title of the box under the pointer below the map at once. The wheel zooms in time and
// offset; a double click resets the view.
inline constexpr std::string_view kPageScript = R"(<script>
for (const map of document.querySelectorAll("svg.map")) {
  const hover = map.closest("section").querySelector(".hover");
  map.addEventListener("pointerover", event => {
    const title = event.target.querySelector("title");
    if (title) hover.textContent = title.textContent.replaceAll("\n", " \u00b7 ");
  });
  const view = map.viewBox.baseVal;
  map.addEventListener("wheel", event => {
    event.preventDefault();
    const frame = map.getBoundingClientRect();
    const at = [(event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height];
    const scale = event.deltaY < 0 ? 0.8 : 1.25;
    const width = Math.min(1000, view.width * scale), height = Math.min(500, view.height * scale);
    view.x = Math.max(0, Math.min(1000 - width, view.x + (view.width - width) * at[0]));
    view.y = Math.max(0, Math.min(500 - height, view.y + (view.height - height) * at[1]));
    view.width = width;
    view.height = height;
  }, {passive: false});
  map.addEventListener("dblclick", () => map.setAttribute("viewBox", "0 0 1000 500"));
}
</script>
)";

}  // namespace ephost::cli
