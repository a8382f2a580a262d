// Curves over time as SVG: lines, or areas on top of each other. The pointer reads the values.

import { h, replace, s } from "./dom.js";
import { clock } from "./format.js";

const HEIGHT = 168;
const LEFT = 52;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

// series: [{ name, label, color }]; options: { title, format, stacked, hint, least, binary: steps of bytes }
export function chart(series, options) {
  const svg = s("svg.plot", { role: "img", "aria-label": options.title, height: HEIGHT });
  const legend = h("div.legend");
  const box = h("section.card.chart", {}, h("h2", {}, options.title, options.hint ? h("span.hint", {}, options.hint) : null), svg, legend);
  let data = { times: [], values: {}, from: 0, to: 1 };
  let pointer = null;
  let used = series;

  const labels = series.map((one) => {
    const value = h("b");
    const item = h("span", { title: one.title }, h("i", { style: { background: `var(--c${one.color})` } }), one.label, " ", value);
    legend.append(item);
    return { value, item };
  });

  function draw() {
    const width = Math.max(280, box.clientWidth - 24 || 600);
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("width", width);
    const { times, values, from, to } = data;
    used = options.stacked ? series.filter((one) => one.always || (values[one.name] ?? []).some((value) => value > 0.0005)) : series;
    labels.forEach((label, at) => { label.item.hidden = !used.includes(series[at]); });
    const layers = stack(times, values);
    const top = nice(Math.max(options.least ?? 0, ...layers.map((layer) => layer.reduce((most, [, high]) => Math.max(most, high ?? 0), 0))), options.binary);
    const x = (time) => LEFT + ((time - from) / Math.max(1, to - from)) * (width - LEFT - RIGHT);
    const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    const parts = [];
    for (let line = 0; line <= 4; line += 1) {
      const value = (top / 4) * line;
      parts.push(s("line.grid", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
      parts.push(s("text.axis", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, options.format(value).replace(/\.0+(?= |$)/, "")));
    }
    const marks = Math.max(2, Math.min(6, Math.floor((width - LEFT) / 110)));
    for (let mark = 0; mark <= marks; mark += 1) {
      const time = from + ((to - from) * mark) / marks;
      const anchor = mark === 0 ? "start" : mark === marks ? "end" : "middle";
      parts.push(s("text.axis", { x: x(time), y: HEIGHT - 5, "text-anchor": anchor }, clock(time, to - from > 86400)));
    }
    used.forEach((one, at) => {
      for (const piece of pieces(times, layers[at], data.gap)) {
        const high = piece.map(([time, , value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
        if (options.stacked) {
          const low = piece.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).reverse();
          parts.push(s("polygon", { points: [...high, ...low].join(" "), fill: `var(--c${one.color})`, "fill-opacity": 0.85 }));
        } else {
          parts.push(s("polyline.curve", { points: high.join(" "), stroke: `var(--c${one.color})` }));
        }
      }
    });
    const at = pointer === null ? times.length - 1 : nearest(times, from + ((pointer - LEFT) / (width - LEFT - RIGHT)) * (to - from));
    if (pointer !== null && times[at] !== undefined) {
      parts.push(s("line.cursor", { x1: x(times[at]), x2: x(times[at]), y1: TOP, y2: HEIGHT - BOTTOM }));
      parts.push(s("text.axis.at", { x: width - RIGHT, y: TOP + 10, "text-anchor": "end" }, clock(times[at], to - from > 86400)));
    }
    replace(svg, parts);
    series.forEach((one, place) => {
      const value = (values[one.name] ?? [])[at];
      labels[place].value.textContent = value === undefined || value === null ? "–" : options.format(value);
    });
  }

  // Of each used series, the low and the high of its area; the low of a line is nothing.
  function stack(times, values) {
    const sums = new Array(times.length).fill(0);
    return used.map((one) => times.map((_, at) => {
      const value = (values[one.name] ?? [])[at];
      if (!options.stacked) return [0, value];
      const low = sums[at];
      sums[at] += Math.max(0, value ?? 0);
      return [low, sums[at]];
    }));
  }

  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    pointer = ((event.clientX - frame.left) / frame.width) * Number(svg.getAttribute("width"));
    draw();
  });
  svg.addEventListener("pointerleave", () => { pointer = null; draw(); });
  const watcher = new ResizeObserver(draw);
  watcher.observe(box);

  return {
    box,
    // times: seconds of the epoch, ascending; values: a list for each name; gap: the longest time between two points of a curve.
    set(times, values, from, to, gap) {
      data = { times, values, from, to, gap };
      draw();
    },
    end() { watcher.disconnect(); },
  };
}

// The parts of a curve between gaps, where nothing was measured.
function pieces(times, layer, gap) {
  const all = [];
  let piece = [];
  times.forEach((time, at) => {
    const [low, high] = layer[at];
    const broken = high === undefined || high === null || (piece.length && time - piece[piece.length - 1][0] > gap);
    if (broken && piece.length) {
      all.push(piece);
      piece = [];
    }
    if (high !== undefined && high !== null) piece.push([time, low, high]);
  });
  if (piece.length) all.push(piece);
  return all;
}

function nearest(times, wanted) {
  let best = 0;
  times.forEach((time, at) => { if (Math.abs(time - wanted) < Math.abs(times[best] - wanted)) best = at; });
  return best;
}

// The next of 1, 2, 4, 5, 8 with zeros; of bytes, the next power of two.
function nice(value, isBinary) {
  if (!(value > 0)) return 1;
  if (isBinary) return 2 ** Math.ceil(Math.log2(value));
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

// A small curve without axes.
export function spark(values, color) {
  const [width, height] = [120, 28];
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, at) => `${((at / Math.max(1, values.length - 1)) * width).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`);
  return s("svg.spark", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" },
    s("polyline.curve", { points: points.join(" "), stroke: `var(--c${color})` }));
}

// A part of a whole as a bar.
export function bar(part, color = 1) {
  const width = `${Math.max(0, Math.min(1, part || 0)) * 100}%`;
  return h("span.bar", {}, h("i", { style: { width, background: `var(--c${color})` } }));
}
