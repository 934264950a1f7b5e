// A site's pattern tree: nodes that open and close, and beside them what holds duplicates of what, and the rules.
import { get, part } from "./api.js";
import { h, s, show } from "./dom.js";
import { count, meter, num, pageLink, pct } from "./parts.js";

const OPEN_AT_FIRST = 18;

export async function tree(box, site) {
  const { result } = await get(`sites/${part(site)}/tree`);
  if (!result.nodes.length) { show(box, h("p", { class: "soft" }, "No URLs of this site are in the run.")); return; }
  const { result: listed } = await get("rules", { site, limit: 1000 });
  new Tree(box, result, new Map(listed.map((rule) => [rule.id, rule])));
}

// The end of a pattern, where it differs from its neighbours.
const hint = (node) => node.pattern.replace(/^[^/]*\/\/[^/]*/, "");

class Tree {
  constructor(box, data, rules) {
    this.nodes = data.nodes;
    this.links = data.links;
    this.rules = data.rules;
    this.words = rules;
    this.below = new Map(data.nodes.map((node) => [node.id, []]));
    for (const node of data.nodes) if (node.parent !== null) this.below.get(node.parent).push(node);
    for (const list of this.below.values()) list.sort((a, b) => b.urls - a.urls || a.id - b.id);
    this.open = new Set();
    this.openSome();
    this.chosen = 0;
    this.rows = h("div", { role: "tree", "aria-label": "Patterns of URLs" });
    this.arcs = s("svg", { "aria-hidden": "true" });
    this.detail = h("div", { "aria-live": "polite" });
    this.rows.addEventListener("keydown", (event) => this.key(event));
    show(box,
      h("p", { class: "soft small" }, "Each line is a pattern, and what share of its URLs brings nothing new within it. ", data.looked_at < data.urls ? `Grown from ${num(data.looked_at)} of ${num(data.urls)} URLs.` : ""),
      h("div", { class: "keys" },
        h("span", {}, s("svg", { "aria-hidden": "true" }, s("line", { class: "act", x1: 0, x2: 34, y1: 5, y2: 5 })), "rule, from what it changes to what it makes"),
        h("span", {}, s("svg", { "aria-hidden": "true" }, s("line", { class: "dup", x1: 0, x2: 34, y1: 5, y2: 5 })), "duplicates of each other")),
      h("div", { class: "tree" }, this.rows, this.arcs),
      this.detail);
    this.draw();
    addEventListener("resize", () => this.drawArcs());
  }

  openSome() {
    const queue = [this.nodes[0]];
    let shown = 1;
    while (queue.length) {
      queue.sort((a, b) => b.urls - a.urls || a.id - b.id); // the largest first
      const node = queue.shift();
      const children = this.below.get(node.id);
      if (!children.length || shown + children.length > OPEN_AT_FIRST) continue;
      this.open.add(node.id);
      shown += children.length;
      queue.push(...children);
    }
  }

  draw(focus = false) {
    this.visible = [];
    const walk = (node, level) => {
      this.visible.push({ node, level });
      if (this.open.has(node.id)) for (const child of this.below.get(node.id)) walk(child, level + 1);
    };
    walk(this.nodes[0], 0);
    show(this.rows, this.visible.map(({ node, level }) => this.row(node, level)));
    this.place = new Map(this.visible.map(({ node }, place) => [node.id, place]));
    this.drawArcs();
    this.drawDetail();
    if (focus) this.rows.querySelector("[tabindex='0']")?.focus();
  }

  row(node, level) {
    const children = this.below.get(node.id).length;
    return h("div", {
      class: "node", role: "treeitem", "aria-level": level + 1, "aria-selected": String(node.id === this.chosen), tabindex: node.id === this.chosen ? 0 : -1, "data-node": node.id,
      "aria-expanded": children ? String(this.open.has(node.id)) : null, vars: { "--level": level }, onclick: (event) => this.click(event, node), title: node.pattern,
    },
    h("span", { class: "name" }, h("span", { class: `turn${children ? "" : " leaf"}`, "aria-hidden": "true" }, "›"), h("span", { class: "asks" }, node.asks), h("span", { class: "hint mono", "aria-hidden": "true" }, node.id ? hint(node) : "")),
    h("span", { class: "share" }, meter(node.duplicate_rate), h("span", {}, pct(node.duplicate_rate, 0), h("span", { class: "hidden" }, " duplicates, "))),
    h("span", { class: "num many soft" }, num(node.urls), h("span", { class: "hidden" }, " URLs")));
  }

  click(event, node) {
    this.chosen = node.id;
    if (event.target.classList.contains("turn")) this.turn(node.id);
    this.draw(true);
  }

  turn(id) { if (!this.open.delete(id) && this.below.get(id).length) this.open.add(id); }

