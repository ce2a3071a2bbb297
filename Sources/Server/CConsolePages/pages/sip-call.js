// One call: its dialog (RFC 3261 §12), and what can be asked of it.
import { FlowLost } from "./sip-agent.js";
import { parseAddress, targetOf, token } from "./sip-message.js";

const firstRepeat = 500, lastRepeat = 4_000, longestUnacknowledged = 32_000;
/** Responses in a dialog that say that there is none any more (RFC 5057). */
const fatal = new Set([404, 408, 410, 416, 480, 481, 482, 483, 484, 485, 502, 604]);

export class SipCall {
  /** `calling`, `ringing` (there), `incoming` (here), `connecting`, `connected` or `ended`. */
  state = "calling";
  isHeld = false;
  isHeldByRemote = false;
  isMuted = false;
  /** A reason, when it has ended: a status and its words, or one of `hungUp`, `remoteHungUp`, `cancelled`, `answeredElsewhere`, `noMicrophone`, `lost`, `transferred`. */
  reason = "";
  began = new Date();
  connected = null;
  /** Of the far end: `{ name, uri, user }`. */
  remote;
  media = null;
  #agent;
  #dialog = { local: token(), remote: null, target: "", routes: [], sequence: 0, from: "", to: "" };
  #invite = null;
  #hasProgress = false;
  #acknowledgement = null;
  #repeat = 0;
  #offers = Promise.resolve();
  #isOffering = false;
  #awaitsAnswer = false;
  #referral = null;

