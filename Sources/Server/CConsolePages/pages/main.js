// The frame of the page: login, views, and messages.
import { ask, get, Problem } from "./api.js";
import { el } from "./dom.js";
import { Live } from "./live.js";
import { t } from "./words.js";
import { showCalls } from "./calls.js";
import { showCall } from "./call.js";
import { showLines, showRecents } from "./lines.js";
import { showTrunks } from "./trunks.js";
import { showEvents } from "./events.js";
import { showServer } from "./server.js";
import { showLoad } from "./load.js";
import { showSettings } from "./settings.js";

const views = {
  calls: showCalls, call: showCall, lines: showLines, recents: showRecents, trunks: showTrunks, events: showEvents,
  load: showLoad, settings: showSettings, server: showServer,
};
const inMenu = ["calls", "lines", "trunks", "events", "load", "settings", "server"];

/** What all views share: the live calls, the rights, and acts whose outcome is shown. */
class Console {
  live = new Live();

  constructor(access) {
    this.access = access;
  }

  may(scope) {
    return this.access.scopes.includes(scope);
  }

  /** Does something, and says what became of it. */
  async act(words, method, path, body) {
    try {
      const outcome = await ask(method, path, body);
      const failed = outcome?.actions?.find(action => action.error ?? action.state === "failed");
      if (outcome?.state === "failed") say(t("failed", words, failed?.error ?? outcome.state), true);
      else say(t(outcome?.state === "accepted" ? "goesOn" : "done", words));
      return outcome;
    } catch (problem) {
      say(t("failed", words, problem.message), true);
      return null;
    }
  }

  /** A button for an act, dead where the login has not the right for it. */
  button(words, scope, press, attributes = {}) {
    const mayNot = !this.may(scope);
    return el("button", { type: "button", disabled: mayNot, title: mayNot ? t("noRight", scope) : null, onclick: press, ...attributes }, words);
  }
}

const message = el("p", { role: "status", "aria-live": "polite", class: "message" });
let messageTimer;

function say(words, isBad = false) {
  message.textContent = words;
  message.classList.toggle("bad", isBad);
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => (message.textContent = ""), 8_000);
}

let page = null, shown = null;

function frame() {
  const state = el("span", { class: "state", role: "status" });
  const main = el("main", { id: "content", tabindex: "-1" });
  const links = [...inMenu.map(name => el("a", { href: `#/${name}` }, t(name))), el("a", { href: "/phone" }, t("phone"))];
  document.body.replaceChildren(
    el("a", { href: "#content", class: "skip", onclick: event => { event.preventDefault(); main.focus(); } }, t("skip")),
    el("header", {},
      el("strong", {}, "Hookswitch"),
      el("nav", { "aria-label": t("views") }, links),
      state,
      page.access.name ? el("button", { type: "button", onclick: logOut }, t("logOut")) : null),
    main, message);
  page.live.listen(() => {
    state.textContent = t(page.live.state);
    state.dataset.state = page.live.state;
  });
  return { main, links };
}

function route(parts) {
  const [name, ...parameters] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  shown?.close?.();
  const view = views[name] ? name : "calls";
  for (const link of parts.links) {
    if (link.getAttribute("href") === `#/${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  parts.main.replaceChildren();
  shown = views[view](parts.main, page, ...parameters);
  document.title = `${parts.main.querySelector("h1")?.textContent ?? ""} – Hookswitch`;
}

function logIn() {
  const token = el("input", { type: "password", id: "token", autocomplete: "current-password", required: true });
  const wrong = el("p", { role: "alert", class: "bad" });
  document.body.replaceChildren(el("main", { class: "login" },
    el("h1", {}, "Hookswitch"),
    el("form", {
      onsubmit: async event => {
        event.preventDefault();
        try {
          await ask("POST", "/v1/login", { token: token.value.trim() });
          await begin();
        } catch (problem) {
          wrong.textContent = problem instanceof Problem && problem.status === 401 ? t("wrongToken") : problem.message;
        }
      },
    },
    el("label", { for: "token" }, t("token")), token, el("button", {}, t("logIn")), el("p", { class: "quiet" }, t("tokenHelp")), wrong)));
  token.focus();
}

async function logOut() {
  await ask("DELETE", "/v1/login").catch(() => null);
  end();
  logIn();
}

function end() {
  shown?.close?.();
  page?.live.close();
  page = shown = null;
}

let stopRouting = () => {};

async function begin() {
  let access;
  try {
    access = await get("/v1/access");
  } catch (problem) {
    if (problem.status === 401) return logIn();
    return void setTimeout(begin, 1_000);
  }
  page = new Console(access);
  const parts = frame(), go = () => route(parts);
  stopRouting();
  window.addEventListener("hashchange", go);
  stopRouting = () => window.removeEventListener("hashchange", go);
  go();
  page.live.begin();
}

window.addEventListener("login-needed", () => {
  if (!page) return;
  end();
  logIn();
});
begin();
