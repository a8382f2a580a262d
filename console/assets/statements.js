// Statements by digest, and one of them with its plan.

import { get, post } from "./api.js";
import { bar, chart } from "./chart.js";
import { ask, h, replace } from "./dom.js";
import { ago, count, digits, exact, percent, picoseconds, seconds } from "./format.js";
import { list } from "./list.js";

export function statements() {
  const made = list({
    page: "statements", title: "Statements", order: "time",
    none: "No statement has been counted yet.",
    open: (row) => { location.hash = `#/statement?digest=${row.digest ?? ""}&schema=${encodeURIComponent(row.schema ?? "")}`; },
    columns: [
      { title: "Time", order: "time", cell: (row) => [bar(row.time_ps / (row.all_time_ps || 1)), h("small", {}, percent(row.time_ps / (row.all_time_ps || 1)))] },
      { title: "Statement", wide: true, cell: (row) => [h("code", { title: row.text }, row.text ?? "(all others)"), h("small", {}, row.schema ?? "")] },
      { title: "Runs", order: "count", right: true, cell: (row) => count(row.count) },
      { title: "Average", order: "average", right: true, cell: (row) => picoseconds(row.average_ps) },
      { title: "95 %", order: "p95", right: true, cell: (row) => picoseconds(row.p95_ps) },
      { title: "Longest", order: "longest", right: true, cell: (row) => picoseconds(row.longest_ps) },
      { title: "CPU", order: "cpu", right: true, cell: (row) => picoseconds(row.cpu_ps) },
      { title: "Locks", order: "lock", right: true, cell: (row) => picoseconds(row.lock_ps) },
      { title: "Rows read", order: "examined", right: true, cell: (row) => [count(row.examined / row.count), row.no_index ? h("span.tag.warn", { title: "ran without an index" }, "no index") : null] },
      { title: "sent", order: "sent", right: true, cell: (row) => count(row.sent / row.count) },
      { title: "Errors", order: "errors", right: true, cell: (row) => (row.errors ? h("span.bad", {}, count(row.errors)) : "0") },
      { title: "Last", order: "last", right: true, cell: (row) => ago(row.last) },
    ],
  });
  made.load();
  const timer = setInterval(() => { if (!document.hidden) made.load(); }, 10000);
  return { page: h("div.page", {}, made.box), end() { clearInterval(timer); } };
}