  static outgoing(agent, target) {
    const call = new SipCall(agent, token(), true), uri = targetOf(target, agent.domain);
    call.remote = parseAddress(`<${uri}>`);
    Object.assign(call.#dialog, { target: uri, from: `${agent.ownAddress};tag=${call.#dialog.local}`, to: `<${uri}>` });
    return call;
  }

  static incoming(agent, request) {
    const call = new SipCall(agent, request.get("call-id"), false), dialog = call.#dialog;
    [call.state, call.#invite, call.remote] = ["incoming", request, request.from];
    Object.assign(dialog, {
      remote: request.from.parameters.tag ?? "", target: parseAddress(request.get("contact")).uri, routes: request.all("record-route"),
      from: `${request.get("to")};tag=${dialog.local}`, to: request.get("from"),
    });
    agent.respond(request, 180, { tag: dialog.local, fields: [["contact", agent.contact]] });
    return call;
  }

  constructor(agent, callID, isOutgoing) {
    [this.#agent, this.callID, this.isOutgoing] = [agent, callID, isOutgoing];
  }

  /** Whether a request belongs to its dialog. */
  isIn(request) {
    return request.to.parameters.tag === this.#dialog.local && (request.from.parameters.tag ?? "") === (this.#dialog.remote ?? "");
  }

  #draft(method, rest = {}) {
    const { target, from, to, routes } = this.#dialog;
    const isTarget = ["INVITE", "UPDATE", "REFER"].includes(method);
    const fields = [...(isTarget ? [["contact", this.#agent.contact]] : []), ...(rest.fields ?? [])];
    return { method, uri: target, from, to, routes, callID: this.callID, sequence: () => ++this.#dialog.sequence, ...rest, fields };
  }

  #change(changes) {
    Object.assign(this, changes);
    this.#agent.heard.changed(this);
  }

  // MARK: The beginning

  /** Calls. */
  async place() {
    try {
      if (!(await this.#open())) return;
      const body = await this.media.offer();
      if (this.state === "ended") return;
      const response = await this.#agent.ask(this.#draft("INVITE", {
        body, sent: request => (this.#invite = request), progress: response => this.#progress(response),
      }));
      await this.#answered(response);
    } catch (error) {
      this.#end(error instanceof FlowLost ? "lost" : String(error.message ?? error));
    }
  }

  async #open() {
    const media = await this.#agent.heard.open(this).catch(() => null);
    if (media && this.state !== "ended") {
      this.media = media;
      media.failed = () => this.move();
      return true;
    }
    media?.close();
    if (!media) this.#end("noMicrophone");
    return false;
  }

  #progress(response) {
    this.#hasProgress = true;
    if (this.state === "ended") return this.#agent.cancel(this.#invite);
    if (response.status === 180) this.#change({ state: "ringing" });
  }

  async #answered(response) {
    if (response.status >= 300) return this.#end(`${response.status} ${response.phrase}`);
    const dialog = this.#dialog;
    Object.assign(dialog, {
      remote: response.to.parameters.tag ?? "", to: response.get("to"), routes: response.all("record-route").reverse(),
      target: parseAddress(response.get("contact")).uri || dialog.target,
    });
    this.#acknowledge();
    // The user hung up while the answer was on its way.
    if (this.state === "ended") return this.#bye();
    await this.media.takeAnswer(response.body).catch(() => this.hangUp());
    if (this.state !== "ended") this.#change({ state: "connected", connected: new Date(), isHeldByRemote: this.media.isHeldByRemote });
  }

  /** The ACK of a 2xx is no part of its transaction (RFC 3261 §13.2.2.4). */
  #acknowledge() {
    const sequence = this.#dialog.sequence;
    this.#acknowledgement = this.#agent.build({ ...this.#draft("ACK"), sequence: () => sequence });
    this.#agent.send(this.#acknowledgement);
  }

  /** A 2xx comes once more; one of another branch of the call is acknowledged, and ended. */
  receiveAgain(response) {
    const tag = response.to.parameters.tag;
    if (tag === this.#dialog.remote) return void (this.#acknowledgement && this.#agent.send(this.#acknowledgement));
    const other = { ...this.#draft("ACK"), to: response.get("to"), uri: parseAddress(response.get("contact")).uri, routes: response.all("record-route").reverse() };
    this.#agent.send(this.#agent.build({ ...other, sequence: () => response.sequence }));
    this.#agent.send(this.#agent.build({ ...other, method: "BYE", sequence: () => response.sequence + 1 }));
  }

  async answer() {
    if (this.state !== "incoming") return;
    this.#change({ state: "connecting" });
    try {
      const invite = this.#invite;
      if (!(await this.#open())) return this.#agent.respond(invite, 480, { tag: this.#dialog.local });
      const body = invite.body ? await this.media.answer(invite.body) : await this.media.offer();
      if (this.state === "ended") return;
      this.#awaitsAnswer = !invite.body;
      this.#accept(invite, body);
      this.#change({ state: "connected", connected: new Date(), isHeldByRemote: this.media.isHeldByRemote });
    } catch {
      this.#agent.respond(this.#invite, 488, { tag: this.#dialog.local });
      this.#end("488 Not Acceptable Here");
    }
  }

  /** A 2xx, again and again until its ACK comes (RFC 3261 §13.3.1.4): behind a proxy may be ways that lose it. */
  #accept(request, body) {
    const { local } = this.#dialog, response = this.#agent.respond(request, 200, { tag: local, fields: [["contact", this.#agent.contact]], body });
    const begin = Date.now(), repeat = pause => {
      this.#repeat = setTimeout(() => {
        if (Date.now() - begin > longestUnacknowledged) return this.hangUp();
        this.#agent.send(response);
        repeat(Math.min(2 * pause, lastRepeat));
      }, pause);
    };
    clearTimeout(this.#repeat);
    repeat(firstRepeat);
  }

  // MARK: What comes

  receiveCancel(request) {
    if (request.branch !== this.#invite?.branch || !["incoming", "connecting"].includes(this.state)) return false;
    this.#agent.respond(request, 200, { tag: this.#dialog.local });
    this.#agent.respond(this.#invite, 487, { tag: this.#dialog.local });
    this.#end(/cause\s*=\s*200\b/.test(request.get("reason") ?? "") ? "answeredElsewhere" : "cancelled");
    return true;
  }

  receive(request) {
    const isTarget = ["INVITE", "UPDATE"].includes(request.method);
    if (isTarget && request.get("contact")) this.#dialog.target = parseAddress(request.get("contact")).uri;
    switch (request.method) {
      case "ACK": return this.#receiveACK(request);
      case "INVITE": case "UPDATE": return void this.#receiveOffer(request);
      case "NOTIFY": return this.#receiveNotify(request);
      case "BYE":
        this.#agent.respond(request, 200);
        return this.#end(this.#referral ? "transferred" : "remoteHungUp");
      case "INFO": case "OPTIONS": return void this.#agent.respond(request, 200);
      default: return void this.#agent.respond(request, request.method === "REFER" ? 603 : 405);
    }
  }

  #receiveACK(request) {
    clearTimeout(this.#repeat);
    if (this.#awaitsAnswer && request.body) this.media.takeAnswer(request.body).catch(() => this.hangUp());
    this.#awaitsAnswer = false;
  }

  /** A new offer in the call, or an INVITE that asks for ours. An UPDATE without one only says that they are there. */
  async #receiveOffer(request) {
    if (this.state !== "connected") return this.#agent.respond(request, 491);
    if (request.method === "UPDATE" && !request.body) return this.#agent.respond(request, 200, { fields: [["contact", this.#agent.contact]] });
    if (this.#isOffering || this.#awaitsAnswer) return this.#agent.respond(request, 491);
    try {
      const body = request.body ? await this.media.answer(request.body) : await this.media.offer();
      this.#awaitsAnswer = !request.body;
      if (request.method === "INVITE") this.#accept(request, body);
      else this.#agent.respond(request, 200, { fields: [["contact", this.#agent.contact]], body });
      this.#change({ isHeldByRemote: this.media.isHeldByRemote });
    } catch {
      this.#agent.respond(request, 488);
    }
  }

  // MARK: What is asked of it

  /** Ends it, however far it is. */
  hangUp() {
    if (this.state === "ended") return;
    if (this.state === "incoming" || (this.state === "connecting" && !this.isOutgoing)) {
      this.#agent.respond(this.#invite, 486, { tag: this.#dialog.local });
    } else if (this.#dialog.remote !== null) {
      this.#bye();
    } else if (this.#hasProgress) {
      this.#agent.cancel(this.#invite);
    }
    this.#end("hungUp");
  }

  #bye() {
    this.#agent.ask(this.#draft("BYE")).catch(() => null);
  }

  mute(isMuted) {
    this.media?.mute(isMuted);
    this.#change({ isMuted });
  }

  /** Answers whether the far end agreed. */
  async hold(isHeld) {
    const agreed = await this.#offer(false, isHeld);
    if (agreed) this.#change({ isHeld });
    return agreed;
  }

  /** Goes on over the connection that there is now, and over other addresses (RFC 8445 §9). */
  move() {
    if (this.state === "connected" && this.#agent.state === "registered") this.#offer(true).catch(() => null);
  }

  /** One offer at a time; `isHeld` undefined: as before. */
  #offer(restart, isHeld) {
    const offer = this.#offers.then(() => this.#offerNow(restart, isHeld)).catch(() => false);
    this.#offers = offer;
    return offer;
  }

  async #offerNow(restart, isHeld = this.isHeld) {
    for (let attempt = 0; attempt < 5 && this.state === "connected"; attempt += 1) {
      this.#isOffering = true;
      this.media.hold(isHeld);
      const response = await this.media.offer(restart).then(body => this.#agent.ask(this.#draft("INVITE", { body }))).catch(() => null);
      this.#isOffering = false;
      if (this.state !== "connected") return false;
      if (response?.status < 300) {
        this.#dialog.target = parseAddress(response.get("contact")).uri || this.#dialog.target;
        this.#acknowledge();
        await this.media.takeAnswer(response.body);
        this.#change({ isHeldByRemote: this.media.isHeldByRemote });
        return true;
      }
      await this.media.rollBack();
      this.media.hold(this.isHeld);
      if (response && fatal.has(response.status)) this.#loseDialog();
      if (response?.status !== 491) return false;
      // Both offered at once (RFC 3261 §14.1).
      await new Promise(resolve => setTimeout(resolve, this.isOutgoing ? 2_100 + 1_900 * Math.random() : 2_000 * Math.random()));
    }
    return false;
  }

  #loseDialog() {
    this.#bye();
    this.#end("lost");
  }

  /** Digits to the far end: as telephone-events, or by INFO. */
  sendDigits(digits) {
    if (this.media?.sendDigits(digits)) return;
    for (const digit of digits) {
      const fields = [["content-type", "application/dtmf-relay"]];
      this.#agent.ask(this.#draft("INFO", { fields, body: `Signal=${digit}\r\nDuration=100\r\n` })).catch(() => null);
    }
  }

  /** Asks the far end to talk with somebody else (RFC 3515), or with that of another call of ours (RFC 3891); answers the status. */
  async transfer(target, other = null) {
    if (this.#referral) return 491;
    const replaces = other && `${other.callID};to-tag=${other.#dialog.remote};from-tag=${other.#dialog.local}`;
    const uri = other ? `${other.remote.uri.split("?")[0]}?Replaces=${encodeURIComponent(replaces)}` : targetOf(target, this.#agent.domain);
    const outcome = new Promise(resolve => (this.#referral = { resolve }));
    const fields = [["refer-to", `<${uri}>`], ["referred-by", `<${this.#agent.ownURI}>`]];
    const response = await this.#agent.ask(this.#draft("REFER", { fields })).catch(() => ({ status: 503 }));
    if (response.status >= 300) this.#endReferral(response.status);
    return outcome;
  }

  #receiveNotify(request) {
    const isReferral = /^refer\b/i.test(request.get("event") ?? "");
    this.#agent.respond(request, isReferral ? 200 : 489);
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(request.body)?.[1]), isOver = /^terminated/i.test(request.get("subscription-state") ?? "");
    if (!isReferral || !this.#referral) return;
    if (status >= 200 || isOver) this.#endReferral(status >= 200 ? status : 500);
  }

  #endReferral(status) {
    this.#referral?.resolve(status);
    this.#referral = null;
    if (status < 300 && this.state !== "ended") {
      this.#bye();
      this.#end("transferred");
    }
  }

  // MARK: The end

  /** The connection is lost: what has no dialog yet goes with it. */
  lost() {
    if (["incoming", "connecting", "calling", "ringing"].includes(this.state)) this.#end("lost");
  }

  #end(reason) {
    if (this.state === "ended") return;
    clearTimeout(this.#repeat);
    this.media?.close();
    this.#agent.calls.delete(this.callID);
    this.#change({ state: "ended", reason });
    this.#referral?.resolve(200);
    this.#referral = null;
  }
}
