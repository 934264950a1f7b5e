// What becomes of a URL, said while it is typed.
import { get, post } from "./api.js";
import { h, show } from "./dom.js";
import { pageLink, problem, siteLink, urlPair, urlText, whenTyped } from "./parts.js";

export async function attempt(box, _, asked) {
  show(box, h("h1", {}, "Try a URL"), h("p", { class: "soft" }, "What the rules make of a URL, whether anybody has fetched it or not. A second one says whether both are the same page."),
    h("section", { class: "card" }, explainer(asked.get("url") ?? "", true)));
}

export function explainer(url, pair = false) {
  const found = h("div", { "aria-live": "polite" });
  const make = (label, value) => h("input", { type: "text", inputmode: "url", value, placeholder: label, "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", maxlength: 8000, "data-focus": pair && label === "URL", oninput: () => ask() });
  const first = make("URL", url);
  const second = pair && make("Another URL, to compare", "");
  const ask = whenTyped(async (signal) => {
    const urls = [first.value.trim(), pair ? second.value.trim() : ""].filter(Boolean);
    if (!urls.length) { show(found); return; }
    try {
      const { result } = await post("explain", { urls }, { signal });
      const told = result.explanations;
      const known = told[0].problem ? null : await inRun(urls[0], signal);
      show(found, told.length === 2 && verdict(told), told.map((each, place) => [told.length === 2 && h("h3", {}, place ? "Second" : "First"), explanation(each)]), known);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      show(found, problem(error));
    }
  });
  if (url) ask();
  return h("div", {}, h("div", { class: "big" }, first), pair && h("div", { class: "big" }, second), found);
}

function verdict([a, b]) {
  if (a.problem || b.problem) return null;
  return h("p", {}, a.key === b.key ? h("span", { class: "badge yes" }, "the same page: equal keys") : h("span", { class: "badge no" }, "not known to be the same page: the keys differ"));
}

async function inRun(url, signal) {
  try {
    const { result: [found] } = await get("pages", { url }, signal);
    if (!found) return h("p", { class: "small soft" }, "No page of this run has this URL.");
    return h("p", { class: "small soft" }, "In this run: ", pageLink(found.url), found.cluster.size > 1 ? `, one of ${found.cluster.size} URLs of its page` : ", without a duplicate");
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return null; // a run of rules only
  }
}

export function explanation(told) {
  if (told.problem) return h("p", { class: "note" }, told.problem);
  const gone = Object.keys(told.ignored).map((key) => key.replace(/^\?/, "").replace(/#\d+$/, ""));
  const rows = [];
  const add = (label, ...value) => rows.push(h("dt", {}, label), h("dd", {}, ...value));
  if (told.given !== told.standard) add("given", urlText(told.given, gone));
  add("standard form", told.standard === told.url ? urlText(told.standard, gone) : urlPair(told.standard, told.url)[0]);
  if (told.id) add("rule", h("a", { class: "words", href: `#/rule/${told.id}` }, told.words));
  else add("rule", "none of ", siteLink(told.site), " fits: the standard form is all");
  if (told.unused) add("not used", `${told.unused.rule}: ${told.unused.why}`);
  for (const each of told.conditions) add("because", each);
  add("to fetch", h("b", {}, urlText(told.url)));
  if (told.key !== told.url) add("key", urlText(told.key));
  return h("dl", { class: "change" }, rows);
}
