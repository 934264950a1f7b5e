// Two pages side by side.
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { badge, crumbs, num, pageLink, pct, problem, urlPair } from "./parts.js";

export async function compare(box, _, asked) {
  const [a, b] = [asked.get("a") ?? "", asked.get("b") ?? ""];
  const found = h("div", {});
  const inputs = [["a", a], ["b", b]].map(([name, value]) => h("input", { name, type: "text", required: true, value, "aria-label": `URL ${name.toUpperCase()}`, placeholder: `URL ${name.toUpperCase()} of this run`, spellcheck: "false", class: "mono" }));
  show(box, crumbs(["Clusters", "#/clusters"], ["Compare"]), h("h1", {}, "Two pages"),
    h("form", { class: "filters", onsubmit: (event) => { event.preventDefault(); location.hash = `#/compare?a=${encodeURIComponent(inputs[0].value)}&b=${encodeURIComponent(inputs[1].value)}`; } }, inputs, h("button", {}, "Compare")), found);
  if (!a || !b) return;
  try {
    const { result } = await get("compare", { a, b });
    draw(found, result);
  } catch (error) { show(found, problem(error)); }
}

const says = (yes, text, no) => h("span", { class: `badge ${yes ? "yes" : "no"}` }, yes ? text : no);

function draw(box, result) {
  const [one, other] = urlPair(result.a, result.b);
  const marks = result.signatures;
  show(box,
    h("section", { class: "card" },
      h("div", { class: "pair" }, h("b", {}, "A "), one), h("div", { class: "pair" }, h("b", {}, "B "), other),
      h("div", { class: "verdicts" }, says(result.same_cluster, "in one cluster", "in different clusters"), says(result.same_key, "one fetch, by the rules", "two fetches, by the rules"), marks && Object.entries(marks.duplicates).map(([name, yes]) => says(yes, `duplicates by ${name}`, `none by ${name}`)))),
    result.text ? texts(result) : h("p", { class: "note" }, result.missing),
    h("div", { class: "grid" },
      marks && h("section", { class: "card" }, h("h2", {}, "Signatures"), signatures(marks)),
      marks?.keywords && h("section", { class: "card" }, h("h2", {}, "Top keywords"), h("dl", { class: "facts" }, h("dt", {}, "In both"), h("dd", {}, marks.keywords.shared.join(", ") || "none"), h("dt", {}, "Only in A"), h("dd", {}, marks.keywords.only_first.join(", ") || "none"), h("dt", {}, "Only in B"), h("dd", {}, marks.keywords.only_second.join(", ") || "none")))),
    h("p", { class: "small" }, "A: ", pageLink(result.a)), h("p", { class: "small" }, "B: ", pageLink(result.b)));
}

function signatures(marks) {
  const rows = [];
  const add = (label, value) => rows.push(h("dt", {}, label), h("dd", {}, value));
  for (const name of ["body", "text", "title", "language", "canonical"]) if (`same_${name}` in marks) add(name[0].toUpperCase() + name.slice(1), marks[`same_${name}`] ? "the same" : "differs");
  if (marks.words) add("Words", marks.words.map(num).join(" and "));
  if ("simhash_distance" in marks) add("Simhash", `${num(marks.simhash_distance)} of ${marks.simhash_bits} bits differ`);
  if ("shingle_similarity" in marks) add("Shingles", `${pct(marks.shingle_similarity)} alike`);
  if ("minhash_agreement" in marks) add("Min-hash", `${pct(marks.minhash_agreement)} agree`);
  if ("bag_similarity" in marks) add("Words as a bag", `${pct(marks.bag_similarity)} alike`);
  return h("dl", { class: "facts" }, rows);
}

function texts(result) {
  const { text, details } = result;
  const same = text.rows.every((row) => row.kind === "same" || row.kind === "gap");
  const grid = h("div", { class: "diff", role: "group", "aria-label": "The texts of both pages, line by line" },
    ["A", "B"].map((name, side) => h("div", { class: "head" }, `${name} · ${details[side]?.title ?? ""} · ${num(text.lines[side])} lines`)));
  for (const row of text.rows) {
    if (row.kind === "gap") { grid.append(h("div", { class: "gap" }, `${num(row.count)} equal lines`)); continue; }
    grid.append(cell(row.a, row.kind, "a"), cell(row.b, row.kind, "b"));
  }
  return h("section", { class: "card" }, h("div", { class: "row spread" }, h("h2", {}, same ? "The texts are the same" : `${pct(text.similarity)} of the lines are the same`), text.cut && h("span", { class: "small soft" }, "the first part of long pages")), grid);
}

function cell(pieces, kind, side) {
  if (!pieces.length) return h("div", { class: "none" });
  const look = kind === "same" ? `same ${side}` : side === "a" ? "cut" : "add";
  const whole = kind === "differ" && pieces.every(([, only]) => only);
  const said = kind === "same" ? null : h("span", { class: "hidden" }, `${side.toUpperCase()}: `);
  return h("div", { class: look, "aria-hidden": kind === "same" && side === "b" ? "true" : null }, said, pieces.map(([text, only]) => (only && kind === "differ" && !whole ? h("mark", {}, text) : text)));
}
