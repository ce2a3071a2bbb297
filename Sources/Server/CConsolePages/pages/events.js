// The events as they come.
import { el, foreign, table } from "./dom.js";
import { t } from "./words.js";

const mostShown = 200;

export function showEvents(place, page) {
  const body = el("tbody"), filter = el("input", { type: "search", id: "event-filter", oninput: () => draw() });
  let isPaused = false, drawn = null;
  const pause = el("button", {
    type: "button", "aria-pressed": "false",
    onclick: () => {
      isPaused = !isPaused;
      pause.setAttribute("aria-pressed", String(isPaused));
      pause.textContent = t(isPaused ? "goOn" : "pause");
      draw();
    },
  }, t("pause"));
  place.append(el("h1", {}, t("events")),
    el("p", {}, el("label", { for: "event-filter" }, t("filter"), " "), filter, " ", pause),
    table(t("events"), [t("time"), t("type"), t("line"), t("call"), t("details")], body));

  function draw() {
    const wanted = filter.value.trim().toLowerCase(), rows = [], events = page.live.events;
    for (let index = events.length - 1; index >= 0 && rows.length < mostShown; index -= 1) {
      const event = events[index], details = JSON.stringify(event.data);
      if (wanted && ![event.type, event.line, event.call, details].some(text => text?.toLowerCase().includes(wanted))) continue;
      rows.push(el("tr", { class: event.type === "violation" ? "bad" : null },
        el("td", {}, event.time.slice(11, 23)), el("td", {}, event.type), el("td", {}, foreign(event.line ?? "")),
        el("td", {}, event.call ? el("a", { href: `#/call/${event.call}` }, event.call.slice(0, 8)) : ""), el("td", { class: "details" }, foreign(details))));
    }
    body.replaceChildren(...rows);
    drawn = events.at(-1)?.id;
  }

  draw();
  const timer = setInterval(() => { if (!isPaused && drawn !== page.live.events.at(-1)?.id) draw(); }, 250);
  return { close: () => clearInterval(timer) };
}
