// A user agent over a WebSocket: requests and their responses (RFC 3261 §17), and a registration that lives as its connection does (RFC 5626).
import { SipCall } from "./sip-call.js";
import { SipConnection } from "./sip-connection.js";
import { authorization, chooseChallenge } from "./sip-digest.js";
import { Message, split, token } from "./sip-message.js";

const longestWait = 32_000, longestRinging = 190_000, mostCalls = 4;
const methods = "INVITE, ACK, CANCEL, BYE, UPDATE, INFO, NOTIFY, OPTIONS";

/** The way to the server was lost before the response came. */
export class FlowLost extends Error {}

export class SipAgent {
  /** `connecting`, `registering`, `registered`, `away`, `refused` or `stopped`. */
  state = "stopped";
  /** A refusal of the registration, as the server said it. */
  reason = "";
  /** By Call-ID. */
  calls = new Map();
  #connection;
  #waiting = new Map();
  #registration = { callID: token(), tag: token(), sequence: 0, expires: 600, timer: 0 };
  #host = `${token()}.invalid`;

  /**
   * `settings`: `server` (an address as wss://host:port/path), `number`, `password`, `name`, `domain`, `instance` (a UUID that the device keeps).
   * `heard`: `changed(call or null)`, `called(call)`, and `open()`, which answers the media of a call.
   */
  constructor(settings, heard) {
    [this.settings, this.heard] = [settings, heard];
    this.#connection = new SipConnection(settings.server, {
      opened: () => this.#register(), lost: () => this.#lost(), received: text => this.#receive(text),
    });
  }

  get domain() {
    return this.settings.domain;
  }

  get ownURI() {
    return `sip:${encodeURIComponent(this.settings.number)}@${this.domain}`;
  }

  get contact() {
    return `<sip:${encodeURIComponent(this.settings.number)}@${this.#host};transport=ws>`;
  }

  get ownAddress() {
    const name = this.settings.name?.trim();
    return `${name ? `"${name.replace(/(["\\])/g, "\\$1")}" ` : ""}<${this.ownURI}>`;
  }

  start() {
    this.#become("connecting");
    this.#connection.open();
  }

  /** Hangs up, takes the registration away, and closes. */
  stop() {
    clearTimeout(this.#registration.timer);
    for (const call of this.calls.values()) call.hangUp();
    if (this.state === "registered") this.ask(this.#registrationDraft(0)).catch(() => null);
    this.#become("stopped");
    setTimeout(() => this.#connection.close(), 500);
  }

  /** The page goes: each call ends, without waiting for what comes back. */
  leave() {
    for (const call of this.calls.values()) call.hangUp();
    this.#connection.close();
  }

  place(target) {
    const call = SipCall.outgoing(this, target);
    this.calls.set(call.callID, call);
    call.place();
    return call;
  }

  // MARK: Requests of ours

  /**
   * Sends a request, with the password where the server asks for it, and answers the final response.
   * `draft`: method, uri, from, to, callID, sequence() and perhaps fields, routes, body, sent(request), progress(response).
   */
  async ask(draft) {
    let response = await this.#transact(draft, []);
    if (response.status !== 401 && response.status !== 407) return response;
    const [asked, answer] = response.status === 401 ? ["www-authenticate", "authorization"] : ["proxy-authenticate", "proxy-authorization"];
    const challenge = chooseChallenge(response.all(asked));
    if (!challenge) return response;
    const { number: user, password } = this.settings;
    const proof = await authorization(challenge, { user, password, method: draft.method, uri: draft.uri });
    return this.#transact(draft, [[answer, proof]]);
  }

  #transact(draft, proof) {
    const request = this.build(draft, [...(draft.fields ?? []), ...proof]);
    return new Promise((resolve, reject) => {
      const waiting = { request, draft, resolve, reject, timer: 0 };
      if (!this.send(request)) return reject(new FlowLost());
      this.#waiting.set(request.branch, waiting);
      this.#await(waiting, longestWait);
      draft.sent?.(request);
    });
  }

  #await(waiting, time) {
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(() => {
      this.#waiting.delete(waiting.request.branch);
      waiting.resolve(new Message("SIP/2.0 408 Request Timeout", waiting.request.fields));
    }, time);
  }

  build({ method, uri, from, to, callID, sequence, routes = [], body = "" }, fields = []) {
    const route = routes.map(value => ["route", value]), content = body ? [["content-type", "application/sdp"]] : [];
    return Message.request(method, uri, [
      ["via", `SIP/2.0/${/^wss:/i.test(this.settings.server) ? "WSS" : "WS"} ${this.#host};branch=z9hG4bK${token()}`], ["max-forwards", "70"], ...route,
      ["from", from], ["to", to], ["call-id", callID], ["cseq", `${sequence()} ${method}`], ["user-agent", "Hookswitch phone"],
      ...(method === "ACK" || method === "CANCEL" ? [] : [["allow", methods], ["supported", "outbound, path"]]),
      ...fields, ...(fields.some(([name]) => name === "content-type") ? [] : content),
    ], body);
  }

  send(message) {
    return this.#connection.send(message.toString());
  }

  /** Ends an INVITE that has no final response (RFC 3261 §9.1). */
  cancel(invite) {
    const kept = invite.fields.filter(([name]) => ["max-forwards", "route", "from", "to", "call-id"].includes(name));
    const via = ["via", invite.get("via")], cseq = ["cseq", `${invite.sequence} CANCEL`];
    this.send(Message.request("CANCEL", invite.start.split(" ")[1], [via, ...kept, cseq]));
  }

  /** An INVITE that was refused is acknowledged in its transaction (RFC 3261 §17.1.1.3). */
  #acknowledge(invite, response) {
    const kept = invite.fields.filter(([name]) => ["max-forwards", "route", "from", "call-id"].includes(name));
    const own = [["via", invite.get("via")], ["to", response.get("to")], ["cseq", `${invite.sequence} ACK`]];
    this.send(Message.request("ACK", invite.start.split(" ")[1], [...own, ...kept]));
  }

  // MARK: What comes

  #receive(text) {
    const message = Message.parse(text);
    if (!message) return;
    if (message.status === null) this.#receiveRequest(message);
    else this.#receiveResponse(message);
  }

  #receiveResponse(response) {
    const waiting = this.#waiting.get(response.branch);
    if (!waiting || waiting.request.method !== response.method) {
      const isLate = response.method === "INVITE" && response.status >= 200 && response.status < 300;
      if (isLate) this.calls.get(response.get("call-id"))?.receiveAgain(response);
      return;
    }
    if (response.status < 200) {
      this.#await(waiting, response.method === "INVITE" ? longestRinging : longestWait);
      return waiting.draft.progress?.(response);
    }
    clearTimeout(waiting.timer);
    this.#waiting.delete(response.branch);
    if (response.method === "INVITE" && response.status >= 300) this.#acknowledge(waiting.request, response);
    waiting.resolve(response);
  }

  #receiveRequest(request) {
    const call = this.calls.get(request.get("call-id")), method = request.method, isInDialog = request.to.parameters.tag !== undefined;
    if (method === "CANCEL") return call?.receiveCancel(request) ?? this.respond(request, 481);
    if (isInDialog) {
      if (call?.isIn(request)) call.receive(request);
      else if (method !== "ACK") this.respond(request, 481);
    } else if (method === "INVITE") {
      this.#receiveInvite(request, call);
    } else if (method !== "ACK") {
      this.respond(request, method === "OPTIONS" ? 200 : 405, { fields: [["allow", methods]] });
    }
  }

  #receiveInvite(request, known) {
    if (known) return this.respond(request, 482);
    const required = request.all("require");
    if (required.length > 0) return this.respond(request, 420, { fields: required.map(name => ["unsupported", name]) });
    if (request.body && !/^application\/sdp\b/i.test(request.get("content-type") ?? "")) return this.respond(request, 415);
    if (this.calls.size >= mostCalls) return this.respond(request, 486);
    const call = SipCall.incoming(this, request);
    this.calls.set(call.callID, call);
    this.heard.called(call);
  }

  respond(request, status, { tag, fields = [], body = "" } = {}) {
    const to = request.get("to"), isTagged = request.to.parameters.tag !== undefined || status === 100;
    const copied = request.fields.filter(([name]) => ["via", "record-route", "from", "call-id", "cseq"].includes(name));
    const response = new Message(`SIP/2.0 ${status} ${phrases[status] ?? "Refused"}`, [
      ...copied, ["to", isTagged ? to : `${to};tag=${tag ?? token()}`], ...fields, ...(body ? [["content-type", "application/sdp"]] : []),
    ], body);
    this.send(response);
    return response;
  }

  // MARK: Registration

  #registrationDraft(expires) {
    const { callID, tag } = this.#registration, { instance } = this.settings;
    const device = instance ? `;+sip.instance="<urn:uuid:${instance}>";reg-id=1` : "";
    return {
      method: "REGISTER", uri: `sip:${this.domain}`, from: `${this.ownAddress};tag=${tag}`, to: `<${this.ownURI}>`, callID,
      sequence: () => ++this.#registration.sequence, fields: [["contact", `${this.contact}${device};expires=${expires}`], ["expires", String(expires)]],
    };
  }

  async #register() {
    const registration = this.#registration;
    if (this.state !== "registered") this.#become("registering");
    const response = await this.ask(this.#registrationDraft(registration.expires)).catch(() => null);
    if (!response || this.state === "stopped") return;
    const again = seconds => (registration.timer = setTimeout(() => this.#register(), 1_000 * seconds));
    clearTimeout(registration.timer);
    if (response.status < 300) {
      const isNew = this.state !== "registered";
      again(Math.max(10, this.#granted(response) * 0.8));
      this.#become("registered");
      if (isNew) for (const call of this.calls.values()) call.move();
    } else if (response.status === 423) {
      registration.expires = Math.min(86_400, Math.max(60, Number(response.get("min-expires")) || 3_600));
      again(0);
    } else {
      this.#become("refused", `${response.status} ${response.phrase}`);
      if (![401, 403, 404].includes(response.status)) again(30);
    }
  }

  /** How many seconds the server gives our contact. */
  #granted(response) {
    const own = response.all("contact").find(contact => contact.includes(this.#host));
    const seconds = Number(split(own ?? "", ";").find(part => /^expires=/i.test(part))?.slice(8) ?? response.get("expires"));
    return seconds > 0 ? seconds : this.#registration.expires;
  }

  #lost() {
    clearTimeout(this.#registration.timer);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new FlowLost());
    }
    this.#waiting.clear();
    for (const call of this.calls.values()) call.lost();
    if (this.state !== "stopped") this.#become("away");
  }

  #become(state, reason = "") {
    [this.state, this.reason] = [state, reason];
    this.heard.changed(null);
  }
}

const phrases = {
  100: "Trying", 180: "Ringing", 200: "OK", 405: "Method Not Allowed", 415: "Unsupported Media Type", 420: "Bad Extension", 481: "Call Does Not Exist",
  482: "Loop Detected", 486: "Busy Here", 487: "Request Terminated", 488: "Not Acceptable Here", 491: "Request Pending", 500: "Server Internal Error",
  603: "Decline",
};
