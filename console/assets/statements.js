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
  const phases = h("div");
  const kept = h("div");
  const plans = h("div");
  const note = h("p.note", { hidden: true });
  const runs = chart([{ name: "runs", label: "runs per second", color: 1 }], { title: "Runs per second", format: digits, least: 1 });
  const time = chart([{ name: "time", label: "average", color: 3 }], { title: "Average time", hint: "since this page is open", format: seconds, least: 1e-5 });
  const points = [];
  let before;
  let canAnalyze = false;
  let timer;
  let ended = false;

  async function turn(isFirst) {
    if (ended) return;
    try {
      const answer = await get("statement", of);
      canAnalyze = answer.can_analyze;
      show(answer.row);
      showWaits(answer.waits);
      showPhases(answer.phases);
      showKept(answer.kept);
      showPlans(answer.plans);
      if (isFirst) {
        showPlan(answer.plan);
        if (answer.can_analyze) plan.append(h("button", { onclick: () => analyze(answer.row.QUERY_SAMPLE_TEXT) }, "Run it and measure the plan"));
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

  // The phases of a statement add up to its CPU time.
  function showPhases(sums) {
    const rows = Object.entries(sums ?? {});
    const all = rows.reduce((sum, [, time]) => sum + time, 0);
    phases.hidden = !all;
    if (!all) return;
    replace(phases, h("h2", {}, "Where its CPU time goes"), h("table", {}, h("tbody", {}, rows.map(([phase, time]) => h("tr", {},
      h("td", {}, phase), h("td", {}, bar(time / all, 1)), h("td.right", {}, picoseconds(time / before.row.COUNT_STAR)),
      h("td.right", {}, percent(time / all)))))));
  }

  // The slowest executions, each with its parameters, its waits and its phases.
  let shown = "";
  function showKept(rows) {
    kept.hidden = !rows?.length;
    const now = JSON.stringify(rows);
    if (kept.hidden || now === shown) return;
    shown = now;
    replace(kept, h("h2", {}, "Slowest executions of the last hour"), rows.map((row) => {
      const parts = [];
      for (const phase of ["decode", "parse", "plan", "execute", "encode", "commit"]) if (row[phase]) parts.push([phase, row[phase]]);
      for (const wait of JSON.parse(row.waits ?? "[]")) parts.push([wait.event, wait.time_ps]);
      parts.sort((one, other) => other[1] - one[1]);
      return h("details.kept", {}, h("summary", {},
        picoseconds(row.time_ps), h("small", {}, ` ${ago(row.ended)}, ${row.user}, ${count(row.examined)} rows read, ${count(row.sent)} sent`,
          row.errno ? `, error ${row.errno}` : "", row.plan_hash ? `, plan ${row.plan_hash.slice(0, 6)}` : "")),
        h("pre.code", {}, row.text),
        h("table", {}, h("tbody", {}, parts.map(([name, time]) => h("tr", {},
          h("td", {}, name), h("td", {}, bar(time / row.time_ps, name.startsWith("wait/") ? 4 : 1)), h("td.right", {}, picoseconds(time)))))),
        row.is_cut === "NO" && canAnalyze ? h("button", { onclick: () => analyze(row.text) }, "Run it and measure the plan") : null);
    }));
  }

  // The plans that the statement ran with, the last one first.
  let plansShown = "";
  function showPlans(rows) {
    plans.hidden = !rows?.length;
    const now = JSON.stringify(rows?.map((row) => [row.hash, row.count]));
    if (plans.hidden || now === plansShown) return;
    plansShown = now;
    replace(plans, h("h2", {}, rows.length > 1 ? `Its ${rows.length} plans` : "Its plan"), rows.map((row) => h("details.kept", {}, h("summary", {},
      row.hash.slice(0, 6), h("small", {}, ` ${count(row.count)} runs, ${picoseconds(row.average_ps)} of CPU each, first ${ago(row.first)}, last ${ago(row.last)}`)),
      tree(row.text))));
  }

  function showPlan(made) {
    if (!made) replace(plan, h("p.hint", {}, "This kind of statement has no plan."));
    else if (made.error) replace(plan, h("p.note", {}, made.error));
    else replace(plan, tree(made.text ?? ""));
  }

  async function analyze(text) {
    if (!(await ask("Run this statement now, in a transaction that may only read?", "Run it", text))) return;
    try {
      showPlan((await post("analyze", { schema: of.schema, text })).plan);
      plan.scrollIntoView({ block: "nearest" });
    } catch (problem) {
      replace(plan, h("p.note", {}, problem.message));
    }
  }

  turn(true);
  const page = h("div.page", {}, h("a.back", { href: "#/statements" }, "‹ Statements"), note,
    h("section.card", {}, h("h2", {}, "Statement"), text, facts), h("div.charts", {}, runs.box, time.box),
    h("section.card", {}, h("h2", {}, "Plan"), plan), h("section.card", {}, h("h2", {}, "Slowest execution of the last minutes"), sample),
    h("section.card.phases", {}, phases), h("section.card", {}, waits), h("section.card.executions", {}, kept), h("section.card.plans", {}, plans));
  waits.hidden = phases.hidden = kept.hidden = plans.hidden = true;
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

