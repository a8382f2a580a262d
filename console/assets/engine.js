// The engine: log, buffer pool, undo, the oldest transactions, threads.

import { get } from "./api.js";
import { bar } from "./chart.js";
import { h, replace } from "./dom.js";
import { bytes, count, digits, exact, percent, seconds, span } from "./format.js";

export function engine() {
  const body = h("div.cards");
  const text = h("pre.code");
  const page = h("div.page", {}, body, h("details.card", {}, h("summary", {}, "SHOW ENGINE INNODB STATUS"), text));
  let before;
  let timer;
  let ended = false;

  async function turn() {
    if (ended) return;
    try {
      if (!document.hidden) show(await get("engine"));
    } catch (problem) {
      replace(body, h("p.note", {}, problem.message));
    }
    if (!ended) timer = setTimeout(turn, 3000);
  }

  function show(answer) {
    const at = Date.now() / 1000;
    const { status } = answer;
    const passed = before ? at - before.at : 0;
    const rate = (name) => (passed ? (status[name] - before.answer.status[name]) / passed : 0);
    const card = (title, ...rows) => h("section.card", {}, h("h2", {}, title), h("dl.facts", {}, rows));
    const fact = (name, value, part, color) => [h("dt", {}, name), h("dd", {}, value, part === undefined ? null : bar(part, color))];
    const requests = rate("Innodb_buffer_pool_read_requests");
    const misses = rate("Innodb_pages_read");
    const page = status.Innodb_page_size;
    const pool = status.Innodb_buffer_pool_pages_total * page;
    replace(body,
      card("Log",
        fact("Written", `${bytes(rate("Innodb_os_log_written"))}/s`),
        fact("Flushes", `${count(rate("Innodb_os_log_fsyncs"))}/s`),
        fact("Redo after a crash", `${bytes(status.Heddle_redo_bytes)} of ${bytes(status.Heddle_redo_bytes_max)}`, status.Heddle_redo_bytes / (status.Heddle_redo_bytes_max || 1), 5)),
      card("Buffer pool",
        fact("Used", `${bytes(status.Innodb_buffer_pool_bytes_data)} of ${bytes(pool)}`, status.Innodb_buffer_pool_bytes_data / (pool || 1), 1),
        fact("Changed", bytes(status.Innodb_buffer_pool_bytes_dirty), status.Innodb_buffer_pool_bytes_dirty / (pool || 1), 3),
        fact("Found in memory", requests > 0 ? percent(Math.max(0, 1 - misses / requests)) : "–"),
        fact("Pages read", `${count(misses)}/s`), fact("Pages written", `${count(rate("Innodb_pages_written"))}/s`),
        fact("Waits for a frame", exact(status.Innodb_buffer_pool_wait_free))),
      card("Old versions",
        fact("Undo", bytes(status.Heddle_undo_bytes)), fact("in memory", bytes(status.Heddle_undo_memory_bytes)), fact("in the file", bytes(status.Heddle_undo_file_bytes)),
        fact("Commits since the oldest snapshot", exact(status.Heddle_history_length))),
      card("Locks",
        fact("Wait now", exact(status.Innodb_row_lock_current_waits)), fact("Waits", `${count(rate("Innodb_row_lock_waits"))}/s`),
        fact("Average wait", seconds(status.Innodb_row_lock_time_avg / 1e3)), fact("Longest", seconds(status.Innodb_row_lock_time_max / 1e3)),
        fact("Deadlocks", exact(status.Innodb_deadlocks))),
      card("Machine",
        fact("CPUs", exact(answer.cpus)), fact("Memory of the process", bytes(answer.memory)), fact("Disk free", bytes(answer.disk_free)),
        fact("Temporary files", bytes(status.Heddle_temporary_bytes)), fact("Up", span(status.Uptime))),
      h("section.card", {}, h("h2", {}, "Oldest transactions"), answer.oldest.length
        ? h("table", {}, h("tbody", {}, answer.oldest.map((row) => h("tr", {}, h("td", {}, h("b", {}, String(row.id)), " ", row.user ?? ""), h("td.right", {}, span(row.seconds ?? 0)), h("td", {}, row.state === "LOCK WAIT" ? "waits for a lock" : row.command ?? ""), h("td.right", {}, `${count(row.changes)} changes`)))))
        : h("p.hint", {}, "No transaction is open.")),
      threads(answer, passed),
      answer.waits.length ? h("section.card", {}, h("h2", {}, "Waits since the start"), h("table", {}, h("tbody", {}, answer.waits.filter((wait) => wait.count).sort((a, b) => b.seconds - a.seconds).map((wait) => h("tr", {}, h("td", {}, wait.kind.replaceAll("_", " ")), h("td.right", {}, seconds(wait.seconds)), h("td.right", {}, `${count(wait.count)} times`)))))) : null);
    text.textContent = answer.text ?? "";
    before = { at, answer };
  }

  function threads(answer, passed) {
    const sum = (list) => { const all = new Map(); list.forEach(({ name, cpu_seconds: cpu }) => all.set(group(name), (all.get(group(name)) ?? 0) + cpu)); return all; };
    const now = sum(answer.threads);
    const then = before ? sum(before.answer.threads) : now;
    return h("section.card", {}, h("h2", {}, "Threads", h("span.hint", {}, "share of a CPU")), h("table.threads", {}, h("tbody", {}, [...now].map(([name, cpu]) => {
      const share = passed ? Math.max(0, cpu - (then.get(name) ?? 0)) / passed : 0;
      return h("tr", {}, h("td", {}, name), h("td", {}, bar(share, 1)), h("td.right", {}, percent(share)), h("td.right", {}, `${digits(cpu)} s`));
    }))));
  }

  // The readers of pages and their like are many, and each does little.
  function group(name) {
    return name.startsWith("worker-") ? name : name.replace(/-\d+$/, "-*");
  }

  turn();
  return { page, end() { ended = true; clearTimeout(timer); } };
}
