// A list of rows that the server cuts and orders: search, columns to order by, pages.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { exact } from "./format.js";

const PAGE = 50;

// options: { page, columns: [{ title, order, cell(row), right, wide }], filters: [[value, label]], order, open(row), around(answer) }
export function list(options) {
  const state = { offset: 0, order: options.order ?? "", find: "", show: options.filters?.[0]?.[0] ?? "" };
  const body = h("tbody");
  const head = h("tr");
  const foot = h("div.row.foot");
  const note = h("p.note", { hidden: true });
  let asked = 0;

  async function load() {
    const own = ++asked;
    try {
      const answer = await get(options.page, { ...state, limit: PAGE });
      if (own !== asked) return; // a later one was asked meanwhile
      note.hidden = true;
      options.around?.(answer);
      show(answer);
    } catch (problem) {
      if (own !== asked) return;
      note.hidden = false;
      note.textContent = problem.message;
    }
  }

  function show({ total, rows }) {
    replace(head, options.columns.map((column) => {
      const isOrder = column.order && column.order === state.order;
      const title = column.order
        ? h("button.order", { "aria-pressed": String(isOrder), onclick: () => { state.order = column.order; state.offset = 0; load(); } }, column.title, isOrder ? " ▾" : "")
        : column.title;
      return h(`th${column.right ? ".right" : ""}`, {}, title);
    }));
    replace(body, rows.map((row) => h("tr", options.open ? { class: "open", onclick: (event) => { if (!event.target.closest("button,a")) options.open(row); } } : {},
      options.columns.map((column) => h(`td${column.right ? ".right" : ""}${column.wide ? ".wide" : ""}`, { "data-title": column.title }, column.cell(row))))));
    if (!rows.length) replace(body, h("tr", {}, h("td.none", { colspan: options.columns.length }, options.none ?? "Nothing here.")));
    const last = Math.min(total, state.offset + rows.length);
    replace(foot,
      h("span", {}, total ? `${exact(state.offset + 1)}–${exact(last)} of ${exact(total)}` : ""),
      h("button", { disabled: state.offset === 0, onclick: () => turn(-PAGE) }, "‹ Previous"),
      h("button", { disabled: last >= total, onclick: () => turn(PAGE) }, "Next ›"));
  }

  function turn(by) {
    state.offset = Math.max(0, state.offset + by);
    load();
  }

  let typing;
  const search = h("input", {
    type: "search", placeholder: "Search", "aria-label": "Search", maxlength: 200,
    oninput: (event) => {
      clearTimeout(typing);
      typing = setTimeout(() => { state.find = event.target.value.trim(); state.offset = 0; load(); }, 250);
    },
  });
  const filters = options.filters?.length
    ? h("select", { "aria-label": "Which", onchange: (event) => { state.show = event.target.value; state.offset = 0; load(); } },
      options.filters.map(([value, label]) => h("option", { value }, label)))
    : null;
  const box = h("section.card.list", {},
    h("div.row.tools", {}, h("h2", {}, options.title), h("span.grow"), filters, search),
    note, h("div.scroll", {}, h("table", {}, h("thead", {}, head), body)), foot);
  return { box, load };
}
