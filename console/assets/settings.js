// Settings: what differs from a new server, and what each means.

import { h } from "./dom.js";
import { bytes } from "./format.js";
import { list } from "./list.js";

export function settings() {
  const made = list({
    page: "settings", title: "Settings",
    filters: [["changed", "differ from the default"], ["all", "all"]],
    none: "Every setting is as in a new server.",
    columns: [
      { title: "Name", cell: (row) => [h("code", {}, row.name), row.dynamic ? null : h("span.tag", { title: "cannot be set while the server runs" }, "fixed")] },
      { title: "Value", wide: true, cell: (row) => [h(`code${row.changed ? ".changed" : ""}`, {}, row.value || "''"), isSize(row) ? h("small", {}, bytes(Number(row.value))) : null] },
      { title: "Default", wide: true, cell: (row) => h("code", {}, row.default || "''") },
      { title: "Meaning", wide: true, cell: (row) => row.meaning ?? (row.no_effect ? h("span.hint", {}, `Without effect: ${row.no_effect}.`) : "") },
    ],
  });
  made.load();
  return { page: h("div.page", {}, made.box), end() {} };
}

// A number of bytes that is long enough to be read better as such.
function isSize(row) {
  return /(_size|_memory|_packet|_space_max|_len)$/.test(row.name) && /^\d{4,15}$/.test(row.value);
}
