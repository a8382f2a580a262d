// What the query doctor finds: evidence, gain, price and cure of each finding.

import { get, post } from "./api.js";
import { bar } from "./chart.js";
import { h, replace } from "./dom.js";
import { seconds } from "./format.js";

export function advice() {
  const body = h("div", {}, h("p.hint", {}, "…"));
  const note = h("p.note", { hidden: true, role: "alert" });
  const hidden = h("input", { type: "checkbox" });
  let rows = [];
  let ended = false;

  async function load() {
    try {
      rows = (await get("advice")).rows;
      note.hidden = true;
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
    }
    if (!ended) draw();
  }

  async function dismiss(row) {
    try {
      await post("dismiss", { id: row.id, back: row.dismissed === "YES" });
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
      return;
    }
    await load();
  }

  function finding(row, most) {
    const about = row.digest ? h("a", { href: `#/statement?schema=${encodeURIComponent(row.schema ?? "")}&digest=${encodeURIComponent(row.digest)}` }, h("code", {}, row.statement)) : null;
    return h("section.card", { "data-kind": row.kind },
      h("div.row", {}, h("h2", {}, row.kind.replaceAll("_", " ")), row.name ? h("span.tag", {}, `${row.schema}.${row.name}`) : null,
        row.dismissed === "YES" ? h("span.tag.warn", {}, "dismissed") : null, h("span.grow"),
        h("button.small", { onclick: () => dismiss(row) }, row.dismissed === "YES" ? "Show again" : "Dismiss")),
      about, h("p", {}, row.evidence),
      row.gain_ms ? h("p", {}, bar(row.gain_ms / most), h("small", {}, `${seconds(row.gain_ms / 1e3)} since the start: `, row.gain)) : h("p", {}, h("small", {}, row.gain)),
      row.is_sql === "YES" ? h("pre.code", {}, row.cure) : h("p", {}, h("b", {}, row.cure)),
      h("p.hint", {}, `Price: ${row.price}`),
      row.example ? h("details", {}, h("summary", {}, "An execution"), h("pre.code", {}, row.example)) : null);
  }

  function draw() {
    const shown = rows.filter((row) => hidden.checked || row.dismissed !== "YES");
    const most = Math.max(1, ...rows.map((row) => row.gain_ms));
    replace(body, shown.length ? shown.map((row) => finding(row, most)) : h("p.hint", {}, "Nothing is found: no statement, table or session costs more than it has to, as far as the server has seen since its start."));
  }

  hidden.onchange = draw;
  load();
  const page = h("div.page", {}, h("div.row", {}, h("h1", {}, "Advice"), h("span.grow"), h("label", {}, hidden, " with dismissed ones"), h("button.small", { onclick: load }, "Again")), note, body);
  return { page, end() { ended = true; } };
}