  key(event) {
    const at = this.place.get(this.chosen);
    const node = this.visible[at].node;
    const moves = {
      ArrowDown: () => { this.chosen = this.visible[Math.min(at + 1, this.visible.length - 1)].node.id; },
      ArrowUp: () => { this.chosen = this.visible[Math.max(at - 1, 0)].node.id; },
      Home: () => { this.chosen = this.visible[0].node.id; },
      End: () => { this.chosen = this.visible.at(-1).node.id; },
      ArrowRight: () => { const below = this.below.get(node.id); if (!below.length) return; if (this.open.has(node.id)) this.chosen = below[0].id; else this.open.add(node.id); },
      ArrowLeft: () => { if (this.open.has(node.id)) this.open.delete(node.id); else if (node.parent !== null) this.chosen = node.parent; },
      Enter: () => this.turn(node.id),
      " ": () => this.turn(node.id),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
    this.draw(true);
  }

  shownAs(id) {
    let node = this.nodes[id];
    while (!this.place.has(node.id)) node = this.nodes[node.parent];
    return node.id;
  }

  drawArcs() {
    const height = this.rows.firstElementChild?.offsetHeight ?? 36;
    const narrow = matchMedia("(max-width: 860px)").matches;
    const width = narrow ? 52 : 140;
    this.arcs.setAttribute("width", width);
    this.arcs.setAttribute("height", height * this.visible.length);
    const y = (id) => (this.place.get(id) + 0.5) * height;
    const seen = new Map();
    const made = [];
    const add = (kind, from, to, about, href) => {
      const [a, b] = [this.shownAs(from), this.shownAs(to)];
      const key = kind === "act" ? `${kind} ${a} ${b}` : [kind, ...[a, b].sort()].join(" ");
      if (kind === "dup" && a === b) return;
      if (seen.has(key)) { // several rules between the same nodes are one arc
        const arc = seen.get(key);
        if (kind === "act") Object.assign(arc, { many: arc.many + 1, href: null, about: `${arc.about}\n${about}` });
        return;
      }
      const arc = { kind, a, b, about, href, many: 1, near: [a, b].includes(this.chosen) };
      seen.set(key, arc);
      made.push(arc);
    };
    for (const link of this.links.slice(0, 24)) add("dup", link.from, link.to, `${pct(link.overlap)} of their URLs are in common clusters`);
    for (const each of this.rules) {
      const rule = this.words.get(each.rule);
      add("act", each.from, each.to, rule ? `${rule.words}: changes ${count(each.changed, "URL")}` : "", rule ? `#/rule/${rule.id}` : null);
    }
    const some = made.some((each) => each.near) && this.chosen !== 0;
    show(this.arcs, made.map((arc, place) => this.arc(arc, place, y, width, some)));
  }

  arc({ kind, a, b, about, href, many, near }, place, y, width, some) {
    const [start, end] = [y(a), y(b)];
    const from = 4;
    const reach = a === b ? 26 + (place % 3) * 6 : Math.min(width - 8, 26 + Math.sqrt(Math.abs(end - start)) * (width > 60 ? 5.2 : 1.8) + (place % 4) * 5);
    const d = a === b
      ? `M${from},${start - 6} C${from + reach},${start - 14} ${from + reach},${start + 14} ${from + 5},${start + 6}`
      : `M${from},${start} C${from + reach},${start} ${from + reach},${end} ${from + 5},${end}`;
    const [tipX, tipY] = [from, a === b ? start + 6 : end];
    const state = near && some ? " near" : some ? " far" : "";
    const drawn = [s("path", { class: kind + state, d }), kind === "act" && s("path", { class: "tip", d: `M${tipX},${tipY} l8,-4 v8 z` }), many > 1 && s("text", { x: from + 0.75 * reach + 6, y: (start + end) / 2 + 4 }, `${many} rules`), s("title", {}, about)].filter(Boolean);
    return href ? s("a", { href, tabindex: -1 }, s("path", { class: "hit", d }), drawn) : s("g", {}, drawn);
  }

  drawDetail() {
    const node = this.nodes[this.chosen];
    const inside = (id) => { for (let each = this.nodes[id]; ; each = this.nodes[each.parent]) { if (each.id === node.id) return true; if (each.parent === null) return false; } };
    const acting = this.rules.filter((each) => (node.id ? inside(each.from) || each.to === node.id : true) && this.words.has(each.rule)).slice(0, 8);
    const alike = this.links.filter((each) => each.from === node.id || each.to === node.id).slice(0, 5);
    show(this.detail,
      h("h3", {}, "Chosen pattern"),
      h("pre", { class: "pattern", tabindex: 0 }, node.pattern),
      h("p", { class: "small soft" }, `${count(node.urls, "URL")} that are ${count(node.clusters, "different page")}: ${pct(node.duplicate_rate)} bring nothing new.`),
      h("ul", { class: "plain small" }, node.examples.map((url) => h("li", {}, pageLink(url)))),
      alike.length > 0 && h("p", { class: "small" }, "Duplicates of: ", alike.map((each, place) => [place ? ", " : "", h("code", {}, this.nodes[each.from === node.id ? each.to : each.from].asks), ` (${pct(each.overlap, 0)})`])),
      acting.length > 0 && h("div", {}, h("h3", {}, "Rules at work here"), h("ul", { class: "plain small" }, acting.map((each) => h("li", {}, h("a", { href: `#/rule/${each.rule}` }, this.words.get(each.rule).words), h("span", { class: "soft" }, ` changes ${count(each.changed, "URL")}: `, h("code", {}, this.nodes[each.from].asks), " → ", h("code", {}, this.nodes[each.to].asks)))))));
  }
}
