// Calls now, and those that ended last. Rows in sight are kept and changed: 500 calls stay smooth.
import { callPath, gatewayNow } from "./api.js";
import { el, foreign, setText, short, table } from "./dom.js";
import { isBad } from "./live.js";
import { LongTable } from "./long-table.js";
import { age, figure, t } from "./words.js";

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
  const body = el("tbody"), endedBody = el("tbody"), cells = new Map();
  const none = el("p", { class: "quiet" }, t("noCalls")), count = el("span", { class: "count" });
  const filter = el("input", { type: "search", id: "filter", oninput: () => drawAll() });
  const actHeads = [t("state"), t("line"), t("from"), t("to"), t("duration"), t("sound"), t("codec"), t("acts")];
  const region = table(t("callsNow"), actHeads, body);
  place.append(
    el("h1", {}, t("callsNow"), " ", count),
    el("p", {}, el("label", { for: "filter" }, t("filter"), " "), filter),
    region, none,
    el("h2", {}, t("endedCalls")),
    table(t("endedCalls"), [t("state"), t("line"), t("from"), t("to"), t("duration"), t("reason"), t("status"), t("quality")], endedBody));
  const long = new LongTable(region, body, id => {
    const call = page.live.calls.get(id) ?? { id, state: "ended" };
    cells.set(id, row(call));
    draw(call, cells.get(id));
    return cells.get(id).row;
  });

  /** Its line, and the gateway that has it where there are several. */
  const where = ({ line, node }) => (node ? `${line} · ${node}` : line);

  const suits = call => {
    const wanted = filter.value.trim().toLowerCase();
    return wanted === "" || [where(call), ...ends(call), stateWords(call)].some(text => text.toLowerCase().includes(wanted));
  };

  function row(call) {
    const [from, to] = ends(call);
    const cells = { state: el("td"), duration: el("td", { class: "number" }), sound: el("td"), codec: el("td"), hold: null, named: `${from},${to}` };
    const now = () => page.live.calls.get(call.id) ?? call;
    const act = (key, rest, content = {}) => () => page.act(t(key), "POST", callPath(call.id, rest), { wait: "performed", ...content });
    cells.hold = page.button(t("hold"), "control", () => act(now().isOnHold ? "resume" : "hold", "/hold", { onHold: !now().isOnHold })());
    cells.row = el("tr", { "data-call": call.id },
      cells.state, el("td", {}, foreign(where(call))),
      el("td", {}, el("a", { href: `#/call/${call.id}`, "aria-label": t("open", from) }, foreign(from))), el("td", {}, foreign(to)),
      cells.duration, cells.sound, cells.codec,
      el("td", { class: "acts" }, cells.hold, page.button(t("hangUp"), "control", act("hangUp", "/end"), { class: "danger" })));
    return cells;
  }

  function draw(call, cells) {
    setText(cells.state, stateWords(call));
    setText(cells.sound, soundWords(call));
    setText(cells.codec, call.codec ?? "–");
    setText(cells.hold, t(call.isOnHold ? "resume" : "hold"));
    const isDead = call.state !== "connected" || !page.may("control");
    if (cells.hold.disabled !== isDead) cells.hold.disabled = isDead;
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
        el("td", {}, t("ended")), el("td", {}, foreign(where(call))),
        el("td", {}, el("a", { href: `#/call/${call.id}`, "aria-label": t("open", from) }, foreign(from))), el("td", {}, foreign(to)),
        el("td", { class: "number" }, talked === null ? "–" : age(talked)), el("td", {}, call.endReason ?? "–"),
        el("td", { class: "number" }, String(call.sipStatus ?? "–")), el("td", {}, soundWords(call)));
    }));
  }

  /** Rows of calls that changed, and which calls there are. */
  function drawAll(changed = null) {
    const all = page.live.calls;
    for (const id of changed ?? [...long.rows.keys()]) {
      const call = all.get(id);
      if (!call || !long.rows.has(id)) continue;
      if (cells.get(id).named === ends(call).join()) draw(call, cells.get(id));
      else long.renew(id);
    }
    long.show(filter.value.trim() === "" ? [...all.keys()] : [...all.values()].filter(suits).map(({ id }) => id));
    for (const id of cells.keys()) if (!long.rows.has(id)) cells.delete(id);
    setText(count, String(all.size));
    if (none.hidden !== all.size > 0) none.hidden = all.size > 0;
  }

  let drewEnded = 0;
  function update(changed) {
    if (changed.size === 0) return;
    drawAll(changed);
    if (performance.now() - drewEnded <= 500) return;
    drewEnded = performance.now();
    drawEnded();
  }

  drawAll();
  drawEnded();
  const stop = page.live.listen(update);
  const timer = setInterval(() => {
    for (const id of long.rows.keys()) if (page.live.calls.has(id)) drawAge(page.live.calls.get(id), cells.get(id));
    if (performance.now() - drewEnded > 500) drawEnded();
  }, 1_000);
  return { close: () => { stop(); clearInterval(timer); long.close(); } };
}
