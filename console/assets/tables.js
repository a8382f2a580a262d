// Tables by size and use, and one table with its indexes.

import { get } from "./api.js";
import { bar } from "./chart.js";
import { h, replace } from "./dom.js";
import { bytes, count, percent, picoseconds } from "./format.js";
import { list } from "./list.js";

export function tables() {
  const advice = h("section.card", { hidden: true });
  const made = list({
    page: "tables", title: "Tables", order: "size", none: "There are no tables yet.",
    open: (row) => { location.hash = `#/table?schema=${encodeURIComponent(row.schema)}&name=${encodeURIComponent(row.name)}`; },
    around: (answer) => showAdvice(advice, answer.unused),
    columns: [
      { title: "Table", order: "name", wide: true, cell: (row) => [h("b", {}, row.name), h("small", {}, row.schema)] },
      { title: "Size", order: "size", cell: (row) => [bar((row.data_bytes + row.index_bytes) / (row.all_bytes || 1)), h("small", {}, bytes(row.data_bytes + row.index_bytes))] },
      { title: "Rows", order: "rows", right: true, cell: (row) => count(row.row_count) },
      { title: "Data", right: true, cell: (row) => bytes(row.data_bytes) },
      { title: "Indexes", order: "indexes", right: true, cell: (row) => bytes(row.index_bytes) },
      { title: "Reads", order: "reads", right: true, cell: (row) => count(row.fetched) },
      { title: "Writes", order: "writes", right: true, cell: (row) => count(row.inserted === null ? null : row.inserted + row.updated + row.deleted) },
      { title: "Next id", right: true, cell: (row) => count(row.next_id) },
    ],
  });
  made.load();
  return { page: h("div.page", {}, made.box, advice), end() {} };
}

function showAdvice(box, { unused, redundant, next_ids: ids }) {
  const rows = (all) => (Array.isArray(all) ? all : []);
  const parts = [
    rows(unused).length ? [h("h2", {}, "Indexes that nobody has used since the start"), h("ul.plain", {}, rows(unused).map((row) => h("li", {}, h("code", {}, `${row.schema}.${row.name}.${row.index}`))))] : null,
    rows(redundant).length ? [h("h2", {}, "Indexes that another one makes superfluous"), h("ul.plain", {}, rows(redundant).map((row) => h("li", {}, h("code", {}, `${row.schema}.${row.name}.${row.index}`), " is the beginning of ", h("code", {}, row.dominant))))] : null,
    rows(ids).filter((row) => row.ratio > 0.5).length ? [h("h2", {}, "Ids that run out"), h("ul.plain", {}, rows(ids).filter((row) => row.ratio > 0.5).map((row) => h("li", {}, h("code", {}, `${row.schema}.${row.name}.${row.column}`), ` has used ${percent(row.ratio)} of its numbers`)))] : null,
  ].filter(Boolean);
  box.hidden = !parts.length;
  replace(box, parts);
}

export function table(parameters) {
  const of = { schema: parameters.get("schema"), name: parameters.get("name") };
  const page = h("div.page", {}, h("a.back", { href: "#/tables" }, "‹ Tables"), h("p.hint", {}, "…"));
  get("table", of).then((answer) => {
    const usage = new Map(Array.isArray(answer.usage) ? answer.usage.map((row) => [row.name ?? "", row]) : []);
    const index = (row) => {
      const used = usage.get(row.name);
      return h("tr", {}, h("td", {}, h("b", {}, row.name), row.non_unique ? null : h("span.tag", {}, "unique"), row.visible === "NO" ? h("span.tag.warn", {}, "invisible") : null),
        h("td.wide", {}, h("code", {}, row.columns)), h("td.right", {}, count(row.cardinality)),
        h("td.right", {}, count(used?.fetched)), h("td.right", {}, count(used ? used.inserted + used.updated + used.deleted : null)));
    };
    const waits = Array.isArray(answer.waits) ? answer.waits : [];
    replace(page, h("a.back", { href: "#/tables" }, "‹ Tables"),
      h("section.card", {}, h("h2", {}, `${of.schema}.${of.name}`), h("div.scroll", {}, h("table", {},
        h("thead", {}, h("tr", {}, ["Index", "Columns", "Different values", "Reads", "Writes"].map((title, at) => h(`th${at > 1 ? ".right" : ""}`, {}, title)))),
        h("tbody", {}, answer.indexes.map(index))))),
      waits.length ? h("section.card", {}, h("h2", {}, "What sessions waited for here"), h("table", {}, h("tbody", {}, waits.map((row) => h("tr", {}, h("td", {}, row.event), h("td", {}, row.index ?? ""), h("td.right", {}, picoseconds(row.time_ps)), h("td.right", {}, `${count(row.count)} times`)))))) : null,
      h("section.card", {}, h("h2", {}, "Definition"), h("pre.code", {}, answer.definition ?? answer.error ?? "")));
  }, (problem) => replace(page, h("a.back", { href: "#/tables" }, "‹ Tables"), h("p.note", {}, problem.message)));
  return { page, end() {} };
}
