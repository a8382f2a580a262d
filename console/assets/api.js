// Requests to the server. A login that is over shows the form again.

let csrf = "";
let whenLoggedOut = () => {};

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function onLoggedOut(listener) {
  whenLoggedOut = listener;
}

export function setToken(token) {
  csrf = token;
}

async function read(response) {
  let body = {};
  try {
    body = await response.json();
  } catch { /* an answer without a body says enough by its status */ }
  if (response.ok) return body;
  if (response.status === 401) whenLoggedOut();
  throw new Problem(response.status, body.error ?? `the server answered ${response.status}`);
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Problem(0, "the server cannot be reached");
  }
  return read(response);
}

// GET below /api/ with parameters.
export function get(page, parameters = {}) {
  const used = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const query = new URLSearchParams(used).toString();
  return send(`/api/${page}${query ? `?${query}` : ""}`, { signal: AbortSignal.timeout(30000) });
}

// A change below /api/.
export function post(page, body = {}) {
  return send(`/api/${page}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": csrf },
    body: JSON.stringify(body),
  });
}
