// The frame: which view is shown, the search box, light and dark.
import { h, show } from "./dom.js";
import { loading, problem } from "./parts.js";
import { Refused, get } from "./api.js";
import { overview } from "./overview.js";
import { sites, site } from "./sites.js";
import { rules, rule } from "./rules.js";
import { clusters, cluster, page } from "./clusters.js";
import { compare } from "./compare.js";
import { attempt } from "./try.js";
import { search } from "./search.js";

const views = { "": overview, sites, site, rules, rule, clusters, cluster, page, compare, try: attempt, search };
const part_of = { site: "sites", rule: "rules", cluster: "clusters", page: "clusters", compare: "clusters" };
const main = document.getElementById("main");
let latest = 0;
let first = true;

async function go() {
  const [path, asked = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const slash = path.indexOf("/");
  const name = slash < 0 ? path : path.slice(0, slash);
  let argument = "";
  try { argument = slash < 0 ? "" : decodeURIComponent(path.slice(slash + 1)); } catch { argument = path.slice(slash + 1); }
  const mine = ++latest;
  mark(part_of[name] ?? name);
  const box = h("div", {});
  const late = setTimeout(() => mine === latest && show(main, loading()), 180);
  try {
    const view = views[name] ?? (() => { throw new Refused({ status: 404, code: "no_view", message: "There is no such page here." }); });
    await view(box, argument, new URLSearchParams(asked));
  } catch (error) {
    show(box, h("h1", {}, "Not found"), problem(error));
  }
  clearTimeout(late);
  if (mine !== latest) return;
  show(main, box);
  const title = box.querySelector("h1");
  document.title = title ? `${title.textContent} · undust` : "undust";
  if (!first) { scrollTo(0, 0); if (!box.querySelector("[data-focus]")) main.focus({ preventScroll: true }); }
  box.querySelector("[data-focus]")?.focus();
  first = false;
  document.body.dataset.ready = location.hash || "#/";
}

function mark(name) {
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.getAttribute("href").replace("#/", "") === name;
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
}

document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = document.getElementById("q").value.trim();
  if (text) location.hash = `#/search?q=${encodeURIComponent(text)}`;
});
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    document.getElementById("q").focus();
  }
});

const root = document.documentElement;
root.dataset.theme = localStorage.getItem("theme") ?? "";
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

get("health").then(({ result }) => {
  document.getElementById("where").textContent = result.problem ?? "";
}).catch(() => {});
addEventListener("hashchange", go);
go();
