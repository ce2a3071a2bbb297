// One call of the telephone: who it is, what can be done, how loud it is, and how well it goes, as this browser and as the gateway measure it.
import { callPath, get } from "./api.js";
import { el, foreign, setText, table } from "./dom.js";
import { age, figure, t } from "./words.js";

const measures = [["packets", ""], ["lossPercent", " %"], ["jitter", " ms"], ["mos", ""]];
const number = (value, unit) => el("td", { class: "number" }, value === undefined || value === null ? "–" : figure(value, unit));

export class PhoneCard {
  speaker = el("audio", { autoplay: true });
  #heading = el("h3");
  #state = el("p", { role: "status" });
  #acts = el("div", { class: "acts" });
  #levels = { outgoing: this.#meter("microphone"), incoming: this.#meter("farEnd") };
  #figures = el("tbody");
  #details;
  #looks = 0;
  #gatewayCall;

  constructor(call, phone) {
    [this.call, this.phone] = [call, phone];
    const remote = call.remote;
    this.#heading.replaceChildren(foreign(remote.name || remote.user), remote.name ? el("span", { class: "quiet" }, " ", foreign(remote.user)) : "");
    const heads = [t("direction"), t("measuredBy"), t("packets"), t("loss"), t("jitter"), t("mos"), t("roundTrip"), t("codec")];
    this.#details = el("div", { hidden: true },
      el("div", { class: "meters" }, Object.values(this.#levels).flatMap(({ label, meter }) => [label, meter])),
      el("details", {}, el("summary", {}, t("quality")), table(t("quality"), heads, this.#figures)));
    this.element = el("article", { class: "card", "data-call": call.callID }, this.#heading, this.#state, this.#acts, this.#details, this.speaker);
  }

  #meter(name) {
    const id = `level-${name}-${Math.random().toString(36).slice(2)}`;
    return { label: el("label", { for: id }, t(name)), meter: el("meter", { id, min: 0, max: 1, value: 0 }) };
  }

  draw() {
    const { call } = this;
    this.element.dataset.state = call.state;
    this.#details.hidden = call.state !== "connected";
    this.#drawState();
    const others = this.#others().map(other => other.callID).join();
    const key = [call.state, call.isHeld, call.isMuted, others].join();
    if (this.#acts.dataset.key === key) return;
    const focused = this.#acts.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    this.#acts.dataset.key = key;
    this.#acts.replaceChildren(...this.#buttons());
    if (focused) (this.#acts.querySelector(`[data-act=${focused}]`) ?? this.#acts.querySelector("button"))?.focus();
  }

  #drawState() {
    const { call } = this;
    const marks = call.state === "connected" ? [call.isHeld && "onHold", call.isHeldByRemote && "heldByRemote", call.isMuted && "muted"].filter(Boolean) : [];
    const words = [t(`phone.${call.state}`), ...marks.map(mark => t(mark))].join(", ");
    const reason = call.state === "ended" ? `: ${t(`phone.${call.reason}`) === `phone.${call.reason}` ? call.reason : t(`phone.${call.reason}`)}` : "";
    setText(this.#state, words + reason + (call.state === "connected" ? ` ${age((Date.now() - call.connected) / 1_000)}` : ""));
  }

  #others() {
    return [...(this.phone.agent?.calls.values() ?? [])].filter(other => other !== this.call && other.state === "connected");
  }

  #buttons() {
    const { call } = this;
    const button = (act, press, attributes = {}) => el("button", { type: "button", "data-act": act, onclick: press, ...attributes }, t(act));
    if (call.state === "incoming") {
      return [
        button("answer", async () => { await this.phone.holdOthers(call); call.answer(); }, { class: "go" }),
        button("decline", () => call.hangUp(), { class: "danger" }),
      ];
    }
    if (call.state === "ended") return [];
    const hangUp = button("hangUp", () => call.hangUp(), { class: "danger" });
    if (call.state !== "connected") return [hangUp];
    return [
      hangUp, button(call.isHeld ? "resume" : "hold", () => this.#hold(!call.isHeld)),
      button(call.isMuted ? "unmute" : "mute", () => call.mute(!call.isMuted)), this.#transferForm(),
      ...this.#others().map(other => el("button", { type: "button", "data-act": "connect", onclick: () => this.#transfer("", other) },
        t("connectWith", (other.remote.name || other.remote.user).slice(0, 40)))),
    ];
  }

  async #hold(isHeld) {
    if (!isHeld) await this.phone.holdOthers(this.call);
    if (!(await this.call.hold(isHeld))) this.phone.say(t("failed", t(isHeld ? "hold" : "resume"), t("refusedThere")), true);
  }

  #transferForm() {
    const input = el("input", { type: "tel", id: `transfer-${this.call.callID}`, size: "10", required: true, autocomplete: "off" });
    return el("form", { onsubmit: event => { event.preventDefault(); this.#transfer(input.value); } },
      el("label", { for: input.id }, t("transferTo"), " "), input, el("button", { type: "submit" }, t("transfer")));
  }

  async #transfer(target, other = null) {
    this.phone.say(t("goesOn", t("transfer")));
    const status = await this.call.transfer(target, other);
    this.phone.say(status < 300 ? t("done", t("transfer")) : t("failed", t("transfer"), status), status >= 300);
  }

  // MARK: Measurements

  /** Four times a second: the levels; once a second the rest. */
  async measure() {
    const { call } = this;
    if (call.state !== "connected" || !call.media) return;
    const own = await call.media.measure().catch(() => null);
    if (!own) return;
    for (const [direction, { meter }] of Object.entries(this.#levels)) meter.value = Math.sqrt(own[direction]?.level ?? 0);
    if (this.#looks++ % 4 !== 0) return;
    this.#drawState();
    const theirs = await this.#gatewayFigures().catch(() => null);
    const row = (direction, by, figures, leg) => el("tr", { "data-by": by },
      el("td", {}, t(direction === "incoming" ? "toHere" : "fromHere")), el("td", {}, t(by)),
      ...measures.map(([name, unit]) => number(figures?.[name], unit)), number(leg?.roundTrip, " ms"), el("td", {}, foreign(leg?.codec ?? "–")));
    this.#figures.replaceChildren(...["incoming", "outgoing"].flatMap(direction => [
      row(direction, "browser", own[direction], own),
      // The gateway's incoming stream is our outgoing one.
      ...(theirs ? [row(direction, "gateway", theirs[direction === "incoming" ? "outgoing" : "incoming"], theirs)] : []),
    ]));
  }

  /** The gateway's own figures of the call, where the page has a login that may read them; null where not. */
  async #gatewayFigures() {
    if (this.#gatewayCall === null) return null;
    if (!this.#gatewayCall) {
      const { calls } = await get("/v1/calls").catch(() => ({ calls: null }));
      const found = calls?.find(({ sipCallID }) => sipCallID === this.call.callID);
      if (!found) return void (this.#gatewayCall = calls && this.#looks < 20 ? undefined : null);
      this.#gatewayCall = found.id;
    }
    const { legs } = await get(callPath(this.#gatewayCall, "/statistics"));
    return legs.find(leg => leg.call === this.#gatewayCall) ?? null;
  }
}
