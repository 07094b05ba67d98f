// Script of the page about a plan: memory against time, the steps of each provider or stream in a
// lane, the order.
#pragma once

#include <string_view>

namespace ephost::cli {

// Boxes are drawn in bytes and steps, or seconds, and one transformation brings them to the screen,
// so that zooming moves no box by itself. Axes, labels and lanes are drawn again. A label is drawn
// whole, in several lines or upwards if need be, or not at all.
inline constexpr std::string_view kMemoryMapScript = R"(
const space = {right: 14, top: 10, axis: 34, lane: 18, line: 13};
const ink = document.createElement("canvas").getContext("2d");
ink.font = "11px system-ui, sans-serif";
const text_width = text => ink.measureText(text).width;
const short_name = provider => provider.replace("ExecutionProvider", "") || provider;
function duration(seconds) {
  let unit = 0;
  for (seconds *= 1e9; seconds >= 1000 && unit < 3; ++unit) seconds /= 1000;
  return `${Number(seconds.toPrecision(3))} ${["ns", "\u00b5s", "ms", "s"][unit]}`;
}
// Lines of at most that width, which together are the text; broken after separators where there are some.
function wrapped(text, width) {
  const lines = [];
  let line = "", good = 0;
  for (const char of text) {
    if (line && text_width(line + char) > width) {
      const end = good || line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end);
      good = 0;
    }
    line += char;
    if ("/._-: ".includes(char)) good = line.length;
  }
  return [...lines, line];
}
const svg_of = () => document.importNode(new DOMParser()
    .parseFromString("<svg class='map' role='group'></svg>", "text/html").querySelector("svg"), true);
