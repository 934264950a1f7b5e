// Clusters: the list, one of them, and one page.
import { get, part, post } from "./api.js";
import { h, show } from "./dom.js";
import { count, crumbs, drawing, growing, loading, num, pageLink, pct, problem, siteLink, tiles, urlText, whenTyped } from "./parts.js";
import { explanation } from "./try.js";

const clusterLink = (name) => `#/cluster/${encodeURIComponent(name)}`;

export async function clusters(box, _, asked) {
  const state = { q: asked.get("q") ?? "", site: asked.get("site") ?? "", least: asked.get("least") ?? "2" };
  const list = h("div", {});
  const draw = drawing(list, async (signal) => {
    const first = await get("clusters", state, signal);
    if (!first.result.length) { show(list, h("p", { class: "soft" }, "No cluster is like that.")); return; }
    const body = h("tbody", {});
    const [, foot] = growing(first, (each) => h("tr", {}, h("td", {}, h("a", { href: clusterLink(each.name) }, urlText(each.url))), h("td", { class: "num" }, num(each.size)), h("td", { class: "optional" }, siteLink(each.site))), body, ["cluster"]);
    show(list, h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Shortest URL"), h("th", { class: "num" }, "URLs"), h("th", { class: "optional" }, "Site"))), body)), foot);
  });
  const typed = whenTyped(draw);
  show(box, h("h1", {}, "Clusters"), h("p", { class: "soft" }, "URLs that lead to the same page, the largest groups first."),
    h("section", { class: "card" },
      h("div", { class: "filters" },
        h("input", { type: "search", "aria-label": "Only with this in the URL", placeholder: "Only with this in the URL …", value: state.q, oninput: (event) => { state.q = event.target.value; typed(); } }),
        h("input", { type: "text", "aria-label": "Only of the site", placeholder: "Site", value: state.site, onchange: (event) => { state.site = event.target.value.trim(); draw(); } }),
        h("label", { class: "row small soft" }, "At least", h("select", { onchange: (event) => { state.least = event.target.value; draw(); } }, ["1", "2", "5", "10", "50", "100", "1000"].map((each) => h("option", { selected: each === state.least }, each))), "URLs")),
      list));
  await draw();
}

export async function cluster(box, name) {
  const first = await get(`clusters/${part(name)}`, { limit: 50 });
  const { cluster: about } = first.result;
  const chosen = new Set(first.result.members.slice(0, 2).map((each) => each.url));
  const go = h("a", { class: "button primary" }, "Compare side by side");
  const boxes = new Map();
  const update = () => {
    const [a, b] = [...chosen];
    if (b) { go.href = `#/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`; go.removeAttribute("aria-disabled"); } else { go.removeAttribute("href"); go.setAttribute("aria-disabled", "true"); }
    for (const [url, each] of boxes) each.checked = chosen.has(url);
  };
  const keys = new Map();
  const told = h("p", { class: "soft" }, "\u00a0");
  const groups = [];
  const member = (each) => {
    const check = h("input", { type: "checkbox", "aria-label": `Compare ${each.url}`, onchange: () => { if (check.checked) { if (chosen.size > 1) chosen.delete([...chosen][0]); chosen.add(each.url); } else chosen.delete(each.url); update(); } });
    const dot = h("span", { class: "group", "aria-hidden": "true" });
    boxes.set(each.url, check);
    groups.push([each.url, dot]);
    return h("tr", {}, h("td", {}, check), h("td", {}, dot, pageLink(each.url)), h("td", { class: "num soft optional" }, each.similarity === null ? "" : pct(each.similarity, 0)));
  };
  const body = h("tbody", {});
  const [, foot] = growing(first, member, body, ["URL"]);
  new MutationObserver(() => mark()).observe(body, { childList: true });
  const mark = async () => {
    const open = groups.filter(([url]) => !keys.has(url)).map(([url]) => url);
    if (!open.length) return;
    const { result } = await post("key", { urls: open });
    open.forEach((url, place) => keys.set(url, result.keys[place]));
    const order = [...new Set(groups.map(([url]) => keys.get(url)))];
    for (const [url, dot] of groups) { const other = order.indexOf(keys.get(url)) > 0; dot.classList.toggle("other", other); dot.title = other ? "another key: fetched for itself" : "the same key"; }
    told.textContent = order.length === 1 ? `By the rules all ${num(groups.length)} shown are one fetch.` : `By the rules the ${num(groups.length)} shown are ${num(order.length)} fetches.`;
    update();
  };
  show(box, crumbs(["Clusters", "#/clusters"], [about.site, `#/site/${encodeURIComponent(about.site)}`], [`${num(about.size)} URLs`]),
    h("h1", {}, `${count(about.size, "URL")}, one page`), told,
    h("section", { class: "card" }, h("div", { class: "row spread" }, h("span", { class: "soft" }, "Choose two URLs"), go),
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden" }, "Compare")), h("th", {}, "URL"), h("th", { class: "num optional" }, "Like the centre"))), body)), foot));
  await mark().catch(() => update());
  update();
}

const FACTS = { title: "Title", language: "Language", canonical: "Canonical URL", status: "Status", content_type: "Type", length: "Bytes", words: "Words", sentences: "Sentences", keywords: "Keywords", time: "Captured", source: "Read from", digest: "Digest" };

export async function page(box, url) {
  const { result } = await get(`pages/${part(url)}`);
  const related = h("div", {}, loading());
  const details = result.details ?? {};
  const facts = Object.entries(FACTS).filter(([name]) => details[name] !== null && details[name] !== undefined && details[name] !== "");
  const size = result.cluster.size;
  show(box, crumbs(["Sites", "#/sites"], [result.site, `#/site/${encodeURIComponent(result.site)}`], ["Page"]),
    h("h1", {}, details.title || "Page"), h("p", {}, urlText(result.url), " ", outside(result.url)),
    tiles([num(size), size === 1 ? "URL: no duplicate" : "URLs of this page"], details.words !== undefined && details.words !== null && [num(details.words), "words"], details.status && [String(details.status), "status"]),
    size > 1 && h("p", {}, h("a", { class: "button", href: clusterLink(result.cluster.name) }, `All ${num(size)} URLs of the page`), " ", h("a", { class: "button", href: `#/compare?a=${encodeURIComponent(result.cluster.url)}&b=${encodeURIComponent(result.url)}` }, "Compare with the shortest")),
    h("section", { class: "card" }, h("h2", {}, "What the rules make of it"), explanation(result.explanation)),
    h("div", { class: "grid" },
      h("section", { class: "card" }, h("h2", {}, "What is known"), facts.length ? h("dl", { class: "facts" }, facts.map(([name, label]) => [h("dt", {}, label), h("dd", {}, Array.isArray(details[name]) ? details[name].join(", ") : typeof details[name] === "number" ? num(details[name]) : String(details[name]))])) : h("p", { class: "soft" }, "This run keeps no fingerprints of pages.")),
      h("section", { class: "card" }, h("h2", {}, "About the same things"), related)));
  fillRelated(related, result.url);
}

async function fillRelated(box, url) {
  try {
    const { result } = await get("related", { url, n: 8, below: 0.8 });
    show(box, result.related.length ? h("ul", { class: "list" }, result.related.map((each) => h("li", { class: "row spread" }, pageLink(each.url), h("span", { class: "soft small" }, pct(each.similarity, 0))))) : h("p", { class: "soft" }, "No page is like it, but for its duplicates."));
  } catch (error) {
    if (error.code === "not_ready" && box.isConnected) { show(box, loading("The index is being made …")); setTimeout(() => box.isConnected && fillRelated(box, url), 3000); return; }
    show(box, error.status ? h("p", { class: "soft" }, error.message) : problem(error));
  }
}

// A link to the page itself, on the web; only of the kinds that are safe to follow.
export function outside(url) {
  return /^https?:\/\//i.test(url) ? h("a", { class: "small", href: url, target: "_blank", rel: "noopener noreferrer" }, "Open on the web ↗") : null;
}
