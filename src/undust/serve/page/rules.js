// The list of rules, and one rule: what it says, what speaks for it, and what somebody decides on it.
import { get, part, post, toast } from "./api.js";
import { h, show } from "./dom.js";
import { badge, crumbs, drawing, growing, num, pct, problem, ruleRow, tiles, urlPair, whenTyped } from "./parts.js";

const STATES = [["", "All"], ["open", "Not looked at"], ["accepted", "Accepted"], ["withdrawn", "Withdrawn"]];
const ORDERS = [["order", "In order"], ["merged", "Most saved"], ["coverage", "Most URLs"], ["fpr", "Most doubtful"]];

export async function rules(box, _, asked) {
  const state = { q: asked.get("q") ?? "", state: asked.get("state") ?? "", sort: asked.get("sort") ?? "merged", site: asked.get("site") ?? "" };
  const list = h("div", {});
  const draw = drawing(list, async (signal) => {
    const first = await get("rules", state, signal);
    if (!first.total) { show(list, h("p", { class: "soft" }, state.q || state.state ? "No rule is like that." : "There are no rules: no duplicates that URLs explain.")); return; }
    show(list, ...growing(first, (rule) => ruleRow(rule), h("div", {}), ["rule"]));
  });
  const typed = whenTyped(draw);
  const choice = (label, name, options) => h("select", { "aria-label": label, onchange: (event) => { state[name] = event.target.value; draw(); } }, options.map(([value, text]) => h("option", { value, selected: state[name] === value }, text)));
  show(box, h("h1", {}, "Rules"), h("p", { class: "soft" }, "For each URL at most one rule decides: the first of its site that fits."),
    h("section", { class: "card" },
      h("div", { class: "filters" },
        h("input", { type: "search", "aria-label": "Only rules with", placeholder: "Only rules with …", value: state.q, oninput: (event) => { state.q = event.target.value; typed(); } }),
        choice("Decided", "state", STATES), choice("Order", "sort", ORDERS)),
      list));
  await draw();
}

export async function rule(box, id) {
  const { result } = await get(`rules/${part(id)}`);
  show(box, crumbs(["Sites", "#/sites"], [result.site, `#/site/${encodeURIComponent(result.site)}`], [`Rule ${result.id}`]));
  draw(box, result);
}

function draw(box, rule) {
  const head = box.firstElementChild;
  const [left, right] = rule.line.slice(rule.site.length).split("→").map((each) => each.trim());
  const reason = h("input", { type: "text", "aria-label": "Why it is withdrawn", placeholder: "Why? (for those who read the rule file)", maxlength: 500, class: "wide" });
  show(box, head,
    h("h1", { class: "words" }, rule.words),
    h("p", { class: "row" }, rule.state === "open" ? h("span", { class: "badge" }, "not looked at yet") : badge(rule.state), rule.reason && h("span", { class: "soft" }, rule.reason)),
    h("dl", { class: "change" }, h("dt", {}, "a URL like"), h("dd", { class: "mono" }, left), h("dt", {}, "becomes"), h("dd", { class: "mono" }, right ?? "")),
    h("section", { class: "card", "aria-label": "Decide" },
      h("div", { class: "row" },
        rule.state !== "accepted" && rule.state !== "withdrawn" && h("button", { class: "primary", type: "button", onclick: () => decide(box, rule, "accepted") }, "Accept"),
        rule.state === "accepted" && h("button", { type: "button", onclick: () => decide(box, rule, "open") }, "Take the acceptance back"),
        rule.state === "withdrawn"
          ? h("button", { class: "primary", type: "button", onclick: () => decide(box, rule, "open") }, "Put it back in force")
          : [h("button", { class: "danger", type: "button", onclick: () => decide(box, rule, "withdrawn", reason.value) }, "Withdraw"), reason]),
      h("p", { class: "small soft" }, rule.state === "withdrawn" ? "It decides no URL, and does not come back when rules are learned again." : "A rule that is withdrawn decides no URL any more, at once, and does not come back when rules are learned again.")),
    tiles([num(rule.coverage), "URLs", `of ${num(rule.trained_on)} of the site`], [num(rule.saves), "fetches saved", "together with the rules beside it"], [num(rule.clusters), "pages show it"], [pct(rule.fpr, 2), "false pairs", `${num(rule.false_positives)} of ${num(rule.support + rule.false_positives)}`]),
    h("div", { class: "grid" },
      h("section", { class: "card" }, h("h2", {}, "Where it holds"), h("ul", { class: "plain" }, (rule.conditions.length ? rule.conditions : [`for all URLs of ${rule.site} that no rule before it decides`]).map((each) => h("li", {}, each)))),
      h("section", { class: "card" }, h("h2", {}, "What it does"), h("ul", { class: "plain" }, rule.operations.map((each) => h("li", {}, each))))),
    rule.examples.length > 0 && h("section", { class: "card" }, h("h2", {}, "Pairs that it makes one"), rule.examples.map(example)),
    h("section", { class: "card" }, h("h2", {}, "Evidence"), h("ul", { class: "plain" }, rule.evidence.map((each) => h("li", {}, each))),
      h("details", {}, h("summary", {}, "As it stands in the rule file"), h("pre", { tabindex: 0 }, JSON.stringify(rule.json, null, 1)))));
}

function example([a, b]) {
  const [one, other] = urlPair(a, b);
  return h("div", { class: "pair" }, h("div", {}, one), h("div", {}, other), h("a", { class: "small", href: `#/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` }, "Compare the pages"));
}

async function decide(box, rule, state, reason = "") {
  try {
    const { result } = await post(`rules/${part(rule.id)}/state`, { state, reason }, { write: true });
    const told = { accepted: "The rule is accepted", withdrawn: "The rule is withdrawn", open: "Taken back" }[state];
    await again(box, rule.id);
    toast(told, result.before === state ? "" : "Undo", async () => {
      try {
        await post(`rules/${part(rule.id)}/state`, { state: result.before, reason: rule.reason }, { write: true });
        if (location.hash === `#/rule/${rule.id}`) await again(box, rule.id);
        toast("Undone");
      } catch (error) { toast(problem(error).textContent); }
    });
  } catch (error) { toast(problem(error).textContent); }
}

async function again(box, id) {
  const { result } = await get(`rules/${part(id)}`);
  draw(box, result);
  box.querySelector("section button")?.focus(); // the button that was pressed is gone
}