export function statement(parameters) {
  const of = { digest: parameters.get("digest"), schema: parameters.get("schema") ?? "" };
  const facts = h("dl.facts.many");
  const text = h("pre.code");
  const sample = h("pre.code");
  const plan = h("div");
  const waits = h("div");
  const note = h("p.note", { hidden: true });
  const runs = chart([{ name: "runs", label: "runs per second", color: 1 }], { title: "Runs per second", format: digits, least: 1 });
  const time = chart([{ name: "time", label: "average", color: 3 }], { title: "Average time", hint: "since this page is open", format: seconds, least: 1e-5 });
  const points = [];
  let before;
  let timer;
  let ended = false;

  async function turn(isFirst) {
    if (ended) return;
    try {
      const answer = await get("statement", of);
      show(answer.row);
      showWaits(answer.waits);
      if (isFirst) {
        showPlan(answer.plan);
        if (answer.can_analyze) plan.append(h("button", { onclick: () => analyze(answer.row) }, "Run it and measure the plan"));
      }
      note.hidden = true;
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
    }
    if (!ended) timer = setTimeout(turn, 3000);
  }

  function show(row) {
    const at = Date.now() / 1000;
    if (before) {
      const more = row.COUNT_STAR - before.row.COUNT_STAR;
      points.push([at, more / (at - before.at), more > 0 ? (row.SUM_TIMER_WAIT - before.row.SUM_TIMER_WAIT) / more / 1e12 : null]);
      if (points.length > 200) points.shift();
      const times = points.map(([when]) => when);
      runs.set(times, { runs: points.map(([, rate]) => rate) }, at - 300, at, 20);
      time.set(times, { time: points.map(([, , average]) => average) }, at - 300, at, 20);
    }
    before = { at, row };
    text.textContent = row.DIGEST_TEXT ?? "(all statements that there was no room for)";
    sample.textContent = row.QUERY_SAMPLE_TEXT ?? "";
    const fact = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
    replace(facts,
      fact("Database", row.SCHEMA_NAME ?? "–"), fact("Runs", exact(row.COUNT_STAR)), fact("Time", picoseconds(row.SUM_TIMER_WAIT)),
      fact("Average", picoseconds(row.AVG_TIMER_WAIT)), fact("95 %", picoseconds(row.QUANTILE_95)), fact("99 %", picoseconds(row.QUANTILE_99)),
      fact("Longest", picoseconds(row.MAX_TIMER_WAIT)), fact("CPU", picoseconds(row.SUM_CPU_TIME)), fact("Locks", picoseconds(row.SUM_LOCK_TIME)),
      fact("Rows read", count(row.SUM_ROWS_EXAMINED)), fact("Rows sent", count(row.SUM_ROWS_SENT)), fact("Rows changed", count(row.SUM_ROWS_AFFECTED)),
      fact("Errors", count(row.SUM_ERRORS)), fact("Warnings", count(row.SUM_WARNINGS)), fact("Without an index", count(row.SUM_NO_INDEX_USED)),
      fact("First seen", ago(row.first)), fact("Last seen", ago(row.last)));
  }

  function showWaits(rows) {
    if (!Array.isArray(rows) || !rows.length) { waits.hidden = true; return; }
    waits.hidden = false;
    const most = Math.max(...rows.map((row) => row.time_ps), 1);
    replace(waits, h("h2", {}, "What it waits for"), h("table", {}, h("tbody", {}, rows.map((row) => h("tr", {},
      h("td", {}, row.event), h("td", {}, bar(row.time_ps / most, 4)), h("td.right", {}, picoseconds(row.time_ps)),
      h("td.right", {}, `${count(row.count)} times`), h("td.right", {}, `longest ${picoseconds(row.longest_ps)}`))))));
  }

  function showPlan(made) {
    if (!made) replace(plan, h("p.hint", {}, "This kind of statement has no plan."));
    else if (made.error) replace(plan, h("p.note", {}, made.error));
    else replace(plan, tree(made.text ?? ""));
  }

  async function analyze(row) {
    if (!(await ask("Run this statement now, in a transaction that may only read?", "Run it", row.QUERY_SAMPLE_TEXT))) return;
    try {
      showPlan((await post("analyze", { schema: row.SCHEMA_NAME ?? "", text: row.QUERY_SAMPLE_TEXT })).plan);
    } catch (problem) {
      replace(plan, h("p.note", {}, problem.message));
    }
  }

  turn(true);
  const page = h("div.page", {}, h("a.back", { href: "#/statements" }, "‹ Statements"), note,
    h("section.card", {}, h("h2", {}, "Statement"), text, facts), h("div.charts", {}, runs.box, time.box),
    h("section.card", {}, h("h2", {}, "Plan"), plan), h("section.card", {}, h("h2", {}, "Slowest execution of the last minutes"), sample),
    h("section.card", {}, waits));
  waits.hidden = true;
  return { page, end() { ended = true; clearTimeout(timer); runs.end(); time.end(); } };
}

// The lines of EXPLAIN FORMAT=TREE as a tree: what each step does, its rows, and its share of the time if it ran.
export function tree(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  const steps = lines.map((line) => {
    const begin = line.indexOf("-> ");
    const rest = begin < 0 ? line.trim() : line.slice(begin + 3);
    const cost = /\(cost=([\d.e+]+)(?:\.\.[\d.e+]+)? rows=([\d.e+]+)\)/.exec(rest);
    const ran = /\(actual time=([\d.e+-]+)\.\.([\d.e+-]+) rows=([\d.e+]+) loops=(\d+)\)/.exec(rest);
    const title = rest.replace(/\s*\((cost|actual time)=[^)]*\)/g, "").replace(/\s*\(never executed\)/, "");
    const time = ran ? Number(ran[2]) * Number(ran[4]) : null;
    return { depth: begin < 0 ? 0 : begin, title, rows: cost?.[2], ran, time, idle: rest.includes("(never executed)") };
  });
  const most = Math.max(...steps.map((step) => step.time ?? 0), 0);
  return h("div.tree", { role: "tree" }, steps.map((step) => h("div.step", { role: "treeitem", style: { paddingLeft: `${step.depth * 5}px` } },
    h("span", {}, "→ ", step.title),
    step.rows ? h("small", {}, `expects ${count(Number(step.rows))} rows`) : null,
    step.ran ? h("small", {}, `${count(Number(step.ran[3]))} rows × ${count(Number(step.ran[4]))}`) : null,
    step.idle ? h("small", {}, "never ran") : null,
    step.time !== null ? [bar(most ? step.time / most : 0, 3), h("small", {}, `${digits(step.time)} ms`)] : null)));
}

