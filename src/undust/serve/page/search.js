// Sites, rules and pages with a text in them.
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { pageLink, ruleRow, siteLink } from "./parts.js";

export async function search(box, _, asked) {
  const q = asked.get("q") ?? "";
  document.getElementById("q").value = q;
  const { result } = await get("search", { q, limit: 20 });
  const none = !result.sites.length && !result.rules.length && !result.urls.length;
  show(box, h("h1", {}, `Found for “${q}”`),
    none && h("p", { class: "soft" }, "Nothing has this in it."),
    result.sites.length > 0 && h("section", { class: "card" }, h("h2", {}, "Sites"), h("ul", { class: "list" }, result.sites.map((each) => h("li", {}, siteLink(each))))),
    result.rules.length > 0 && h("section", { class: "card" }, h("h2", {}, "Rules"), result.rules.map((each) => ruleRow(each))),
    result.urls.length > 0 && h("section", { class: "card" }, h("h2", {}, "Pages"), h("ul", { class: "list" }, result.urls.map((each) => h("li", {}, pageLink(each)))), !result.complete && h("p", { class: "small soft" }, "There may be more; give more letters.")));
}
