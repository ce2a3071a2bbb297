// Calls now, and those that ended last. Rows are kept and changed: 500 of them stay smooth.
import { callPath, gatewayNow } from "./api.js";
import { el, foreign, setText, short, table } from "./dom.js";
import { isBad } from "./live.js";
import { age, figure, t } from "./words.js";

const mostRows = 500;

/** The two ends of a call, as people name them. */
export function ends(call) {
  const from = call.from ?? (call.isOutgoing ? call.line : call.handle), to = call.to ?? (call.isOutgoing ? call.handle : call.line);
  return [from, to].map(readable);
}

/** A From or To without its marks: the name and the address, or the address alone. */
function readable(field) {
  const text = String(field ?? "–").slice(0, 4_096), parts = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<"]*?))\s*<sips?:([^>;]*)/.exec(text);
  if (!parts) return short(text.replace(/^sips?:/, ""));
  const name = (parts[1]?.replace(/\\(.)/g, "$1") ?? parts[2] ?? "").trim();
  return short(name ? `${name} (${parts[3]})` : parts[3]);
}

export function stateWords(call) {
  const marks = [call.isOnHold && "onHold", call.isHeldByRemote && "heldByRemote", call.isMuted && "muted"].filter(Boolean);
  return [call.state, ...marks].map(key => t(key)).join(", ");
}

export function soundWords(call) {
  if (call.state !== "connected") return call.quality?.mos === undefined ? "–" : `${t("mos")} ${figure(call.quality.mos)}`;
  return call.flows === true ? t("flows") : call.flows === false && !call.isOnHold ? t("noMedia") : "–";
}

export function showCalls(place, page) {
  const body = el("tbody"), endedBody = el("tbody"), rows = new Map();
  const none = el("p", { class: "quiet" }, t("noCalls")), count = el("span", { class: "count" });
  const filter = el("input", { type: "search", id: "filter", oninput: () => drawAll() });
  const actHeads = [t("state"), t("line"), t("from"), t("to"), t("duration"), t("sound"), t("codec"), t("acts")];
  place.append(
    el("h1", {}, t("callsNow"), " ", count),
    el("p", {}, el("label", { for: "filter" }, t("filter"), " "), filter),
    table(t("callsNow"), actHeads, body), none,
    el("h2", {}, t("endedCalls")),
    table(t("endedCalls"), [t("state"), t("line"), t("from"), t("to"), t("duration"), t("reason"), t("status"), t("quality")], endedBody));

  const suits = call => {
    const wanted = filter.value.trim().toLowerCase();
    return wanted === "" || [call.line, ...ends(call), stateWords(call)].some(text => text.toLowerCase().includes(wanted));
  };

  function row(call) {
    const [from, to] = ends(call);
    const cells = { state: el("td"), duration: el("td", { class: "number" }), sound: el("td"), codec: el("td"), hold: null };
    const act = (key, rest, content = {}) => () => page.act(t(key), "POST", callPath(call.id, rest), { wait: "performed", ...content });
    cells.hold = page.button(t("hold"), "control", () => act(call.isOnHold ? "resume" : "hold", "/hold", { onHold: !call.isOnHold })());
    cells.row = el("tr", { "data-call": call.id },
      cells.state, el("td", {}, foreign(call.line)),
      el("td", {}, el("a", { href: `#/call/${call.id}`, "aria-label": t("open", from) }, foreign(from))), el("td", {}, foreign(to)),
      cells.duration, cells.sound, cells.codec,
      el("td", { class: "acts" }, cells.hold, page.button(t("hangUp"), "control", act("hangUp", "/end"), { class: "danger" })));
    return cells;
  }

  function draw(call) {
    let cells = rows.get(call.id);
    if (!cells || cells.named !== ends(call).join()) {
      const fresh = row(call);
      if (cells) cells.row.replaceWith(fresh.row);
      else body.append(fresh.row);
      rows.set(call.id, cells = fresh);
      cells.named = ends(call).join();
    }
    cells.row.hidden = !suits(call);
    setText(cells.state, stateWords(call));
    setText(cells.sound, soundWords(call));
    setText(cells.codec, call.codec ?? "–");
    setText(cells.hold, t(call.isOnHold ? "resume" : "hold"));
    cells.hold.disabled = call.state !== "connected" || !page.may("control");
    drawAge(call, cells);
  }

  function drawAge(call, cells) {
    const now = gatewayNow();
    setText(cells.duration, age((now - Date.parse(call.connected ?? call.began)) / 1_000));
    cells.row.classList.toggle("bad", isBad(call, now));
  }

  function drawEnded() {
    const now = gatewayNow();
    endedBody.replaceChildren(...page.live.ended.filter(suits).slice(0, 50).map(call => {
      const [from, to] = ends(call), talked = call.connected ? (Date.parse(call.ended) - Date.parse(call.connected)) / 1_000 : null;
      return el("tr", { class: isBad(call, now) ? "bad" : null, "data-call": call.id },
        el("td", {}, t("ended")), el("td", {}, foreign(call.line)),
        el("td", {}, el("a", { href: `#/call/${call.id}`, "aria-label": t("open", from) }, foreign(from))), el("td", {}, foreign(to)),
        el("td", { class: "number" }, talked === null ? "–" : age(talked)), el("td", {}, call.endReason ?? "–"),
        el("td", { class: "number" }, String(call.sipStatus ?? "–")), el("td", {}, soundWords(call)));
    }));
  }

  function drawAll() {
    for (const [id, cells] of rows) {
      if (!page.live.calls.has(id)) {
        cells.row.remove();
        rows.delete(id);
      }
    }
    for (const call of page.live.calls.values()) if (rows.has(call.id) || rows.size < mostRows) draw(call);
    finish();
  }

  function finish() {
    const all = page.live.calls.size;
    setText(count, all > mostRows ? `${mostRows} / ${all}` : String(all));
    none.hidden = all > 0;
  }

  let drewEnded = 0;
  function update(changed) {
    for (const id of changed) {
      const call = page.live.calls.get(id);
      if (call && (rows.has(id) || rows.size < mostRows)) draw(call);
      else if (!call && rows.has(id)) {
        rows.get(id).row.remove();
        rows.delete(id);
      }
    }
    if (changed.size > 0 && performance.now() - drewEnded > 500) {
      drewEnded = performance.now();
      drawEnded();
    }
    finish();
  }

  drawAll();
  drawEnded();
  const stop = page.live.listen(update);
  const timer = setInterval(() => {
    for (const [id, cells] of rows) if (page.live.calls.has(id)) drawAge(page.live.calls.get(id), cells);
    if (performance.now() - drewEnded > 500) drawEnded();
  }, 1_000);
  return { close: () => { stop(); clearInterval(timer); } };
}
