// The list of sites, and one site: its numbers, its pattern tree, its rules, its largest clusters.
import { get, part } from "./api.js";
import { h, show } from "./dom.js";
import { count, crumbs, drawing, growing, loading, num, pageLink, pct, problem, ruleRow, share, siteLink, tiles, whenTyped } from "./parts.js";
import { tree } from "./tree.js";

const COLUMNS = [["site", "Site"], ["pages", "URLs"], ["duplicate_rate", "Duplicates"], ["rules", "Rules"], ["saved", "Saved"], ["lost", "Lost"]];

export async function sites(box, _, asked) {
  const state = { q: asked.get("q") ?? "", sort: asked.get("sort") ?? "pages" };
  const table = h("div", {});
  const draw = drawing(table, async (signal) => {
    const first = await get("sites", state, signal);
    const body = h("tbody", {});
    const head = COLUMNS.map(([name, label]) => h("th", { class: name === "site" ? "" : "num", scope: "col", "aria-sort": state.sort === name ? (name === "site" ? "ascending" : "descending") : null },
      h("button", { type: "button", onclick: () => { state.sort = name; draw(); } }, label)));
    const [, foot] = growing(first, siteRow, body, ["site"]);
    show(table, h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head)), body)), foot);
  });
  const typed = whenTyped(draw);
  show(box, h("h1", {}, "Sites"),
    h("p", { class: "soft" }, "Saved and lost are measured on pages that the rules were not learned from."),
    h("section", { class: "card" },
      h("div", { class: "filters" }, h("input", { type: "search", "aria-label": "Only sites with", placeholder: "Only sites with …", value: state.q, oninput: (event) => { state.q = event.target.value; typed(); } })),
      table));
  await draw();
}

function siteRow(row) {
  return h("tr", {}, h("td", {}, siteLink(row.site)), h("td", { class: "num" }, num(row.pages)), h("td", {}, share(row.duplicate_rate)),
    h("td", { class: "num" }, num(row.rules)), h("td", {}, share(row.saved, row.possible)), h("td", { class: "num" }, pct(row.lost, 2)));
}

export async function site(box, name) {
  const { result } = await get(`sites/${part(name)}`);
  const grown = h("div", {}, loading("Growing the tree …"));
  const rules = h("div", {}, loading());
  const clusters = h("div", {}, loading());
  show(box,
    crumbs(["Sites", "#/sites"], [name]),
    h("h1", {}, name),
    tiles(
      [num(result.pages), "URLs", `${num(result.clusters)} different pages`],
      [pct(result.duplicate_rate), "duplicates", `the largest cluster has ${count(result.largest, "URL")}`],
      [num(result.rules), "rules"],
      result.saved !== null && [pct(result.saved), "fetches saved", `of ${pct(result.possible)} possible, on pages never seen`],
      result.lost !== null && [pct(result.lost, 2), "pages lost"]),
    h("section", { class: "card" }, h("h2", {}, "Pattern tree"), grown),
    h("section", { class: "card" }, h("h2", {}, "Rules"), rules),
    h("section", { class: "card" }, h("h2", {}, "Largest clusters"), clusters));
  fillRules(rules, name);
  fillClusters(clusters, name);
  tree(grown, name).catch((error) => show(grown, problem(error)));
}

async function fillRules(box, name) {
  try {
    const first = await get("rules", { site: name, limit: 20 });
    if (!first.total) { show(box, h("p", { class: "soft" }, "None: URLs do not tell what is duplicate here.")); return; }
    show(box, ...growing(first, (rule) => ruleRow(rule, false), h("div", {}), ["rule"]));
  } catch (error) { show(box, problem(error)); }
}

async function fillClusters(box, name) {
  try {
    const first = await get("clusters", { site: name, limit: 5 });
    if (!first.result.length) { show(box, h("p", { class: "soft" }, "No page has a duplicate here.")); return; }
    show(box, h("ul", { class: "list" }, first.result.map((each) => h("li", { class: "row spread" }, h("a", { href: `#/cluster/${encodeURIComponent(each.name)}` }, `${num(each.size)} URLs`), h("span", { class: "small" }, pageLink(each.url))))),
      h("p", { class: "small" }, h("a", { href: `#/clusters?site=${encodeURIComponent(name)}` }, "All clusters of this site")));
  } catch (error) { show(box, h("p", { class: "soft" }, error.message)); }
}
