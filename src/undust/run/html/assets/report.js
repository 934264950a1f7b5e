"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const THEMES = ["system", "light", "dark"];
  const remembered = () => { try { return localStorage.getItem("undust-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("undust-theme", theme); } catch { /* a page of a file may not */ } };
  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
  };
  let theme = THEMES.includes(remembered()) ? remembered() : "system";
  show(theme);

  const make = (name, attributes = {}, said = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = said;
    return made;
  };

  // Theme: as the system, light, dark.
  const themes = () => {
    const button = document.getElementById("theme");
    const say = () => { button.textContent = "Theme: " + (theme === "system" ? "as the system" : theme); };
    say();
    button.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      show(theme); remember(theme); say();
    });
  };

  // Tables: sorted by their headings, searched, and only the first rows shown until more are asked for.
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    return a.localeCompare(b, undefined, { numeric: true });
  };
  const valueOf = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.v ?? cell.textContent;
  };
  const tables = () => document.querySelectorAll("table.sortable").forEach((table) => {
    const body = table.tBodies[0], rows = [...body.rows], first = Number(table.dataset.first || 0);
    let query = "", all = !first || rows.length <= first;
    const told = make("span", { role: "status" }), more = make("button", { type: "button", class: "more" });
    const texts = table.dataset.search ? rows.map((row) => row.textContent.toLowerCase()) : [];
    const place = new Map(rows.map((row, at) => [row, at]));
    const draw = () => {
      let found = 0;
      for (const row of body.rows) {
        const fits = !query || query.split(/\s+/).every((word) => texts[place.get(row)].includes(word));
        if (fits) found += 1;
        row.hidden = !fits || (!all && found > first);
      }
      told.textContent = query ? `${found.toLocaleString("en")} of ${rows.length.toLocaleString("en")} found` : "";
      more.hidden = all || found <= first;
      more.textContent = `Show all ${found.toLocaleString("en")}`;
    };
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const name = head.textContent;
      if (!name || rows.length < 2) return;
      const button = make("button", { type: "button" }, name);
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : head.classList.contains("n");
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(valueOf(a, at), valueOf(b, at)));
        body.append(...sorted);
        draw();
      });
    });
    if (table.dataset.search && rows.length > 5) {
      const tools = make("div", { class: "tools" });
      const field = make("input", { type: "search", placeholder: table.dataset.search, "aria-label": table.dataset.search });
      field.addEventListener("input", () => { query = field.value.trim().toLowerCase(); draw(); });
      tools.append(field, told);
      table.parentElement.before(tools);
    }
    if (!all) {
      more.addEventListener("click", () => { all = true; draw(); });
      table.parentElement.after(more);
    }
    draw();
  });

  // Trees: all open, all closed; a link into what is closed opens it.
  const trees = () => document.querySelectorAll("button[data-open]").forEach((button) => {
    button.addEventListener("click", () => {
      const open = button.dataset.open === "all";
      button.closest(".pattern-tree").querySelectorAll(".tree details").forEach((each) => { each.open = open; });
    });
  });
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let above = target; above; above = above.parentElement) if (above.tagName === "DETAILS") above.open = true;
    target.scrollIntoView({ block: "start" });
  };

  // Charts: what the pointer is on, said below; the chart as Vega-Lite.
  const charts = () => document.querySelectorAll("figure[data-vega]").forEach((figure) => {
    const tip = figure.querySelector("output");
    const drawing = figure.querySelector("svg");
    drawing.addEventListener("pointerover", (event) => {
      const title = event.target.querySelector?.(":scope > title");
      if (title) tip.textContent = title.textContent;
    });
    drawing.addEventListener("pointerleave", () => { tip.textContent = ""; });
    const name = figure.dataset.vega.split("-")[0];
    const data = document.querySelector(`script.vega[data-name="${name}"]`);
    if (!data || figure.dataset.vega !== name) return;
    const take = make("button", { type: "button", class: "take" }, "Take it as Vega-Lite");
    take.addEventListener("click", () => {
      const link = make("a", { download: `undust-${name}.vl.json` });
      link.href = URL.createObjectURL(new Blob([data.textContent], { type: "application/json" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    figure.querySelector("details").append(take);
  });

  // Contents: where one is. Printing: rules are printed though their cards are closed.
  const contents = () => {
    const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) {
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    }, { rootMargin: "0px 0px -80% 0px" });
    document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
    if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false;
  };
  const printing = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details.print:not([open])")];
      for (const each of opened) each.open = true;
    });
    addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
  };

  addEventListener("DOMContentLoaded", () => {
    themes(); tables(); trees(); charts(); contents(); printing(); reveal();
  });
  addEventListener("hashchange", reveal);
})();