function draw_in(parent, tag, attributes, text) {
  const element = document.createElementNS(parent.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
const titled = (element, text) => (draw_in(element, "title", {}, text), element);
function read_boxes(graph, packed) {
  const lengths = unrun(packed.lengths), providers = unrun(packed.providers), workspaces = unrun(packed.workspaces);
  const boxes = unpack(packed.names).map((name, i) => ({name, begin: packed.begins[i], end: packed.begins[i] + lengths[i],
      offset: packed.offsets[i], size: packed.sizes[i], provider: providers[i], workspace: workspaces[i] === 1, what: packed.whats[packed.texts[i]]}));
  for (const [i, values, live] of packed.insides) boxes[i].inside = {values, live};
  for (const box of boxes) box.text = [box.name, box.what, box.provider < 0 ? "" : graph.providers[box.provider],
      box.inside ? inside_text(box.inside) : "", `${exactly(box.size)} at offset ${box.offset}`, `steps ${box.begin} to ${box.end - 1}`]
      .filter(line => line).join("\n");
  return boxes;
}
const inside_text = inside => `inside: ${plural(inside.values, "value")} of the partition, at most ${exactly(inside.live)} alive at a time in the model's order; the provider places them`;

class MemoryMap {
  constructor(section, graph, block, steps) {
    this.lane_names = graph.streams.length ? graph.streams : graph.providers.map(short_name);
    Object.assign(this, {graph, block, steps, lanes: steps.length ? this.lane_names.length : 0});
    this.peak = Math.max(block.peak, 1);
    this.end = Math.max(graph.end, 1);
    this.times = graph.times;
    this.left = 12 + Math.max(60, ...(this.lanes ? this.lane_names : []).map(text_width));
    this.choose_axis(Boolean(this.times));
    this.weights = Math.max(0, ...steps.map(step => step.weights));
    this.boxes = read_boxes(graph, block.boxes).sort((a, b) => a.begin - b.begin || a.offset - b.offset);
    this.svg = svg_of();
    if (this.times) this.add_choice(section);
    this.svg.setAttribute("aria-label", `Memory of block ${block.name} against steps: ${this.boxes.length} placed, peak ${exactly(block.peak)}`);
    this.hover = make("p", {class: "hover", role: "status", "aria-live": "polite"}, "\u00a0");
    section.append(this.svg, make("p", {class: "hint"}, "Arrow keys go from box to box, + and \u2212 or the wheel zoom, 0 or a double click shows everything."), this.hover);
    this.back = draw_in(this.svg, "g", {"aria-hidden": "true"});
    this.window = draw_in(this.svg, "svg", {});
    this.plot = draw_in(this.window, "g", {});
    this.names = draw_in(this.window, "g", {"aria-hidden": "true", transform: `translate(${-this.left} ${-space.top})`});
    this.front = draw_in(this.svg, "g", {});
    this.fill();
    this.lay_out();
    this.listen();
    this.show_all();
  }
  // Where each step begins on the axis, and the end of the last one: steps are as wide as each other, or as long as
  // they took.
  choose_axis(by_time) {
    this.by_time = by_time;
    this.at = [0];
    for (let i = 0; i < this.end; ++i) this.at.push(by_time ? this.at[i] + this.times[i] : i + 1);
    this.extent = this.at[this.end] || 1;
  }
  add_choice(section) {
    const choice = make("select", {"aria-label": "Axis"}, make("option", {value: "time"}, "against time"), make("option", {value: "steps"}, "against steps"));
    choice.addEventListener("change", () => {
      this.choose_axis(choice.value === "time");
      this.lay_out();
      this.show_all();
    });
    section.append(make("div", {class: "filter"}, choice));
  }
  // The step that an axis position belongs to.
  column(position) {
    let low = 0, high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle + 1] <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  fill() {
    for (const box of this.boxes) {
      box.element = titled(draw_in(this.plot, "rect", {class: `box ${color(box.provider)}${box.workspace ? " workspace" : ""}`, role: "img", tabindex: -1,
          y: this.peak - box.offset - box.size, height: box.size}), box.text);
      box.element.box = box;
      if (box.inside && box.inside.live <= box.size) {
        const at = this.peak - box.offset - box.inside.live;
        box.line = draw_in(this.plot, "line", {class: "inside", "aria-hidden": "true", y1: at, y2: at});
      }
    }
    if (this.boxes.length) this.boxes[0].element.setAttribute("tabindex", 0);
    // What follows in place covers the end of a box.
    const last = new Map();
    for (const box of this.boxes) {
      const before = last.get(box.offset);
      if (before && before.end > box.begin) before.shown_end = box.begin;
      last.set(box.offset, box);
    }
    const across = (kind, bytes, text) => titled(draw_in(this.plot, "line", {class: kind, role: "img", x1: 0, y1: this.peak - bytes, y2: this.peak - bytes}), text);
    this.across = [across("peak", this.block.peak, `peak: ${exactly(this.block.peak)}`),
        across("bound", this.block.lower_bound, `lower bound: ${exactly(this.block.lower_bound)}`)];
    this.live = draw_in(this.plot, "path", {class: "live", "aria-hidden": "true"});
  }
  // Everything along the axis.
  lay_out() {
    for (const box of this.boxes) {
      box.element.setAttribute("x", this.at[box.begin]);
      box.element.setAttribute("width", this.at[box.end] - this.at[box.begin]);
      if (!box.line) continue;
      box.line.setAttribute("x1", this.at[box.begin]);
      box.line.setAttribute("x2", this.at[box.end]);
    }
    for (const line of this.across) line.setAttribute("x2", this.extent);
    let path = `M0 ${this.peak}`;
    for (let i = 0; i < this.block.live.length; i += 2) path += `H${this.at[this.block.live[i]]}V${this.peak - this.block.live[i + 1]}`;
    this.live.setAttribute("d", path);
  }
  show_all() {
    this.view = {from: 0, to: this.extent, low: 0, high: this.peak};
    this.place();
  }
  place() {
    const at = this.svg.getBoundingClientRect(), view = this.view;
    this.lane_count = this.lanes + (this.weights ? 1 : 0);
    this.width = Math.max(at.width - this.left - space.right, 50);
    this.height = Math.max(at.height - space.top - space.axis - this.lane_count * space.lane, 50);
    this.x = step => this.left + (step - view.from) * this.width / (view.to - view.from);
    this.y = bytes => space.top + (view.high - bytes) * this.height / (view.high - view.low);
    const sx = this.width / (view.to - view.from), sy = this.height / (view.high - view.low);
    this.plot.setAttribute("transform", `matrix(${sx} 0 0 ${sy} ${this.x(0) - this.left} ${this.y(this.peak) - space.top})`);
    for (const [name, value] of Object.entries({x: this.left, y: space.top, width: this.width, height: this.height})) this.window.setAttribute(name, value);
    this.svg.classList.toggle("dense", this.width / this.end < 6 && sx < 6);
    this.back.replaceChildren();
    this.front.replaceChildren();
    this.names.replaceChildren();
    this.draw_axes();
    this.draw_names();
    this.draw_lanes();
  }
  draw_axes() {
    const view = this.view, bottom = space.top + this.height;
    const step = 2 ** Math.max(0, Math.ceil(Math.log2((view.high - view.low) / Math.max(2, this.height / 46))));
    for (let bytes_at = Math.ceil(view.low / step) * step; bytes_at <= view.high; bytes_at += step) {
      const y = this.y(bytes_at);
      draw_in(this.back, "line", {class: "grid", x1: this.left, x2: this.left + this.width, y1: y, y2: y});
      draw_in(this.back, "text", {class: "tick bytes", x: this.left - 6, y: y + 4, "text-anchor": "end"}, tick(bytes_at));
    }
    const rough = (view.to - view.from) / Math.max(2, this.width / 80), ten = 10 ** Math.floor(Math.log10(rough));
    const round = [1, 2, 5, 10].map(n => n * ten).find(n => n >= rough);
    const each = this.by_time ? round : Math.max(1, round), half = this.by_time ? 0 : 0.5;
    // A step's number stands under the middle of its column.
    for (let n = Math.ceil((view.from - half) / each); n * each + half <= view.to; ++n) {
      const x = this.x(n * each + half);
      if (!this.by_time && n * each >= this.end) break;
      draw_in(this.back, "line", {class: "grid", x1: x, x2: x, y1: bottom, y2: bottom + 5});
      draw_in(this.back, "text", {class: this.by_time ? "tick times" : "tick steps", x, y: bottom + 17, "text-anchor": "middle"}, this.by_time ? duration(n * each) : n * each);
    }
    draw_in(this.back, "text", {x: this.left - 6, y: bottom + 17, "text-anchor": "end"}, this.by_time ? "time" : "step");
  }
  draw_names() {
    let left = 400;
    for (const box of this.boxes) {
      if (left === 0) break;
      const x = Math.max(this.x(this.at[box.begin]), this.left), width = Math.min(this.x(this.at[box.shown_end || box.end]), this.left + this.width) - x;
      const top = Math.max(this.y(box.offset + box.size), space.top), height = Math.min(this.y(box.offset), space.top + this.height) - top;
      if (width < 14 || height < 14) continue;
      box.text_width = box.text_width || text_width(box.name);
      if (box.text_width * space.line > width * height) continue;
      if (this.draw_name(box, x, top, width, height, "") || this.draw_name(box, x, top + height, height, width, `rotate(-90 ${x} ${top + height})`)) --left;
    }
  }
  // Whether the name fits in lines of that width; then its size follows, if there is room.
  draw_name(box, x, y, width, height, turn) {
    const lines = wrapped(box.name, width - 8);
    if (lines.some(line => text_width(line) > width - 8) || lines.length * space.line > height - 1) return false;
    const kind = box.workspace ? "name over" : "name";
    const element = draw_in(this.names, "text", turn ? {class: kind, transform: turn} : {class: kind});
    const add = (parent, text, i) => draw_in(parent, "tspan", {x: x + 4, y: y + space.line * (i + 1) - 2}, text);
    lines.forEach((line, i) => add(element, line, i));
    const size = bytes(box.size);
    if ((lines.length + 1) * space.line > height - 1 || text_width(size) > width - 8) return true;
    add(draw_in(this.names, "text", turn ? {class: `size ${kind}`, transform: turn} : {class: `size ${kind}`}), size, lines.length);
    return true;
  }
  // The lane of a step.
  lane(step) { return this.graph.streams.length ? step.lane : step.provider; }
  // What a step waits for in other lanes, from its end to the beginning of the step.
  draw_waits(below, first, last) {
    const waits = this.graph.steps.waits.filter(([from, to]) => to >= first && from < last);
    if (waits.length > 300) return;
    const middle = step => below + this.lane(this.steps[step]) * space.lane + space.lane / 2;
    for (const [from, to] of waits) {
      const x = [this.at[from + 1], this.at[to]].map(at => this.x(at));
      if (x[0] < this.left || x[1] > this.left + this.width) continue;
      titled(draw_in(this.front, "line", {class: "wait", x1: x[0], x2: x[1], y1: middle(from), y2: middle(to)}), `step ${to} waits for step ${from}`);
    }
  }
  // A lane for each provider or stream; then the constants that the steps read, as heights.
  draw_lanes() {
    const view = this.view, below = space.top + this.height + space.axis - 8;
    const first = this.column(view.from), last = Math.min(this.steps.length, this.column(view.to) + 1);
    for (let lane = 0; lane < this.lanes; ++lane) {
      draw_in(this.front, "text", {x: this.left - 6, y: below + lane * space.lane + 12, "text-anchor": "end", "aria-hidden": "true"},
          this.lane_names[lane]);
    }
    const inside = position => Math.min(Math.max(this.x(position), this.left), this.left + this.width);
    for (let i = first; i < last;) {
      const step = this.steps[i], {provider, critical} = step, lane = this.lane(step);
      let end = i + 1;
      while (end < last && this.steps[end].provider === provider && this.lane(this.steps[end]) === lane && this.x(this.at[end]) - this.x(this.at[i]) < 3) ++end;
      const from = inside(this.at[i]), width = inside(this.at[end]) - from;
      titled(draw_in(this.front, "rect", {class: `step ${color(provider)}${critical ? " critical" : ""}`, role: "img", x: from, y: below + lane * space.lane + 2,
          width: Math.max(1, width - (width > 4 ? 1 : 0)), height: space.lane - 5}),
          end - i > 1 ? `steps ${i} to ${end - 1}` : `step ${i}: ${step.op} ${step.node}${this.times ? `, ${duration(this.times[i])}` : ""}${critical ? ", on the critical path" : ""}`);
      i = end;
    }
    this.draw_waits(below, first, last);
    if (!this.weights) return;
    const bottom = below + this.lane_count * space.lane - 3;
    draw_in(this.front, "text", {x: this.left - 6, y: bottom - 4, "text-anchor": "end", "aria-hidden": "true"}, "weights");
    let path = `M${this.left} ${bottom}`;
    for (let i = first; i < last; ++i) path += `H${inside(this.at[i]).toFixed(1)}V${(bottom - (space.lane - 5) * this.steps[i].weights / this.weights).toFixed(1)}`;
    titled(draw_in(this.front, "path", {class: "weights", role: "img", d: `${path}H${inside(this.at[last]).toFixed(1)}V${bottom}Z`}),
        `weights: constants that the steps read, at most ${exactly(this.weights)} in one`);
  }
  tell(text) { this.hover.textContent = text.replaceAll("\n", " \u00b7 "); }
  zoom(scale, time, at_bytes) {
    const view = this.view, least = this.by_time ? this.extent / 1e5 : 1, steps = Math.min(this.extent, Math.max(least, (view.to - view.from) * scale)), high = Math.min(this.peak, Math.max(1, (view.high - view.low) * scale));
    const from = time - (time - view.from) * steps / (view.to - view.from), low = at_bytes - (at_bytes - view.low) * high / (view.high - view.low);
    view.from = Math.max(0, Math.min(this.extent - steps, from));
    view.to = view.from + steps;
    view.low = Math.max(0, Math.min(this.peak - high, low));
    view.high = view.low + high;
    this.place();
  }
  focus(box) {
    for (const other of this.svg.querySelectorAll("rect.box[tabindex='0']")) other.setAttribute("tabindex", -1);
    box.element.setAttribute("tabindex", 0);
    const view = this.view, steps = view.to - view.from, high = view.high - view.low;
    if (this.at[box.begin] >= view.to || this.at[box.end] <= view.from) {
      view.from = Math.max(0, Math.min(this.extent - steps, this.at[box.begin] - steps / 2));
      view.to = view.from + steps;
    }
    if (box.offset >= view.high || box.offset + box.size <= view.low) {
      view.low = Math.max(0, Math.min(this.peak - high, box.offset - high / 2));
      view.high = view.low + high;
    }
    this.place();
    box.element.focus();
  }
  // To the next box in time, or the nearest above or below one that exists at the same time.
  neighbour(box, key) {
    const index = this.boxes.indexOf(box);
    if (key === "ArrowRight") return this.boxes[index + 1];
    if (key === "ArrowLeft") return this.boxes[index - 1];
    if (key === "Home") return this.boxes[0];
    if (key === "End") return this.boxes[this.boxes.length - 1];
    const is_up = key === "ArrowUp", beside = this.boxes.filter(other => other.begin < box.end && other.end > box.begin &&
        (is_up ? other.offset >= box.offset + box.size : other.offset + other.size <= box.offset));
    return beside.sort((a, b) => is_up ? a.offset - b.offset : b.offset - a.offset)[0];
  }
  listen() {
    this.svg.addEventListener("pointerover", event => {
      const title = event.target.querySelector(":scope > title");
      if (title) this.tell(title.textContent);
    });
    this.svg.addEventListener("focusin", event => { if (event.target.box) this.tell(event.target.box.text); });
    this.svg.addEventListener("keydown", event => {
      const box = event.target.box;
      if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
      const next = ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key);
      if (next) this.focus(this.neighbour(box, event.key) || box);
      else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 0.7 : 1.4, (this.at[box.begin] + this.at[box.end]) / 2, box.offset + box.size / 2);
      else if (event.key === "0" || event.key === "Escape") this.show_all();
      else return;
      event.preventDefault();
    });
    this.svg.addEventListener("wheel", event => {
      event.preventDefault();
      const at = this.svg.getBoundingClientRect(), view = this.view;
      const time = view.from + (event.clientX - at.left - this.left) / this.width * (view.to - view.from);
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, time, view.high - (event.clientY - at.top - space.top) / this.height * (view.high - view.low));
    }, {passive: false});
    this.svg.addEventListener("dblclick", () => this.show_all());
    new ResizeObserver(() => this.place()).observe(this.svg);
  }
}
function draw_block(section, graph, block, steps) {
  const ratio = block.lower_bound === 0 ? 1 : block.peak / block.lower_bound;
  section.append(make("p", {class: "facts"}, `Block ${block.name}: peak ${exactly(block.peak)}, lower bound ${exactly(block.lower_bound)}, ratio ${ratio.toFixed(3)}` +
      `${block.optimal ? ", optimal" : ""}, ${block.boxes.begins.length} placed`));
  new MemoryMap(section, graph, block, steps);
}
function draw(section, graph) {
  const nodes = unpack(graph.steps.nodes), operators = unpack(graph.steps.operators), critical = new Set(graph.steps.critical);
  const steps = graph.steps.numbers.map(([provider, live, weights, workspace, inner_values, inner_live], i) =>
      ({node: nodes[i], op: operators[i], provider, lane: graph.steps.lanes[i] || 0, critical: critical.has(i), live, weights, workspace, inside: {values: inner_values, live: inner_live}}));
  if (graph.providers.length) section.append(make("ul", {class: "legend"}, ...graph.providers.map((name, i) => make("li", {}, key(i), name))));
  for (const block of graph.blocks) draw_block(section, graph, block, steps);
  for (const note of graph.notes) section.append(make("p", {class: "note"}, note));
  if (steps.length === 0) return;
  const most = Math.max(1, ...steps.map(step => step.live));
  const [rows, body] = table("Order of the steps", ["step", "provider", "node", "operator", "live bytes", "workspace", "weights", "inside"], [0, 4, 5, 6]);
  section.append(make("h3", {}, "Order"), rows);
  show_in_parts(body, section, steps.length, i => {
    const step = steps[i], live = make("td", {class: "number bar"}, step.live);
    live.style.setProperty("--part", `${(100 * step.live / most).toFixed(2)}%`);
    return make("tr", {}, make("td", {class: "number"}, i), make("td", {class: "keep"}, key(step.provider), graph.providers[step.provider]), make("td", {}, step.node),
        make("td", {}, step.op), live, make("td", {class: "number"}, step.workspace), make("td", {class: "number"}, step.weights),
        make("td", {class: "soft"}, step.inside.values ? `${plural(step.inside.values, "value")}, at most ${bytes(step.inside.live)} alive` : ""));
  }, 500);
}
)";

}  // namespace ephost::cli
