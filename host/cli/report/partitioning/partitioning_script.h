// Script of the page about a partitioning: the graph of its groups, a filter, its nodes, and
// reasons.
#pragma once

#include <string_view>

namespace ephost::cli {

inline constexpr std::string_view kPartitioningScript = R"(
// The nodes of a graph, each with what the page says about it.
function read_nodes(graph) {
  const names = unpack(graph.names), steps = unrun(graph.groups);
  let group = 0;
  return names.map((name, id) => {
    group += steps[id];
    const [op, version] = graph.operators[graph.operator[id]];
    return {id, name, op, version, group, provider: graph.groups_list[group].provider, reasons: []};
  });
}
function read_reasons(graph, nodes) {
  graph.reasons_list = graph.reasons.map(([refused, provider, text, count, ranges]) => {
    const reason = {refused, provider, text, count, nodes: []};
    let next = 0;
    for (let i = 0; i < ranges.length; i += 2) {
      next += ranges[i];
      for (let n = ranges[i + 1]; n > 0; --n, ++next) {
        reason.nodes.push(next);
        nodes[next].reasons.push(reason);
      }
    }
    return reason;
  });
}
function read_groups(graph) {
  const names = unpack(graph.group_names);
  const groups = unrun(graph.group_providers).map((provider, index) =>
      ({index, provider, partition: names[index], nodes: [], from: new Set(), to: new Set(), level: 0}));
  for (let i = 0, from = 0; i < graph.edges.length; i += 2) {
    from += graph.edges[i];
    groups[from].to.add(from + graph.edges[i + 1]);
    groups[from + graph.edges[i + 1]].from.add(from);
  }
  return graph.groups_list = groups;
}
// Each group below all that it reads from.
function set_levels(groups) {
  const waits = groups.map(group => group.from.size);
  const ready = groups.filter(group => waits[group.index] === 0);
  for (let i = 0; i < ready.length; ++i) {
    for (const next of ready[i].to) {
      groups[next].level = Math.max(groups[next].level, ready[i].level + 1);
      if (--waits[next] === 0) ready.push(groups[next]);
    }
  }
}
const provider_name = (graph, provider) => provider < 0 ? "no provider" : graph.providers[provider][0];
const title_of = group => group.partition || (group.nodes.length === 1
    ? group.nodes[0].op + (group.nodes[0].name ? " " + group.nodes[0].name : "")
    : plural(group.nodes.length, "kernel"));
const node_text = node => `#${node.id} ${node.op}` + (node.name ? ` ${node.name}` : "");

function count_by(items, key_of) {
  const counts = new Map();
  for (const item of items) counts.set(key_of(item), (counts.get(key_of(item)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
// The inside of a box, made when it is opened.
function fill_group(graph, group, inside) {
  const names = set => [...set].map(index => title_of(graph.groups_list[index]));
  const ends = (label, set) => set.size === 0 ? [] : [make("p", {}, make("span", {class: "soft"}, label + " "),
      names(set).slice(0, 12).join(", ") + (set.size > 12 ? ` and ${set.size - 12} more` : ""))];
  inside.append(make("p", {}, count_by(group.nodes, node => node.op)
      .map(([op, count]) => count > 1 ? `${count} ${op}` : op).join(", ")),
      ...ends("reads from", group.from), ...ends("read by", group.to));
  const reasons = new Set(group.nodes.flatMap(node => node.reasons));
  for (const reason of [...reasons].slice(0, 10)) inside.append(make("p", {class: "soft"}, reason_text(reason)));
  const list = make("ul");
  inside.append(list);
  show_in_parts(list, inside, group.nodes.length, i => make("li", {}, node_text(group.nodes[i])), 100);
}
const reason_text = reason =>
    `${reason.provider} ${reason.refused ? "did not get" : "declined"}: ${reason.text}`;

function draw_groups(section, graph) {
  const groups = graph.groups_list, most = 300;
  const area = make("div", {class: "graph", role: "group", "aria-label": "Groups of nodes, in the order of data"});
  const svg = new DOMParser().parseFromString("<svg aria-hidden='true'></svg>", "text/html").querySelector("svg");
  section.append(make("h3", {}, "Groups"), make("p", {class: "hint"},
      "Each box is a partition, or nodes with kernels between partitions (dashed). Open one to look inside; arrow keys go from box to box."), area);
  area.append(document.importNode(svg, true));
  const lines = () => {
    const drawn = area.firstChild, at = area.getBoundingClientRect();
    drawn.replaceChildren();
    let path = "";
    for (const group of groups) {
      if (!group.box) continue;
      const a = group.box.getBoundingClientRect();
      for (const next of group.to) {
        if (!groups[next].box) continue;
        const b = groups[next].box.getBoundingClientRect();
        const x1 = a.left + a.width / 2 - at.left, x2 = b.left + b.width / 2 - at.left;
        const y1 = a.bottom - at.top, y2 = b.top - at.top, bend = Math.max(12, (y2 - y1) / 2);
        path += `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${(y1 + bend).toFixed(1)} ${x2.toFixed(1)} ${(y2 - bend).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
      }
    }
    const element = document.createElementNS(drawn.namespaceURI, "path");
    element.setAttribute("d", path);
    drawn.append(element);
  };
  const sorted = [...groups].sort((a, b) => a.level - b.level || a.index - b.index);
  let shown = 0, level = -1, row = null;
  const more = make("button", {type: "button"});
  const show = () => {
    const end = Math.min(sorted.length, shown + most);
    for (; shown < end; ++shown) {
      const group = sorted[shown];
      if (group.level !== level) area.append(row = make("div", {class: "level"}));
      level = group.level;
      const inside = make("div");
      group.box = make("details", {class: `group ${color(group.provider)}` + (group.partition ? "" : " kernels")},
          make("summary", {}, make("b", {}, title_of(group)), make("span", {class: "soft"},
              `${provider_name(graph, group.provider)}, ${plural(group.nodes.length, "node")}`)), inside);
      group.box.addEventListener("toggle", () => {
        if (group.box.open && !inside.firstChild) fill_group(graph, group, inside);
        lines();
      });
      row.append(group.box);
    }
    more.textContent = `Show more of ${plural(sorted.length, "group")}`;
    more.hidden = shown === sorted.length;
    lines();
  };
  more.addEventListener("click", show);
  section.append(more);
  if (graph.edge_count > graph.edges.length / 2) section.append(make("p", {class: "hint"},
      `The page has ${graph.edges.length / 2} of ${graph.edge_count} connections.`));
  show();
  area.addEventListener("keydown", event => move_focus(area, event));
  new ResizeObserver(lines).observe(area);
}
// Left and right within a level, up and down to the nearest box of the next one.
function move_focus(area, event) {
  const from = event.target.closest("summary"), step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
  if (!from || !step) return;
  event.preventDefault();
  const all = [...area.querySelectorAll("summary")];
  let next = all[all.indexOf(from) + step];
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const rows = [...area.querySelectorAll(".level")], row = rows[rows.indexOf(from.closest(".level")) + step];
    const middle = element => { const at = element.getBoundingClientRect(); return at.left + at.width / 2; };
    const distance = element => Math.abs(middle(element) - middle(from));
    next = row && [...row.querySelectorAll("summary")].sort((a, b) => distance(a) - distance(b))[0];
  }
  if (next) next.focus();
}

// Nodes one after the other of which nothing differs but the number.
function merge(nodes) {
  const rows = [];
  for (const node of nodes) {
    const last = rows[rows.length - 1], first = last && last.node;
    const is_same = last && first.name === node.name && first.op === node.op && first.version === node.version &&
        first.group === node.group && last.end === node.id && String(first.reasons.map(reason_text)) === String(node.reasons.map(reason_text));
    if (is_same) ++last.end; else rows.push({node, end: node.id + 1});
  }
  return rows;
}
function draw_nodes(section, graph, nodes) {
  const text = make("input", {type: "search", placeholder: "name, operator or reason", "aria-label": "Filter nodes by name, operator or reason"});
  const choice = (label, options) => make("select", {"aria-label": label}, make("option", {value: ""}, label),
      ...options.map(([value, shown]) => make("option", {value}, shown)));
  const operator = choice("All operators", count_by(nodes, node => node.op).map(([op, count]) => [op, `${op} (${count})`]));
  const provider = choice("All providers", count_by(nodes, node => node.provider)
      .map(([index, count]) => [index, `${provider_name(graph, index)} (${count})`]));
  const status = make("span", {role: "status", "aria-live": "polite", class: "soft"});
  const holder = make("div");
  section.append(make("h3", {}, "Nodes"), make("div", {class: "filter", role: "search"}, text, operator, provider, status), holder);
  const apply = () => {
    const wanted = text.value.toLowerCase();
    const found = nodes.filter(node => (operator.value === "" || node.op === operator.value) &&
        (provider.value === "" || node.provider === Number(provider.value)) &&
        (wanted === "" || [node.name, node.op, graph.groups_list[node.group].partition, ...node.reasons.map(reason_text)]
            .some(part => part.toLowerCase().includes(wanted))));
    status.textContent = `${found.length.toLocaleString("en")} of ${plural(nodes.length, "node")}`;
    const matching = new Set(found.map(node => node.group));
    for (const group of graph.groups_list) group.box?.classList.toggle("dim", !matching.has(group.index));
    const [rows, body] = table("Nodes", ["node", "name", "operator", "version", "provider", "partition", "why not others"], [0, 3]);
    holder.replaceChildren(rows);
    const merged = merge(found);
    show_in_parts(body, holder, merged.length, i => {
      const {node, end} = merged[i];
      return make("tr", {}, make("td", {class: "number"}, end - node.id > 1 ? `${node.id}\u2013${end - 1}` : node.id), make("td", {}, node.name),
          make("td", {class: "keep"}, node.op), make("td", {class: "number"}, node.version),
          make("td", {class: "keep"}, key(node.provider), provider_name(graph, node.provider)),
          make("td", {}, graph.groups_list[node.group].partition),
          make("td", {class: "soft"}, ...node.reasons.slice(0, 5).map(reason => make("div", {}, reason_text(reason))),
              ...(node.reasons.length > 5 ? [make("div", {}, `and ${node.reasons.length - 5} more`)] : [])));
    });
  };
  for (const input of [text, operator, provider]) input.addEventListener("input", apply);
  apply();
}
// What the reasons of nodes and the filter do not have, to keep the page small.
function draw_what_is_missing(section, graph) {
  const shown = graph.reasons_list.length, texts = [];
  if (shown < graph.reason_count) texts.push(`${shown} of ${graph.reason_count} reasons are shown`);
  if (!graph.reasons_have_all_nodes) texts.push("some reasons are shown for a part of their nodes");
  if (texts.length) section.append(make("p", {class: "hint"}, `To keep the page small, ${texts.join(", and ")}; ephost partition --explain --format json has all of them.`));
}
function draw_reasons(section, graph, nodes) {
  if (graph.reasons_list.length === 0) return;
  const [rows, body] = table("Refused and declined", ["provider", "", "nodes", "first", "reason"], [2]);
  section.append(make("h3", {}, "Refused and declined"), rows);
  show_in_parts(body, section, graph.reasons_list.length, i => {
    const reason = graph.reasons_list[i];
    return make("tr", {}, make("td", {class: "keep"}, reason.provider), make("td", {class: "keep"}, reason.refused ? "claim refused" : "declined"),
        make("td", {class: "number"}, reason.count), make("td", {}, reason.nodes.length ? node_text(nodes[reason.nodes[0]]) : ""),
        make("td", {}, reason.text));
  }, 50);
}
// The nodes in their order, by provider; of many, what most of their neighbours have.
function draw_strip(section, graph, nodes) {
  const pieces = Math.min(nodes.length, 800), strip = make("div", {class: "strip", role: "img",
      "aria-label": "Providers of the nodes in their order: " + count_by(nodes, node => node.provider)
          .map(([provider, count]) => `${provider_name(graph, provider)} ${count}`).join(", ")});
  let last = null;
  for (let i = 0; i < pieces; ++i) {
    const part = nodes.slice(Math.floor(i * nodes.length / pieces), Math.floor((i + 1) * nodes.length / pieces));
    const provider = count_by(part, node => node.provider)[0][0];
    if (last && last.provider === provider) last.element.style.flexGrow = last.count += part.length;
    else {
      last = {provider, count: part.length, element: make("i", {class: color(provider)})};
      last.element.style.flexGrow = part.length;
      strip.append(last.element);
    }
  }
  section.append(strip);
}
function draw(section, graph) {
  const groups = read_groups(graph), nodes = read_nodes(graph);
  for (const node of nodes) groups[node.group].nodes.push(node);
  read_reasons(graph, nodes);
  set_levels(groups);
  const legend = make("ul", {class: "legend"}, ...graph.providers.map(([name, text], i) => make("li", {}, key(i), text)));
  if (graph.unassigned > 0) legend.append(make("li", {}, key(-1), `${plural(graph.unassigned, "node")} taken by no provider`));
  section.append(legend);
  draw_strip(section, graph, nodes);
  draw_groups(section, graph);
  draw_what_is_missing(section, graph);
  draw_nodes(section, graph, nodes);
  draw_reasons(section, graph, nodes);
  if (data.longest < 160) section.append(make("p", {class: "hint"}, "Long names are shortened to keep the page small; ephost partition --format json has them whole."));
}
)";

}  // namespace ephost::cli
