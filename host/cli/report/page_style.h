// The constant parts that all pages have: style, and functions for their scripts.
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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<style>
:root { --ink: #1f2328; --soft: #59636e; --paper: #fff; --panel: #f6f8fa; --edge: #d1d9e0; --mark: #0969da; --peak: #c62828;
  --p0: #4e9a8f; --p1: #d98324; --p2: #4f86c6; --p3: #8d78c2; --p4: #78a03a; --p5: #c66fa5; --p6: #b39a25; --p7: #c4574c; --none: #8c8c8c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e6ea; --soft: #9aa4ae; --paper: #14171b; --panel: #1e2329; --edge: #3a424b; --mark: #6cb2ff; --peak: #ff7b72;
    --p0: #4fa99b; --p1: #dd9144; --p2: #6299d8; --p3: #a18cd6; --p4: #8ab54a; --p5: #d284b6; --p6: #c4ac3b; --p7: #d86f64; --none: #7c838a; }
}
* { box-sizing: border-box; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.5em 2em 4em; max-width: 1500px; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.5em; margin: 0 0 .6em; } h2 { font-size: 1.2em; margin: 2em 0 .4em; } h3 { font-size: 1em; margin: 1.6em 0 .4em; }
p { margin: .4em 0; } .soft { color: var(--soft); } .hint { color: var(--soft); font-size: 12px; }
ul.legend { list-style: none; padding: 0; margin: .4em 0 .8em; display: flex; flex-wrap: wrap; gap: .2em 1.6em; }
.key { display: inline-block; width: .9em; height: .9em; margin-right: .45em; border-radius: 2px; vertical-align: -1px; }
.p0 { --c: var(--p0); } .p1 { --c: var(--p1); } .p2 { --c: var(--p2); } .p3 { --c: var(--p3); } .p4 { --c: var(--p4); }
.p5 { --c: var(--p5); } .p6 { --c: var(--p6); } .p7 { --c: var(--p7); } .none { --c: var(--none); }
.key, .strip i { background: var(--c); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 3px 14px 3px 6px; border-bottom: 1px solid var(--edge); overflow-wrap: anywhere; }
th { position: sticky; top: 0; background: var(--panel); font-weight: 600; white-space: nowrap; }
.keep { white-space: nowrap; } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { background: linear-gradient(to left, var(--edge) var(--part), transparent var(--part)); }
button, input, select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--edge); border-radius: 4px; padding: .25em .6em; }
button { cursor: pointer; margin-top: .5em; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 1px; }
.strip { display: flex; height: 18px; border-radius: 4px; overflow: hidden; margin: .6em 0 1em; }
.filter { display: flex; flex-wrap: wrap; gap: .6em 1em; align-items: center; margin: .5em 0; }
.filter input { min-width: 16em; }
.graph { position: relative; padding: 4px 0; }
.graph > svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; overflow: visible; }
.graph path { fill: none; stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.2; }
.level { position: relative; display: flex; flex-wrap: wrap; justify-content: center; gap: 10px 22px; margin: 0 0 30px; }
.group { background: var(--panel); border: 1px solid var(--edge); border-left: 6px solid var(--c); border-radius: 5px; min-width: 150px; max-width: 560px; }
.group.dim { opacity: .3; }
.group summary { padding: 5px 10px; cursor: pointer; border-radius: 4px; }
.group summary b { overflow-wrap: anywhere; } .group summary span { display: block; }
.group div { padding: 0 12px 8px; max-height: 320px; overflow: auto; font-size: 13px; }
.group.kernels { border-style: dashed; border-left-style: solid; }
.facts { font-variant-numeric: tabular-nums; }
.map { display: block; width: 100%; height: 62vh; min-height: 320px; background: var(--panel); border: 1px solid var(--edge); border-radius: 5px; }
.map text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.map text.name { fill: #fff; stroke: #0007; stroke-width: 2px; paint-order: stroke; pointer-events: none; }
.map text.name.over { fill: var(--ink); stroke: none; }
.map rect.box, .map rect.step { fill: var(--c); }
.map rect.critical { stroke: var(--ink); stroke-width: 1.5; } .map line.wait { stroke: var(--ink); opacity: .5; }
.map rect.box { stroke: var(--panel); stroke-width: 1; vector-effect: non-scaling-stroke; outline: none; }
.map.dense rect.box { stroke: none; } .map rect.box:hover, .map rect.box:focus { stroke: var(--ink); stroke-width: 2.5; }
.map rect.workspace { fill-opacity: .35; stroke: var(--c); stroke-dasharray: 4 3; }
.map line, .map path { fill: none; vector-effect: non-scaling-stroke; }
.map line.grid { stroke: var(--edge); } .map line.inside { stroke: var(--ink); stroke-dasharray: 2 3; }
.map .peak { stroke: var(--peak); stroke-width: 2; } .map .bound { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 8 5; }
.map .live { stroke: var(--ink); stroke-width: 1.5; opacity: .75; pointer-events: none; }
.map path.weights { fill: var(--soft); fill-opacity: .5; stroke: none; }
.hover { min-height: 2.9em; font-family: ui-monospace, monospace; font-size: 12px; overflow-wrap: anywhere; }
@media print { .filter, button, .hint { display: none; } }
</style>
)";

