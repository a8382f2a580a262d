// A profile of the workers as a flame graph: the width of a function is its share of the processor time.

import { get } from "./api.js";
import { h, replace, s } from "./dom.js";
import { count, percent } from "./format.js";

const ROW = 18;
const COLORS = ["#e8743b", "#ed9b40", "#f2b84b", "#e05d44", "#d98c5f", "#eaa86a"];

export function profile() {
  const seconds = h("select", {}, [2, 5, 10].map((number) => h("option", { value: number, selected: number === 5 }, `${number} seconds`)));
  const by = h("select", {}, [["statement", "by statement"], ["worker", "by worker"], ["", "all together"]].map(([value, title]) => h("option", { value }, title)));
  const button = h("button.main", {}, "Take a profile");
  const note = h("p.note", { hidden: true, role: "alert" });
  const about = h("p.hint", {}, "Each worker notes which functions it is in, 97 times for each second that it runs. Click a function to see its part; click the lowest bar to go back.");
  const graph = h("div.flames");
  let lines = [];
  let ended = false;

  button.onclick = async () => {
    button.disabled = true;
    note.hidden = true;
    try {
      const answer = await get("profile", { seconds: seconds.value });
      lines = answer.lines;
      if (!ended) draw();
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
    }
    button.disabled = false;
  };
  by.onchange = () => draw();

  function draw() {
    const root = { name: "all", samples: 0, inner: new Map() };
    for (const line of lines) {
      const path = line.Stack.split(";");
      if (by.value === "worker") path.unshift(`worker ${line.Worker ?? "?"}`);
      if (by.value === "statement") path.unshift(line.Digest_text ?? "(no statement)");
      add(root, path, line.Samples);
    }
    if (!root.samples) {
      replace(graph, h("p.hint", {}, "No worker has run in that time."));
      return;
    }
    show(graph, root, root);
  }

  const page = h("div.page", {}, h("section.card", {}, h("h2", {}, "Where the processor time goes"), about,
    h("div.row", {}, seconds, by, button), note, graph));
  return { page, end() { ended = true; } };
}

function add(root, path, samples) {
  root.samples += samples;
  let at = root;
  for (const name of path) {
    let next = at.inner.get(name);
    if (!next) {
      next = { name, samples: 0, inner: new Map() };
      at.inner.set(name, next);
    }
    next.samples += samples;
    at = next;
  }
}

// The outermost function is on top, and what it calls below it.
function show(box, root, top) {
  const boxes = [];
  let depth = 0;
  const place = (node, level, left) => {
    const width = node.samples / top.samples;
    if (width < 0.001) return;
    depth = Math.max(depth, level);
    boxes.push({ node, level, left, width });
    let from = left;
    for (const inner of [...node.inner.values()].sort((one, other) => other.samples - one.samples)) {
      place(inner, level + 1, from);
      from += inner.samples / top.samples;
    }
  };
  place(top, 0, 0);
  const wide = Math.max(box.clientWidth, 300);
  const color = (name) => COLORS[[...name].reduce((sum, sign) => (sum * 31 + sign.codePointAt(0)) % 997, 7) % COLORS.length];
  const short = (name) => name.replace(/^(?:[a-z_0-9]+::)+(?=[a-z_A-Z0-9]+::|[a-z_]+$)/, "");
  const shapes = boxes.map(({ node, level, left, width }) => {
    const signs = Math.floor((width * wide - 6) / 6.6);
    const text = short(node.name);
    return s("g.flame", { onclick: () => show(box, root, node === top ? root : node) },
      s("title", {}, `${node.name}\n${count(node.samples)} samples, ${percent(node.samples / root.samples)}`),
      s("rect", { x: left * wide, y: level * ROW, width: Math.max(width * wide - 0.5, 0.5), height: ROW - 1, rx: 2, fill: color(node.name) }),
      signs > 2 ? s("text", { x: left * wide + 4, y: level * ROW + 13 }, text.length > signs ? `${text.slice(0, signs - 1)}…` : text) : null);
  });
  const height = (depth + 1) * ROW;
  replace(box, s("svg", { viewBox: `0 0 ${wide} ${height}`, width: "100%", height, role: "img", "aria-label": "flame graph" }, shapes));
}
