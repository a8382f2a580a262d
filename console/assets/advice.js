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

  // What MEASURE ADVICE has found: for each statement two bars, without the index and with it.
  function measured(row) {
    const trial = row.measured ? JSON.parse(row.measured) : null;
    if (!trial) return null;
    const line = (label, value, most, text, color) => h("p.pair", {}, h("small", {}, label), bar(value / most, color), h("small", {}, text));
    const pair = (of) => {
      const most = Math.max(...of.cpu_us, 0.001);
      const told = (n) => `${seconds(of.cpu_us[n] / 1e6)} of CPU, ${Math.round(of.rows[n])} rows read, median ${seconds(of.p50_us[n] / 1e6)}, 99 % within ${seconds(of.p99_us[n] / 1e6)}`;
      return [h("p", {}, h("code", {}, of.statement), of.is_cut ? h("small", {}, " (runs without the index were ended early)") : null),
        line("without", of.cpu_us[0], most, told(0), 2), line("with", of.cpu_us[1], most, told(1), 1)];
    };
    return h("div.measured", {}, trial.statements.flatMap(pair));
  }

  // What can be done with an index, as statements to run: measuring takes a while, and needs the privileges of an account.
  function next(row) {
    if (row.is_sql !== "YES" || !/ ADD INDEX /.test(row.cure)) return null;
    const words = row.state === "applied" || row.state === "kept" ? ["REVERT"] : row.measured ? ["APPLY", "REVERT"] : ["MEASURE", "APPLY"];
    return h("p.hint", {}, "Next: ", words.map((word, n) => [n ? " or " : "", h("code", {}, `${word} ADVICE '${row.id}'`)]).flat());
  }

  function finding(row, most) {
    const about = row.digest ? h("a", { href: `#/statement?schema=${encodeURIComponent(row.schema ?? "")}&digest=${encodeURIComponent(row.digest)}` }, h("code", {}, row.statement)) : null;
    return h("section.card", { "data-kind": row.kind },
      h("div.row", {}, h("h2", {}, row.kind.replaceAll("_", " ")), row.name ? h("span.tag", {}, `${row.schema}.${row.name}`) : null,
        row.state ? h("span.tag", {}, row.state) : null,
        row.dismissed === "YES" ? h("span.tag.warn", {}, "dismissed") : null, h("span.grow"),
        h("button.small", { onclick: () => dismiss(row) }, row.dismissed === "YES" ? "Show again" : "Dismiss")),
      about, row.application ? h("p.hint", {}, `From: ${row.application.replaceAll("\n", "; ")}`) : null, h("p", {}, row.evidence), measured(row),
      row.gain_ms ? h("p", {}, bar(row.gain_ms / most), h("small", {}, `${seconds(row.gain_ms / 1e3)} since the start: `, row.gain)) : h("p", {}, h("small", {}, row.gain)),
      row.is_sql === "YES" ? h("pre.code", {}, row.cure) : h("p", {}, h("b", {}, row.cure)),
      h("p.hint", {}, `Price: ${row.price}`), next(row),
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