// Reads the data, and has what the scripts of several pages need.
inline constexpr std::string_view kPageScript = R"(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const color = provider => provider < 0 ? "none" : "p" + provider % 8;
const key = provider => make("i", {class: "key " + color(provider), "aria-hidden": "true"});
function unpack({forms, numbers}) {
  let before = "";
  const parts = forms.map(form => (before = before.slice(0, form.charCodeAt(0) - 35) + form.slice(1)).split("\t"));
  const last = parts.map(() => []), names = [];
  for (let i = 0; i < numbers.length;) {
    const form = numbers[i++];
    let name = parts[form][0];
    for (let k = 1; k < parts[form].length; ++k) {
      last[form][k] = (last[form][k] || 0) + numbers[i++];
      name += last[form][k] + parts[form][k];
    }
    names.push(name);
  }
  return names;
}
function unrun(pairs) {
  const numbers = [];
  for (let i = 0; i < pairs.length; i += 2) {
    for (let n = pairs[i + 1]; n > 0; --n) numbers.push(pairs[i]);
  }
  return numbers;
}
function bytes(count) {
  if (count < 1024) return count + " B";
  let unit = -1;
  for (; count >= 1024 && unit < 4; ++unit) count /= 1024;
  return count.toFixed(count < 100 ? 1 : 0) + " " + ["KiB", "MiB", "GiB", "TiB", "PiB"][unit];
}
// Without rounding, for what is a power of 2 or a few of them.
function tick(count) {
  const unit = count === 0 ? 0 : Math.min(5, Math.floor(Math.log2(count) / 10));
  return `${Number((count / 1024 ** unit).toFixed(4))} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][unit]}`;
}
const exactly = count => `${count} byte${count === 1 ? "" : "s"}` + (count >= 1024 ? ` (${bytes(count)})` : "");
function table(caption, heads, numbers) {
  const body = make("tbody");
  const head = make("tr", {}, ...heads.map((text, i) =>
      make("th", {scope: "col", class: numbers.includes(i) ? "number" : undefined}, text)));
  return [make("table", {"aria-label": caption}, make("thead", {}, head), body), body];
}
// Rows are made when they are asked for, as a page of all rows of a large model is slow.
function show_in_parts(body, after, count, make_row, part = 200) {
  let shown = 0;
  const more = make("button", {type: "button"});
  const show = () => {
    const end = Math.min(count, shown + part);
    for (; shown < end; ++shown) body.append(make_row(shown));
    more.textContent = `Show ${Math.min(part, count - shown).toLocaleString("en")} more of ${plural(count, "row")}`;
    more.hidden = shown === count;
  };
  more.addEventListener("click", show);
  after.append(more);
  show();
  return more;
}
)";

inline constexpr std::string_view kPageEnd = R"(
data.graphs.forEach((graph, i) => draw(document.getElementById("graph" + i), graph));
)";

}  // namespace ephost::cli
