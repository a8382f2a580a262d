// The page: login, navigation, and one page at a time.

import { advice } from "./advice.js";
import { get, onLoggedOut, post, setToken } from "./api.js";
import { h, replace } from "./dom.js";
import { engine } from "./engine.js";
import { now } from "./now.js";
import { profile } from "./profile.js";
import { sessions } from "./sessions.js";
import { settings } from "./settings.js";
import { statement, statements } from "./statements.js";
import { table, tables } from "./tables.js";

const PAGES = [["now", "Now", now], ["statements", "Statements", statements], ["sessions", "Sessions", sessions], ["tables", "Tables", tables], ["advice", "Advice", advice], ["engine", "Engine", engine], ["profile", "Profile", profile], ["settings", "Settings", settings]];
const INNER = { statement: [statement, "statements"], table: [table, "tables"] };

const app = document.getElementById("app");
let current = null;
let login = null;

function leave() {
  current?.end();
  current = null;
}

function showLogin(message) {
  leave();
  login = null;
  setToken("");
  const note = h("p.note", { role: "alert", hidden: !message }, message ?? "");
  const user = h("input", { name: "user", autocomplete: "username", required: true, autofocus: true });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password" });
  const button = h("button.main", {}, "Log in");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      enter(await post("login", { user: user.value, password: password.value }));
    } catch (problem) {
      note.hidden = false;
      note.textContent = problem.message;
      password.value = "";
      password.focus();
    }
    button.disabled = false;
  };
  replace(app, h("form.login.card", { onsubmit: submit },
    h("h1", {}, h("img", { src: "/assets/icon.svg", alt: "", width: 28, height: 28 }), "Heddle"),
    h("p.hint", {}, "An account of the server with the privilege PROCESS."),
    note, h("label", {}, "User", user), h("label", {}, "Password", password), button));
  user.focus();
}

function enter(answer) {
  login = answer;
  setToken(answer.csrf);
  const links = PAGES.map(([name, title]) => h("a", { href: `#/${name}`, "data-page": name }, title));
  const out = async () => {
    await post("logout").catch(() => {});
    showLogin();
  };
  replace(app,
    h("header", {}, h("a.brand", { href: "#/now" }, h("img", { src: "/assets/icon.svg", alt: "", width: 22, height: 22 }), "Heddle"),
      h("nav", {}, links), h("span.grow"), h("small.who", { title: answer.version }, answer.account),
      h("button.small", { onclick: turnColors, title: "Light or dark" }, "◐"), h("button.small", { onclick: out }, "Log out")),
    h("main", { id: "main" }));
  route();
}

function route() {
  if (!login) return;
  leave();
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const inner = INNER[path];
  const chosen = inner ? inner[1] : PAGES.some(([name]) => name === path) ? path : "now";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.page === chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const make = inner ? inner[0] : PAGES.find(([name]) => name === chosen)[2];
  current = make(new URLSearchParams(query ?? ""));
  replace(document.getElementById("main"), current.page);
  document.title = `${PAGES.find(([name]) => name === chosen)[1]} · Heddle`;
}

function turnColors() {
  const isDark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
  const next = isDark ? "light" : "dark";
  document.documentElement.dataset.colors = next;
  localStorage.setItem("colors", next);
}

const kept = localStorage.getItem("colors");
if (kept) document.documentElement.dataset.colors = kept;
onLoggedOut(() => { if (login) showLogin("The login is over."); });
window.addEventListener("hashchange", route);
get("session").then(enter, () => showLogin());
