// Numbers for people.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return `${digits(value / 1e9)} G`;
  if (size >= 1e6) return `${digits(value / 1e6)} M`;
  if (size >= 1e4) return `${digits(value / 1e3)} k`;
  if (size >= 100 || Number.isInteger(value)) return whole.format(value);
  return digits(value);
}

export function exact(value) {
  return value === null || value === undefined ? "–" : typeof value === "number" ? whole.format(value) : String(value);
}

// Three digits that count.
export function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return whole.format(value);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.1) return value.toFixed(2);
  return value.toPrecision(2);
}

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = Number(value);
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? whole.format(size) : digits(size)} ${units[unit]}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  if (value < 1) return `${digits(value * 1e3)} ms`;
  if (value < 120) return `${digits(value)} s`;
  return span(value);
}

// Performance_schema counts picoseconds.
export function picoseconds(value) {
  return value === null || value === undefined ? "–" : seconds(value / 1e12);
}

// A long time, in its two largest units.
export function span(value) {
  const all = Math.floor(value);
  const days = Math.floor(all / 86400);
  const hours = Math.floor(all / 3600) % 24;
  const minutes = Math.floor(all / 60) % 60;
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  if (minutes) return `${minutes} min ${all % 60} s`;
  return `${all} s`;
}

export function ago(epoch) {
  if (!epoch) return "–";
  const passed = Date.now() / 1000 - epoch;
  return passed < 2 ? "now" : `${span(passed)} ago`;
}

export function percent(part) {
  return `${(part * 100).toFixed(part >= 0.1 ? 0 : 1)} %`;
}

export function clock(epoch, withDay) {
  const at = new Date(epoch * 1000);
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: withDay ? undefined : "2-digit" });
  return withDay ? `${at.toLocaleDateString("en-GB", { weekday: "short", day: "numeric" })} ${time}` : time;
}
