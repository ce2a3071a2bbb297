// One call: its ladder as it grows, its quality over time in both directions, and what can be done with it.
import { callPath, gatewayNow, get, mailboxPath } from "./api.js";
import { ends, stateWords } from "./calls.js";
import { el, foreign, setText, short, svg, table } from "./dom.js";
import { age, date, figure, t } from "./words.js";

const mostPoints = 600;

export function showCall(place, page, id) {
  let call = page.live.calls.get(id) ?? page.live.ended.find(call => call.id === id) ?? null;
  const heading = el("h1", {}, t("call")), facts = el("dl", { class: "facts" }), acts = el("div", { class: "acts" });
  const ladder = el("img", { alt: t("ladder"), class: "ladder" }), ladderText = el("pre", { hidden: true, tabindex: "0" });
  const chart = svg("svg", { viewBox: "0 0 600 160", class: "chart", role: "img", "aria-label": t("overTime") });
  const legend = el("p", { class: "legend" },
    el("span", { class: "incoming" }, t("incoming")), " ", el("span", { class: "outgoing" }, t("outgoing")));
  const statistics = el("tbody"), recordings = el("ul", { class: "sounds" });
  const asText = el("button", { type: "button", "aria-pressed": "false", onclick: () => chooseText(ladderText.hidden) }, t("ladderAsText"));
  place.append(heading, facts, acts,
    el("section", {}, el("h2", {}, t("ladder")), asText, ladder, ladderText,
      el("p", { class: "links" },
        el("a", { href: callPath(id, "/ladder?format=html"), target: "_blank", rel: "noopener" }, t("ticketPage")), " · ",
        el("a", { href: callPath(id, "/pcap") }, t("pcap")), " · ",
        el("a", { href: callPath(id, "/journal"), target: "_blank", rel: "noopener" }, t("journal")))),
    el("section", {}, el("h2", {}, t("overTime")), chart, legend,
      table(t("quality"), [t("leg"), t("direction"), t("heard"), t("packets"), t("loss"), t("jitter"), t("mos"), t("roundTrip")], statistics)),
    el("section", {}, el("h2", {}, t("recordings")), recordings));

  function chooseText(isText) {
    [ladder.hidden, ladderText.hidden] = [isText, !isText];
    asText.setAttribute("aria-pressed", String(isText));
    drawLadder();
  }

  // MARK: Facts and acts

  function drawFacts() {
    if (!call) return;
    const [from, to] = ends(call);
    heading.replaceChildren(foreign(from), " → ", foreign(to));
    const end = call.ended ? Date.parse(call.ended) : gatewayNow();
    const entries = [
      [t("state"), stateWords(call)], [t("line"), call.line], [t("began"), date(call.began)], [t("ends"), date(call.ended)],
      [t("duration"), call.connected ? age((end - Date.parse(call.connected)) / 1_000) : "–"], [t("codec"), call.codec ?? "–"],
      [t("status"), String(call.sipStatus ?? "–")], [t("reason"), call.endReason ?? "–"], [t("sipCallID"), call.sipCallID ?? "–"],
    ];
    facts.replaceChildren(...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, foreign(value))]));
    const key = [call.state, call.isOnHold, call.isMuted].join();
    if (acts.dataset.key !== key) drawActs(key);
  }

  function drawActs(key) {
    acts.dataset.key = key;
    acts.replaceChildren();
    if (call.state === "ended") return;
    const act = (name, rest, content = {}) => page.act(t(name), "POST", callPath(id, rest), { wait: "performed", ...content });
    const form = (name, label, rest, content) => {
      const input = el("input", { type: "text", id: name, required: true, autocomplete: "off", size: "12" });
      return el("form", { onsubmit: event => { event.preventDefault(); act(label, rest, content(input.value.trim())); input.value = ""; } },
        el("label", { for: name }, t(label === "transfer" ? "transferTo" : label), " "), input,
        page.button(t(label === "transfer" ? "transfer" : "send"), "control", null, { type: "submit" }));
    };
    if (call.state === "connected") {
      acts.append(
        page.button(t(call.isOnHold ? "resume" : "hold"), "control",
          () => act(call.isOnHold ? "resume" : "hold", "/hold", { onHold: !call.isOnHold })),
        page.button(t(call.isMuted ? "unmute" : "mute"), "control",
          () => act(call.isMuted ? "unmute" : "mute", "/mute", { muted: !call.isMuted })),
        form("transfer-to", "transfer", "/transfer", to => ({ to, wait: undefined })),
        form("digits", "digits", "/digits", digits => ({ digits })));
    }
    acts.append(page.button(t("hangUp"), "control", () => act("hangUp", "/end"), { class: "danger" }));
  }

  // MARK: The ladder

  let ladderDue = 0;
  async function drawLadder() {
    ladderDue = 0;
    if (ladderText.hidden) return void (ladder.src = callPath(id, `/ladder?format=svg&at=${Date.now()}`));
    setText(ladderText, await get(callPath(id, "/ladder?width=120")).catch(problem => problem.message));
  }
  ladder.onerror = () => ladder.classList.add("gone");
  ladder.onload = () => ladder.classList.remove("gone");

  // MARK: Quality

  const points = [];
  async function drawQuality() {
    let legs;
    try {
      ({ legs } = await get(callPath(id, "/statistics")));
    } catch {
      return;
    }
    const own = legs.find(leg => leg.call === id) ?? legs[0];
    if (own?.isUp) {
      points.push({ incoming: own.incoming?.mos, outgoing: own.outgoing?.mos, loss: own.incoming?.lossPercent });
      if (points.length > mostPoints) points.shift();
    }
    drawChart();
    statistics.replaceChildren(...legs.flatMap(leg => ["incoming", "outgoing"].filter(name => leg[name]).map(name => {
      const stream = leg[name];
      return el("tr", {}, el("td", {}, foreign(`${leg.line} ${leg.codec ?? ""}`)), el("td", {}, t(name)), el("td", {}, stream.heard ?? "–"),
        ...[stream.packets, [stream.lossPercent, " %"], [stream.jitter, " ms"], stream.mos, [leg.roundTrip, " ms"]].map(value =>
          el("td", { class: "number" }, figure(...[value].flat()))));
    })));
  }

  /** MOS from 1 to 5 by the second, of both directions; loss as bars. */
  function drawChart() {
    const width = 600, height = 140, step = width / Math.max(60, points.length - 1);
    const y = mos => height - ((mos - 1) / 4) * height + 10;
    const line = name => points.map((point, index) => (point[name] === undefined ? null : `${(index * step).toFixed(1)},${y(point[name]).toFixed(1)}`))
      .filter(Boolean).join(" ");
    chart.replaceChildren(
      ...[1, 2, 3, 4, 5].map(mos => svg("line", { class: "grid", x1: 0, x2: width, y1: y(mos), y2: y(mos) })),
      ...[1, 3, 5].map(mos => svg("text", { x: 2, y: y(mos) - 2 }, `${t("mos")} ${mos}`)),
      ...points.map((point, index) => point.loss > 0 && svg("rect", {
        class: "loss", x: index * step, width: Math.max(1, step - 1), y: height + 10 - Math.min(height, point.loss * 5), height: Math.min(height, point.loss * 5),
      })),
      svg("polyline", { class: "incoming", points: line("incoming") }), svg("polyline", { class: "outgoing", points: line("outgoing") }));
  }

  let drawnSounds = null;
  async function drawRecordings() {
    const { recordings: found } = await get(`/v1/recordings?call=${encodeURIComponent(id)}`).catch(() => ({ recordings: [] }));
    const message = await messageOfCall(), key = JSON.stringify([found, message]);
    // A player that is there plays on.
    if (key === drawnSounds) return;
    drawnSounds = key;
    const items = found.map(recording => el("li", {}, player(`/v1/recordings/${encodeURIComponent(recording.id)}`, short(recording.file)), foreign(recording.file)));
    if (message) items.push(messageItem(message));
    recordings.replaceChildren(...(items.length === 0 ? [el("li", { class: "quiet" }, t("noRecordings"))] : items));
  }

  const player = (path, name) => el("audio", { controls: true, preload: "none", src: path, "aria-label": name });

  /** The message that was left in this call; null: its line is no mailbox, or none was. */
  async function messageOfCall() {
    if (!call) return null;
    const { mailboxes } = await get("/v1/mailboxes").catch(() => ({ mailboxes: [] }));
    if (!mailboxes.some(mailbox => mailbox.line === call.line)) return null;
    const { messages } = await get(mailboxPath(call.line)).catch(() => ({ messages: [] }));
    return messages.find(message => message.id.toLowerCase() === id.toLowerCase()) ?? null;
  }

  function messageItem(message) {
    const path = mailboxPath(call.line, `/messages/${encodeURIComponent(message.id)}`);
    const mark = page.button(t(message.heard ? "markNew" : "markHeard"), "lines", async () => {
      await page.act(t(message.heard ? "markNew" : "markHeard"), "PATCH", path, { heard: !message.heard });
      drawRecordings();
    });
    return el("li", { "data-message": message.id }, player(path, t("messageIn", short(call.line))),
      el("span", {}, t("messageIn", short(call.line)), ", ", foreign(message.name ?? message.caller), ", ", age(message.duration), ", ",
        t(message.heard ? "heardMessage" : "newMessage")), mark);
  }

  // MARK: Updates

  const stop = page.live.listen(changed => {
    if (!changed.has(id)) return;
    call = page.live.calls.get(id) ?? page.live.ended.find(call => call.id === id) ?? call;
    drawFacts();
    if (!ladderDue) ladderDue = setTimeout(drawLadder, 300);
    if (call?.state === "ended") setTimeout(drawRecordings, 300);
  });
  const timer = setInterval(() => {
    drawFacts();
    if (call && call.state !== "ended") drawQuality();
  }, 1_000);
  (async () => {
    try {
      call = call ?? (await get(callPath(id)));
    } catch {
      heading.textContent = t("noCall");
    }
    drawFacts();
    drawLadder();
    drawQuality();
    drawRecordings();
  })();
  drawFacts();
  return { close: () => { stop(); clearInterval(timer); clearTimeout(ladderDue); } };
}
