// The curves: now, the last hour, the last week.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { h, replace } from "./dom.js";
import { bytes, count, digits, seconds, span } from "./format.js";

const SPANS = { live: { label: "5 min", seconds: 300, gap: 15 }, hour: { label: "1 hour", seconds: 3600, gap: 20 }, week: { label: "1 week", seconds: 604800, gap: 1200 } };

// What sessions spend their time on: the colours are those of style.css.
const TIME = [
  ["cpu", "CPU", 1, "CPU time of the whole process"],
  ["wait_ready", "worker busy", 9, "Ready, while the worker serves others"],
  ["wait_row_lock", "row lock", 4, "Another transaction holds the row"],
  ["wait_gap_lock", "gap lock", 11, "Another transaction holds the range"],
  ["wait_metadata_lock", "metadata", 6, "A definition and statements wait for each other"],
  ["wait_user_lock", "GET_LOCK", 12, "Locks by name"],
  ["wait_log_flush", "log flush", 3, "Commits wait for the disk"],
  ["wait_page_read", "page read", 2, "A page comes from disk"],
  ["wait_free_frame", "free frame", 8, "The buffer pool has no free frame"],
  ["wait_page_latch", "page latch", 10, "Another worker changes the page"],
  ["wait_checkpoint", "checkpoint", 5, "Writers are held back until pages are on disk"],
  ["wait_temporary_file", "temporary file", 7, "Sorts and joins that do not fit into memory"],
  ["wait_file", "file", 13, "Files of statements"],
  ["wait_network_write", "slow client", 14, "A client does not read"],
  ["wait_definition", "definition", 15, "A definition works"],
  ["wait_other", "other", 16, "Everything else"],
].map(([name, label, color, title]) => ({ name, label, color, title, always: name === "cpu" }));

const one = (name, label, color) => ({ name, label, color });

export function now() {
  let shown = "live";
  let timer;
  let names = [];
  let live = []; // points of the last minutes
  let past = []; // points of the chosen span
  let latest = 0;
  let ended = false;

  const charts = [
    chart(TIME, { title: "Where time goes", hint: "sessions at work or waiting, on average", stacked: true, format: digits, least: 0.1 }),
    chart([one("selects", "SELECT", 1), one("inserts", "INSERT", 2), one("updates", "UPDATE", 3), one("deletes", "DELETE", 4)],
      { title: "Statements per second", stacked: true, format: count, least: 4 }),
    chart([one("p50_ms", "median", 1), one("p95_ms", "95 %", 3), one("p99_ms", "99 %", 4)],
      { title: "Latency", hint: "this part of the statements took at most", format: (value) => seconds(value / 1e3), least: 0.1 }),
    chart([one("connections", "connected", 2), one("running", "running", 3)], { title: "Sessions", format: count, least: 4 }),
    chart([one("rows_read", "read", 1), one("rows_written", "written", 3)], { title: "Rows per second", format: count, least: 4 }),
    chart([one("memory", "process", 2), one("pool_used", "pages in the pool", 1), one("pool_dirty", "changed pages", 3)],
      { title: "Memory", format: bytes, least: 1048576, binary: true }),
    chart([one("page_reads", "pages read", 2), one("page_writes", "pages written", 3), one("log_flushes", "log flushes", 5)],
      { title: "Disk operations per second", format: count, least: 4 }),
    chart([one("log_bytes", "log written", 5), one("bytes_in", "from clients", 2), one("bytes_out", "to clients", 1)],
      { title: "Bytes per second", format: bytes, least: 1024, binary: true }),
  ];
  const series = [TIME, ...[["selects", "inserts", "updates", "deletes"], ["p50_ms", "p95_ms", "p99_ms"], ["connections", "running"],
    ["rows_read", "rows_written"], ["memory", "pool_used", "pool_dirty"], ["page_reads", "page_writes", "log_flushes"],
    ["log_bytes", "bytes_in", "bytes_out"]].map((list) => list.map((name) => ({ name })))];

  const tiles = h("div.tiles");
  const choice = h("div.choice", { role: "group", "aria-label": "Time" }, Object.entries(SPANS).map(([key, { label }]) =>
    h("button", { "data-span": key, "aria-pressed": String(key === shown), onclick: () => choose(key) }, label)));
  const note = h("p.note", { hidden: true });
  const page = h("div.page", {}, h("div.row", {}, tiles, h("span.grow"), choice), note, h("div.charts", {}, charts.map((each) => each.box)));

  async function choose(key) {
    shown = key;
    for (const button of choice.children) button.setAttribute("aria-pressed", String(button.dataset.span === key));
    await history();
    draw();
  }

  async function history() {
    const answer = await get("history", { span: shown === "week" ? "week" : "hour" });
    names = answer.names;
    past = answer.points;
  }

  function draw() {
    const { seconds: length, gap } = SPANS[shown];
    const to = latest || Date.now() / 1000;
    const from = to - length;
    // Live points follow where the kept ones end.
    const begin = shown === "live" && live.length ? live[0][0] : Infinity;
    const last = past.length ? past[past.length - 1][0] : 0;
    const points = shown === "live"
      ? [...past.filter(([time]) => time < begin), ...live]
      : [...past, ...live.filter(([time], at) => time > last && (shown === "hour" ? at % 5 === 0 : false))];
    const within = points.filter(([time]) => time >= from && time <= to);
    const times = within.map(([time]) => time);
    const column = (name) => { const place = names.indexOf(name) + 1; return within.map((point) => (place ? point[place] : null)); };
    charts.forEach((each, at) => {
      const values = Object.fromEntries(series[at].map(({ name }) => [name, column(name)]));
      each.set(times, values, from, to, gap);
    });
  }

  function head(answer) {
    const point = live[live.length - 1];
    const value = (name) => (point ? point[names.indexOf(name) + 1] : 0);
    const tile = (label, text, detail) => h("div.tile", {}, h("span", {}, label), h("b", { "data-tile": label }, text), h("small", {}, detail));
    replace(tiles,
      tile("queries/s", count(value("queries")), `${count(value("slow"))} slow/s`),
      tile("95 %", seconds(value("p95_ms") / 1e3), `median ${seconds(value("p50_ms") / 1e3)}`),
      tile("sessions", count(answer.connections), `${count(answer.running)} running`),
      tile("CPU", `${digits(value("cpu"))} cores`, `up ${span(answer.uptime)}`),
      tile("memory", bytes(value("memory")), `${bytes(value("pool_used"))} of ${bytes(answer.pool)} pool`),
      tile("disk free", bytes(value("disk_free")), `${bytes(value("redo"))} log to redo`));
  }

  async function turn() {
    if (ended) return;
    try {
      const answer = await get("now", { after: live.length ? live[live.length - 1][0] : 0 });
      names = answer.names;
      latest = answer.time;
      live = [...live, ...answer.points].slice(-400);
      note.hidden = true;
      head(answer);
      if (answer.points.length) draw();
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
    }
    if (!ended) timer = setTimeout(turn, document.hidden ? 10000 : 1500);
  }

  history().then(draw, () => {}).then(turn);
  return { page, end() { ended = true; clearTimeout(timer); charts.forEach((each) => each.end()); } };
}
