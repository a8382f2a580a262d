// Sessions, and who waits for whom.

import { get, post } from "./api.js";
import { ask, h, replace } from "./dom.js";
import { count, exact, span } from "./format.js";
import { list } from "./list.js";

export function sessions() {
  let own = 0;
  const made = list({
    page: "sessions", title: "Sessions", order: "busy",
    filters: [["all", "all"], ["busy", "at work"], ["open", "in a transaction"]],
    around: (answer) => { own = answer.own; },
    columns: [
      { title: "Id", order: "id", right: true, cell: (row) => [row.id, row.id === own ? h("span.tag", {}, "this page") : null] },
      { title: "Account", order: "account", cell: (row) => [row.user, h("small", {}, row.host)] },
      { title: "Database", cell: (row) => row.db ?? "–" },
      { title: "Does", cell: (row) => [h(`span.tag${row.command === "Sleep" ? "" : ".busy"}`, {}, row.command), h("small", {}, row.state ?? "")] },
      { title: "For", order: "time", right: true, cell: (row) => span(row.time ?? 0) },
      { title: "Transaction", order: "transaction", cell: (row) => (row.transaction ? [h(`span.tag${row.transaction === "LOCK WAIT" ? ".warn" : ""}`, {}, row.transaction === "LOCK WAIT" ? "waits" : "open"), h("small", {}, `${span(row.open_seconds ?? 0)}, ${count(row.changes)} changes`)] : "–") },
      { title: "Statement", wide: true, cell: (row) => (row.info ? h("code", { title: row.info }, row.info) : "") },
      { title: "", cell: (row) => buttons(row, own, () => made.load()) },
    ],
  });
  const locks = h("section.card");
  let timer;
  let ended = false;

  async function turn() {
    if (ended) return;
    if (!document.hidden) {
      made.load();
      await showLocks(locks, () => { made.load(); });
    }
    if (!ended) timer = setTimeout(turn, 3000);
  }

  turn();
  return { page: h("div.page", {}, locks, made.box), end() { ended = true; clearTimeout(timer); } };
}

function buttons(row, own, after) {
  if (row.id === own || row.command === "Daemon") return "";
  const kill = (what) => async () => {
    const question = what === "query" ? `End the statement of session ${row.id} (${row.user})?` : `End session ${row.id} (${row.user})? Its transaction is rolled back.`;
    if (!(await ask(question, "Kill", row.info))) return;
    try {
      await post("kill", { id: row.id, what });
    } catch (problem) {
      await ask(problem.message, "OK");
    }
    after();
  };
  return h("span.buttons", {},
    row.command === "Query" || row.command === "Execute" ? h("button.small", { "data-kill": "query", onclick: kill("query") }, "Kill statement") : null,
    h("button.small.danger", { "data-kill": "connection", onclick: kill("connection") }, "Kill"));
}

async function showLocks(box, after) {
  let answer;
  try {
    answer = await get("locks");
  } catch (problem) {
    replace(box, h("h2", {}, "Who waits for whom"), h("p.note", {}, problem.message));
    return;
  }
  const waits = [...answer.rows, ...(Array.isArray(answer.metadata) ? answer.metadata : [])];
  const known = new Map(answer.sessions.map((session) => [session.id, session]));
  const waiters = new Set(waits.map((wait) => wait.waiting));
  // Those who hold others up and wait for nobody are the roots; in a circle, whoever comes first.
  let roots = [...new Set(waits.map((wait) => wait.blocking))].filter((id) => !waiters.has(id));
  if (!roots.length && waits.length) roots = [waits[0].blocking];
  replace(box, h("div.row", {}, h("h2", {}, "Who waits for whom"), h("span.grow"), waits.length ? h("small", {}, `${exact(waiters.size)} wait`) : null),
    waits.length ? h("ul.waits", {}, roots.map((id) => branch(id, null, waits, known, after, new Set()))) : h("p.hint", {}, "Nobody waits for a lock."));
}

function branch(id, wait, waits, known, after, seen) {
  const session = known.get(id) ?? {};
  const below = seen.has(id) ? [] : waits.filter((each) => each.blocking === id);
  const through = new Set([...seen, id]);
  const text = wait?.waiting_query ?? session.info;
  const row = { id, user: session.user ?? "?", command: session.command ?? "", info: text };
  return h("li", { "data-session": id },
    h("div.row", {},
      h("b", {}, `${id}`), h("span", {}, session.user ? `${session.user}@${session.host}` : ""),
      wait ? h("span.tag.warn", {}, `waits ${span(wait.seconds ?? 0)} for ${wait.object}${wait.index ? ` (${wait.index})` : ""}`)
        : h("span.tag.bad", {}, `holds up ${count(below.length)}`),
      session.open_seconds !== undefined && session.open_seconds !== null ? h("small", {}, `transaction open ${span(session.open_seconds)}`) : null,
      h("span.grow"), buttons(row, 0, after)),
    text ? h("code", {}, text) : session.command === "Sleep" ? h("small", {}, "its client does nothing at the moment") : null,
    below.length ? h("ul", {}, below.map((each) => branch(each.waiting, each, waits, known, after, through))) : null);
}
