// A run at a glance.
import { get } from "./api.js";
import { h, s, show } from "./dom.js";
import { count, meter, num, pct, siteLink, tiles } from "./parts.js";
import { explainer } from "./try.js";

const PROTOCOLS = {
  by_cluster: ["Pages never seen", "learned from some of the pages, tested on others"],
  by_sample: ["URLs never seen", "learned from 30% of the URLs, tested on the rest"],
  learned_from: ["All pages", "on what the rules were learned from"],
};

export async function overview(box) {
  const { result } = await get("overview");
  const worth = result.evaluation.find((each) => each.protocol === "by_cluster");
  const all = result.evaluation.find((each) => each.protocol === "learned_from");
  const duplicates = result.pages === null ? null : result.pages - result.clusters;
  show(box,
    h("h1", {}, title(result)),
    result.problem && h("p", { class: "note bad" }, `The rule file cannot be read, so the rules read before stay in force: ${result.problem}`),
    result.by_equal_content && h("p", { class: "note" }, "This run has no clusters.parquet: pages of equal content are shown as duplicates."),
    result.pages !== null && flow(result, all),
    tiles(
      result.pages !== null && [num(result.pages), "pages", count(result.sites, "site")],
      duplicates !== null && [pct(result.pages ? duplicates / result.pages : 0), "duplicates", `${num(duplicates)} URLs too many`],
      [num(result.rules), "rules", [result.accepted && `${num(result.accepted)} accepted`, result.withdrawn && `${num(result.withdrawn)} withdrawn`].filter(Boolean).join(", ") || "none looked at yet"],
      worth && [pct(worth.compression), "fetches saved", `of ${pct(worth.duplicate_rate)} possible, on pages never seen`],
      worth && [pct(worth.pages_lost, 2), "pages lost", "the price of the saving"]),
    h("section", { class: "card", "aria-labelledby": "try-title" }, h("h2", { id: "try-title" }, "What becomes of a URL"), explainer("")),
    h("div", { class: "grid" },
      result.top.length > 0 && h("section", { class: "card" }, h("h2", {}, "Sites with the most duplicates"), topSites(result.top), h("p", { class: "small" }, h("a", { href: "#/sites" }, result.sites === 1 ? "All sites" : `All ${count(result.sites, "site")}`))),
      result.sizes.length > 0 && h("section", { class: "card" }, h("h2", {}, "How large clusters are"), sizes(result.sizes), h("p", { class: "small" }, h("a", { href: "#/clusters" }, "Look at the clusters")))),
    result.evaluation.length > 0 && h("section", { class: "card" }, h("h2", {}, "What the rules save, and what they would lose"), evaluation(result.evaluation)));
}

function title(result) {
  if (result.pages === null) return `${count(result.rules, "rule")} for ${count(result.sites, "site")}`;
  return `${count(result.pages, "URL")}, ${count(result.clusters, "different page")}`;
}

function flow(result, all) {
  const duplicates = result.pages - result.clusters;
  const saved = all ? Math.min(duplicates, Math.round(all.compression * result.pages)) : Math.min(duplicates, result.merged);
  const parts = [["a", result.clusters, "different pages"], ["b", saved, "duplicates that the rules skip"], ["c", duplicates - saved, "duplicates that no rule explains"]];
  return h("div", {},
    h("div", { class: "flow", role: "img", "aria-label": parts.map(([, value, name]) => `${num(value)} ${name}`).join(", ") }, parts.map(([kind, value]) => value > 0 && h("i", { class: kind, vars: { "flex-grow": value } }))),
    h("div", { class: "legend", "aria-hidden": "true" }, parts.map(([kind, value, name]) => h("span", {}, h("i", { class: kind }), `${num(value)} ${name}`))));
}

function topSites(rows) {
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Site"), h("th", { class: "num" }, "Duplicates"), h("th", { class: "num" }, "Rules"))),
    h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, siteLink(row.site)), h("td", {}, h("span", { class: "share" }, meter(row.duplicate_rate), h("span", {}, num(row.duplicates)))), h("td", { class: "num" }, num(row.rules))))));
}

// Clusters by size, both axes logarithmic.
function sizes(points) {
  const [width, height, left, bottom, top, right] = [440, 226, 44, 36, 10, 24];
  const most = [Math.max(10, ...points.map(([size]) => size)), Math.max(10, ...points.map(([, many]) => many))].map((each) => Math.ceil(Math.log10(each) + 0.001));
  const x = (size) => left + (Math.log10(size) / most[0]) * (width - left - right);
  const y = (many) => height - bottom - (Math.log10(many) / most[1]) * (height - bottom - top);
  const powers = (end) => Array.from({ length: end + 1 }, (_, place) => 10 ** place);
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Number of clusters by number of URLs; the largest has ${num(points.at(-1)[0])}` },
    powers(most[0]).map((value) => [s("line", { class: "axis", x1: x(value), x2: x(value), y1: top, y2: height - bottom }), s("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, num(value))]),
    powers(most[1]).map((value) => [s("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }), s("text", { x: left - 7, y: y(value) + 4, "text-anchor": "end" }, num(value))]),
    s("text", { x: width - right, y: height - 2, "text-anchor": "end" }, "URLs of a cluster"),
    points.map(([size, many]) => s("circle", { class: "dot", cx: x(size), cy: y(many), r: 3.6 }, s("title", {}, `${count(many, "cluster")} of ${count(size, "URL")}`))));
}

function evaluation(rows) {
  return h("div", { class: "scroll", role: "group", tabindex: 0, "aria-label": "What the rules save, and what they would lose" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Measured on"), h("th", { class: "num" }, "Fetches saved, of those possible"), h("th", { class: "num" }, "Pages lost"), h("th", { class: "num" }, "False pairs"), h("th", { class: "num" }, "Rules"))),
    h("tbody", {}, rows.map((row) => {
      const [name, about] = PROTOCOLS[row.protocol];
      return h("tr", {}, h("td", {}, name, h("div", { class: "small soft" }, about)),
        h("td", {}, h("span", { class: "share" }, meter(row.compression, row.duplicate_rate), `${pct(row.compression)} of ${pct(row.duplicate_rate)}`)),
        h("td", { class: "num" }, pct(row.pages_lost, 2)), h("td", { class: "num" }, pct(row.fpr, 2)), h("td", { class: "num" }, num(row.rules)));
    }))));
}
