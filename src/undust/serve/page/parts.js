// The parts that views are made of: numbers, shares, URLs, badges, lists that grow.
import { Refused, next } from "./api.js";
import { h, show } from "./dom.js";

const whole = new Intl.NumberFormat("en");
export const num = (value) => (value === null || value === undefined ? "–" : whole.format(value));

export function pct(value, digits = 1) {
  if (value === null || value === undefined) return "–";
  if (value > 0 && value < 0.0005 && digits < 2) return "<0.1%";
  return `${(100 * value).toFixed(value === 0 || value === 1 ? 0 : digits)}%`;
}

export const count = (value, one, many = one + "s") => `${num(value)} ${value === 1 ? one : many}`;

export function meter(value, of) {
  const bar = h("span", { class: "meter", "aria-hidden": "true" });
  if (of !== undefined && of !== null) bar.append(h("i", { class: "of", vars: { width: `${100 * of}%` } }));
  bar.append(h("i", { vars: { width: `${100 * (value ?? 0)}%` } }));
  return bar;
}

export const share = (value, of) => h("span", { class: "share" }, value === null || value === undefined ? "" : meter(value, of), h("span", {}, pct(value)));

// A URL with its parts told apart by weight; what is in `gone` (a list of values or names) is marked.
export function urlText(url, gone = []) {
  const found = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(.*)$/i.exec(url);
  if (!found) return h("span", { class: "url" }, url);
  const [, scheme, host, path, search = "", rest] = found;
  const box = h("span", { class: "url" }, h("span", { class: "s" }, scheme), h("span", { class: "h" }, host), path);
  if (search) {
    search.slice(1).split(/([&;])/).forEach((piece, place) => {
      if (place === 0) box.append(h("span", { class: "s" }, "?"));
      if (piece === "&" || piece === ";") { box.append(h("span", { class: "s" }, piece)); return; }
      const at = piece.indexOf("=");
      const name = at < 0 ? piece : piece.slice(0, at);
      const argument = at < 0 ? [piece] : [h("span", { class: "n" }, name + "="), piece.slice(at + 1)];
      box.append(gone.includes(name) ? h("span", { class: "gone" }, argument) : h("span", {}, argument));
    });
  }
  box.append(rest);
  return box;
}

// Two URLs of which the parts that differ are marked.
export function urlPair(a, b) {
  const pieces = [a, b].map((url) => url.split(/([/?&;=.:]+)/));
  const known = pieces.map((each) => new Set(each));
  return pieces.map((each, side) => h("span", { class: "url" }, each.map((piece) => (known[1 - side].has(piece) ? piece : h("span", { class: "gone" }, piece)))));
}

export const pageLink = (url) => h("a", { href: `#/page/${encodeURIComponent(url)}` }, urlText(url));
export const siteLink = (site) => h("a", { href: `#/site/${encodeURIComponent(site)}` }, site);
export const ruleLink = (rule) => `#/rule/${rule.id}`;

export function badge(state) {
  return state === "open" ? null : h("span", { class: `badge ${state}` }, state);
}

export function ruleRow(rule, withSite = true) {
  return h("div", { class: `rule ${rule.state}` },
    h("div", {},
      h("a", { class: "words", href: ruleLink(rule) }, rule.words),
      h("div", { class: "line mono" }, rule.line.slice(rule.site.length).trim())),
    h("div", { class: "side" },
      h("div", {}, rule.saves ? `saves ${num(rule.saves)}` : `${num(rule.coverage)} URLs`, " ", badge(rule.state)),
      h("div", { class: "small soft" }, withSite ? siteLink(rule.site) : `${pct(rule.fpr, 2)} false pairs`)));
}

export function tiles(...entries) {
  return h("div", { class: "tiles" }, entries.filter(Boolean).map(([value, label, note]) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, label), note && h("small", {}, note))));
}

export const crumbs = (...links) => h("div", { class: "crumbs" }, links.flatMap(([text, href], place) => [place ? " / " : "", href ? h("a", { href }, text) : text]));
export const loading = (text = "One moment …") => h("p", { class: "loading" }, text);

export function problem(error) {
  if (!(error instanceof Refused)) console.error(error);
  return h("p", { class: "note bad", role: "alert" }, error.message);
}

// Draws a list anew, and says in its place what goes wrong.
export const drawing = (box, work) => async (signal) => {
  try { await work(signal); } catch (error) { if (error.name !== "AbortError") show(box, problem(error)); }
};

// A list that gets its next rows when somebody asks for them.
export function growing(first, draw, box, what) {
  const foot = h("div", { class: "more" });
  let shown = 0;
  const add = (answer, rows) => {
    shown += rows.length;
    box.append(...rows.map(draw));
    const told = h("span", { class: "soft small" }, answer.total === null ? `${num(shown)} shown` : `${num(shown)} of ${count(answer.total, ...what)}`);
    const button = answer.next && h("button", {
      type: "button",
      onclick: async () => {
        button.disabled = true;
        try {
          const more = await next(answer.next);
          add(more, Array.isArray(more.result) ? more.result : more.result.members);
        } catch (error) { foot.append(problem(error)); }
      },
    }, "Show more");
    show(foot, button, told);
  };
  add(first, Array.isArray(first.result) ? first.result : first.result.members);
  return [box, foot];
}

// Calls a function when nothing has been typed for a moment; the call before is given up.
export function whenTyped(work, milliseconds = 140) {
  let timer, control;
  return (...values) => {
    clearTimeout(timer);
    control?.abort();
    control = new AbortController();
    const { signal } = control;
    timer = setTimeout(() => work(signal, ...values).catch((error) => { if (error.name !== "AbortError") throw error; }), milliseconds);
  };
}
