// Lines and their devices, and the recent calls of a line.
import { get, linePath } from "./api.js";
import { el, foreign, replaceRows, table } from "./dom.js";
import { date, t } from "./words.js";

export function showLines(place, page) {
  const body = el("tbody");
  place.append(el("h1", {}, t("lines")), startForm(page),
    table(t("lines"), [t("number"), t("name"), t("kind"), t("devices"), t("calls"), t("dnd"), t("recents", "…")], body));

  async function draw() {
    const { lines } = await get("/v1/lines").catch(() => ({ lines: null }));
    if (!lines) return;
    replaceRows(body, lines.map(line => el("tr", { "data-row": line.number },
      el("td", {}, foreign(line.number)), el("td", {}, foreign(line.name ?? "–")), el("td", {}, line.kind),
      el("td", {}, line.kind !== "devices" ? "–" : line.devices.length === 0 ? t("noDevices") : el("ul", {}, line.devices.map(device =>
        el("li", {}, foreign(device.contact), " ", el("span", { class: "quiet" }, foreign(device.agent ?? ""), " ", t("expires", device.expires)))))),
      el("td", { class: "number" }, String(line.calls)), el("td", {}, line.kind === "devices" ? doNotDisturb(line) : "–"),
      el("td", {}, el("a", { href: `#/recents/${encodeURIComponent(line.number)}` }, t("recents", line.number))))));
  }

  function doNotDisturb(line) {
    return el("input", {
      type: "checkbox", checked: line.doNotDisturb, disabled: !page.may("lines"), "aria-label": `${t("dnd")} ${line.number}`,
      onchange: async event => {
        await page.act(t("dnd"), "PUT", linePath(line.number, "/dnd"), { on: event.target.checked });
        draw();
      },
    });
  }

  return refreshed(page, draw, ["line.registered", "line.unregistered", "line.dnd", "server.reloaded", "call.ended", "call.incoming", "call.started"]);
}

function startForm(page) {
  const line = el("input", { type: "text", id: "start-line", required: true, size: "10", autocomplete: "off" });
  const to = el("input", { type: "text", id: "start-to", required: true, size: "16", autocomplete: "off" });
  return el("form", {
    class: "row",
    onsubmit: event => {
      event.preventDefault();
      page.act(t("startCall"), "POST", "/v1/calls", { line: line.value.trim(), to: to.value.trim(), wait: "accepted" });
    },
  },
  el("strong", {}, t("startCall")), el("label", { for: "start-line" }, t("line")), line, el("label", { for: "start-to" }, t("to")), to,
  page.button(t("start"), "control", null, { type: "submit" }));
}

export function showRecents(place, page, number) {
  const body = el("tbody"), none = el("p", { class: "quiet", hidden: true }, t("none"));
  place.append(el("h1", {}, t("recents", number)),
    table(t("recents", number), [t("time"), t("direction"), t("remote"), t("outcome"), t("reason"), t("acts")], body), none);

  async function draw() {
    const { recents } = await get(linePath(number, "/recents")).catch(() => ({ recents: [] }));
    none.hidden = recents.length > 0;
    replaceRows(body, recents.map(recent => el("tr", { "data-row": recent.id },
      el("td", {}, date(recent.began)), el("td", {}, t(recent.direction)), el("td", {}, foreign(recent.name ?? recent.handle)),
      el("td", {}, recent.outcome), el("td", {}, recent.reason),
      el("td", { class: "acts" }, page.button(t("callBack"), "control", () =>
        page.act(t("callBack"), "POST", linePath(number, `/recents/${encodeURIComponent(recent.id)}/call-back`), { wait: "accepted" }))))));
  }

  return refreshed(page, draw, ["call.ended"]);
}

/** Draws now, and again soon after events of these types. */
export function refreshed(page, draw, types) {
  let due = 0, seen = page.live.events.at(-1)?.id;
  draw();
  const stop = page.live.listen(() => {
    const events = page.live.events, fresh = events.slice(events.findLastIndex(({ id }) => id === seen) + 1);
    seen = events.at(-1)?.id;
    if (!due && fresh.some(({ type }) => types.includes(type))) due = setTimeout(() => { due = 0; draw(); }, 300);
  });
  const timer = setInterval(draw, 10_000);
  return { close: () => { stop(); clearInterval(timer); clearTimeout(due); } };
}
