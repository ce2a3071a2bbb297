// A telephone: a line of the gateway in this browser, over SIP on a WebSocket.
import { get } from "./api.js";
import { el, foreign, setText, short } from "./dom.js";
import { PhoneCard } from "./phone-card.js";
import { Ringer } from "./phone-ringer.js";
import { SipAgent } from "./sip-agent.js";
import { SipMedia } from "./sip-media.js";
import { token } from "./sip-message.js";
import { t } from "./words.js";

const keys = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"];
const mostEnded = 5;

class Phone {
  agent = null;
  cards = new Map();
  devices = { microphone: "", speaker: "", isProcessed: true };
  #ringer = new Ringer();
  #state = el("span", { class: "state", role: "status" });
  #message = el("p", { role: "status", "aria-live": "polite", class: "message" });
  #alert = el("p", { role: "alert", class: "unseen" });
  #calls = el("section", { "aria-label": t("calls") });
  #number = el("input", { type: "tel", id: "number", autocomplete: "off", required: true });
  #dialler = el("section", { hidden: true });
  #login = el("section");
  #messageTimer = 0;

  constructor(server) {
    this.server = server;
    const main = el("main", { class: "phone", id: "content", tabindex: "-1" }, el("h1", {}, t("phone")), this.#login, this.#dialler, this.#calls);
    document.body.replaceChildren(
      el("a", { href: "#content", class: "skip", onclick: event => { event.preventDefault(); main.focus(); } }, t("skip")),
      el("header", {}, el("strong", {}, "Hookswitch"), el("nav", { "aria-label": t("views") }, el("a", { href: "/" }, t("console"))), this.#state),
      main, this.#alert, this.#message);
    document.title = `${t("phone")} – Hookswitch`;
    this.#drawLogin();
    this.#drawDialler();
    addEventListener("pagehide", () => this.agent?.leave());
    setInterval(() => this.#measure(), 250);
  }

  say(words, isBad = false) {
    this.#message.textContent = words;
    this.#message.classList.toggle("bad", isBad);
    clearTimeout(this.#messageTimer);
    this.#messageTimer = setTimeout(() => (this.#message.textContent = ""), 8_000);
  }

  // MARK: The line

  #drawLogin() {
    const field = (id, label, attributes) => [el("label", { for: id }, t(label)), el("input", { id, type: "text", autocomplete: "off", ...attributes })];
    const kept = name => localStorage.getItem(`phone.${name}`) ?? "";
    const form = el("form", { class: "fields", onsubmit: event => { event.preventDefault(); this.#register(event.target.elements); } },
      field("line", "line", { required: true, value: kept("line"), autocomplete: "username" }),
      field("password", "password", { type: "password", autocomplete: "current-password" }),
      field("name", "name", { value: kept("name"), autocomplete: "name" }),
      field("domain", "domain", { required: true, value: kept("domain") || this.server.domain }),
      field("server", "server", { required: true, value: kept("server") || this.server.address, placeholder: "wss://…", inputmode: "url" }),
      el("button", { type: "submit" }, t("register")));
    this.#login.replaceChildren(this.server.address ? "" : el("p", { class: "bad" }, t("noWebSocket")), form);
  }

  #register({ line, password, name, domain, server }) {
    for (const input of [line, name, domain, server]) localStorage.setItem(`phone.${input.id}`, input.value.trim());
    const instance = sessionStorage.getItem("phone.instance") ?? (crypto.randomUUID?.() ?? token(16));
    sessionStorage.setItem("phone.instance", instance);
    const settings = {
      number: line.value.trim(), password: password.value, name: name.value.trim(), domain: domain.value.trim(), server: server.value.trim(), instance,
    };
    try {
      this.agent = new SipAgent(settings, {
        changed: call => this.#changed(call), called: call => this.#called(call), open: call => this.#open(call),
      });
      this.agent.start();
      this.#ringer.unlock();
    } catch (problem) {
      this.agent = null;
      this.say(problem.message, true);
    }
  }

  #logOut() {
    this.agent?.stop();
    this.agent = null;
    this.#drawState();
  }

  #drawState() {
    const state = this.agent?.state ?? "stopped", isRefused = state === "refused";
    if (isRefused) {
      this.say(t("failed", t("register"), this.agent.reason), true);
      this.agent.stop();
      this.agent = null;
    }
    const isOn = this.agent !== null;
    this.#state.dataset.state = state === "registered" ? "live" : state === "away" ? "away" : "";
    setText(this.#state, isOn ? `${this.agent.settings.number}: ${t(state)}` : t("stopped"));
    [this.#login.hidden, this.#dialler.hidden] = [isOn, !isOn];
  }

  // MARK: Calls

  #drawDialler() {
    const press = digit => {
      const call = this.#talking();
      if (call) call.sendDigits(digit);
      else this.#number.value += digit;
      if (call) this.say(t("sentDigits", digit));
    };
    const microphones = el("select", { id: "microphone", onchange: event => this.#choose("microphone", event.target.value) });
    const speakers = el("select", { id: "speaker", onchange: event => this.#choose("speaker", event.target.value) });
    const processed = el("input", { type: "checkbox", id: "processed", checked: true, onchange: event => this.#choose("isProcessed", event.target.checked) });
    this.#dialler.replaceChildren(
      el("form", { class: "row", onsubmit: event => { event.preventDefault(); this.#dial(this.#number.value); } },
        el("label", { for: "number" }, t("number")), this.#number, el("button", { type: "submit", class: "go" }, t("start")),
        el("button", { type: "button", onclick: () => this.#logOut() }, t("unregister"))),
      el("div", { class: "keypad", role: "group", "aria-label": t("keypad") },
        keys.map(key => el("button", { type: "button", "aria-label": t("key", key), onclick: () => press(key) }, key))),
      el("fieldset", {}, el("legend", {}, t("devices")),
        el("div", { class: "fields" }, el("label", { for: "microphone" }, t("microphone")), microphones, el("label", { for: "speaker" }, t("speaker")), speakers,
          el("label", { for: "processed" }, t("processed")), processed)));
    this.#listDevices = async () => {
      const devices = await navigator.mediaDevices?.enumerateDevices?.().catch(() => []) ?? [];
      for (const [select, kind] of [[microphones, "audioinput"], [speakers, "audiooutput"]]) {
        const found = devices.filter(device => device.kind === kind && device.deviceId !== ""), chosen = select.value;
        select.replaceChildren(el("option", { value: "" }, t("usualDevice")),
          ...found.filter(({ deviceId }) => deviceId !== "default").map(({ deviceId, label }) => el("option", { value: deviceId }, short(label))));
        select.value = found.some(({ deviceId }) => deviceId === chosen) ? chosen : "";
      }
    };
    this.#listDevices();
    navigator.mediaDevices?.addEventListener?.("devicechange", () => this.#listDevices());
    this.#drawState();
  }

  #listDevices = () => {};

  async #choose(kind, value) {
    this.devices[kind] = value;
    const { microphone, speaker, isProcessed } = this.devices;
    for (const { media } of this.agent.calls.values()) {
      const change = kind === "speaker" ? media?.useSpeaker(speaker) : media?.useMicrophone(microphone, isProcessed);
      await change?.catch(problem => this.say(t("failed", t(kind === "speaker" ? kind : "microphone"), problem.message), true));
    }
  }

  async #open(call) {
    const speaker = this.#card(call).speaker;
    const media = await SipMedia.open(speaker, this.devices.microphone, this.devices.isProcessed);
    if (this.devices.speaker) await media.useSpeaker(this.devices.speaker).catch(() => null);
    this.#listDevices();
    return media;
  }

  /** The call that is heard now. */
  #talking() {
    return [...(this.agent?.calls.values() ?? [])].find(call => call.state === "connected" && !call.isHeld);
  }

  /** One call is heard at a time: others are held. */
  async holdOthers(call) {
    for (const other of this.agent?.calls.values() ?? []) {
      if (other !== call && other.state === "connected" && !other.isHeld) await other.hold(true);
    }
  }

  async #dial(number) {
    if (this.agent.state !== "registered") return this.say(t("notRegistered"), true);
    this.#number.value = "";
    await this.holdOthers(null);
    this.#changed(this.agent.place(number));
  }

  #called(call) {
    this.#changed(call);
    this.#alert.replaceChildren(t("callsYou", ""), foreign(call.remote.name || call.remote.user));
  }

  #card(call) {
    if (!this.cards.has(call)) {
      const card = new PhoneCard(call, this);
      this.cards.set(call, card);
      this.#calls.prepend(card.element);
    }
    return this.cards.get(call);
  }

  #changed(call) {
    if (!call) return this.#drawState();
    this.#card(call).draw();
    for (const card of this.cards.values()) if (card.call !== call) card.draw();
    const ended = [...this.cards.keys()].filter(({ state }) => state === "ended");
    for (const old of ended.slice(0, -mostEnded)) {
      this.cards.get(old).element.remove();
      this.cards.delete(old);
    }
    const states = [...(this.agent?.calls.values() ?? [])].map(({ state }) => state);
    this.#ringer.play(states.includes("incoming") ? (states.includes("connected") ? "knock" : "ring") : states.includes("ringing") ? "ringback" : null);
    const isCalled = states.includes("incoming");
    document.title = isCalled ? t("callsYou", this.#incomingName()) : `${t("phone")} – Hookswitch`;
    if (!isCalled) this.#alert.replaceChildren();
  }

  #incomingName() {
    const remote = [...this.agent.calls.values()].find(({ state }) => state === "incoming").remote;
    return (remote.name || remote.user).slice(0, 40);
  }

  #measure() {
    for (const card of this.cards.values()) card.measure();
  }
}

/** The SIP server of the page: the one of its settings, else the gateway itself, over the secure way where the page came over it. */
async function findServer() {
  const { domain, ws, wss, server } = await get("/console/phone.json");
  if (server) return { domain, address: server };
  const [scheme, port] = location.protocol === "https:" || ws === undefined ? ["wss", wss] : ["ws", ws];
  return { domain, address: port === undefined ? "" : `${scheme}://${location.hostname}:${port}` };
}

findServer().catch(() => ({ domain: location.hostname, address: "" })).then(server => new Phone(server));
