// The calls of the gateway as its events tell them: a snapshot, and from its position on each event, without a gap.
import { get, callPath } from "./api.js";

const mostEnded = 200, mostEvents = 1_000, mostSingleReads = 5;

export class Live {
  calls = new Map();
  /** The newest first. */
  ended = [];
  /** The newest last. */
  events = [];
  /** `starting`, `live` or `away`. */
  state = "starting";
  /** Counts of connected, refused and ended calls, by the second in which they happened. */
  seconds = new Map();
  #position = null;
  #socket = null;
  #listeners = new Set();
  #dirty = new Set();
  #isDue = false;
  #wanted = new Set();
  #isReading = false;
  #isClosed = false;

  /** Calls `listener(ids of calls that changed)` at most once a frame. Answers a function that ends it. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async begin() {
    if (this.#isClosed) return;
    try {
      const snapshot = await get("/v1/snapshot");
      if (this.ended.length === 0) this.ended = (await get("/v1/calls?state=ended")).calls.reverse().slice(0, mostEnded);
      const before = this.calls;
      this.calls = new Map(snapshot.calls.map(call => [call.id, call]));
      for (const id of [...before.keys(), ...this.calls.keys()]) this.#dirty.add(id);
      this.#position = snapshot.position ?? null;
      this.#connect();
    } catch (problem) {
      if (problem.status === 401) return;
      this.#becomeAway();
      setTimeout(() => this.begin(), 1_000);
    }
  }

  close() {
    this.#isClosed = true;
    this.#socket?.close();
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const after = this.#position ? `?after=${encodeURIComponent(this.#position)}` : "";
    const socket = this.#socket = new WebSocket(`${scheme}://${location.host}/v1/events${after}`, "hookswitch.events.v1");
    let isOpen = false;
    socket.onopen = () => {
      isOpen = true;
      this.state = "live";
      this.#tell();
    };
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      // Something is missing: the calls are taken anew.
      if (this.#position !== null && event.prev !== this.#position) return socket.close(4000, "gap");
      this.#position = event.id;
      this.#note(event);
    };
    socket.onclose = ({ code }) => {
      if (this.#isClosed) return;
      this.#becomeAway();
      // What was open goes on behind the last event; what was refused, or had a gap, begins with a new snapshot.
      setTimeout(() => (isOpen && code !== 4000 && code !== 1008 ? this.#connect() : this.begin()), 1_000);
    };
  }

  #becomeAway() {
    this.state = "away";
    this.#tell();
  }

  #note(event) {
    this.events.push(event);
    if (this.events.length > 2 * mostEvents) this.events.splice(0, mostEvents);
    const call = event.call && this.calls.get(event.call);
    switch (event.type) {
      case "server.started": case "node.gap": case "node.back": return this.#socket.close(4000, "another run");
      case "call.incoming": case "call.started": if (!call) this.#meet(event); break;
      case "call.refused": case "call.filtered": this.#count("refused", event); break;
      case "call.connected": this.#count("connected", event); this.#change(call, { state: "connected", connected: event.time, flows: call?.flows ?? false }); break;
      case "call.connecting": this.#change(call, { state: "connecting" }); break;
      case "call.held": this.#change(call, { isOnHold: true }); break;
      case "call.resumed": this.#change(call, { isOnHold: false }); break;
      case "call.muted": this.#change(call, { isMuted: true }); break;
      case "call.unmuted": this.#change(call, { isMuted: false }); break;
      case "call.remote-hold": this.#change(call, { isHeldByRemote: Boolean(Number(event.data.on)) }); break;
      case "call.grouped": case "call.updated": if (call) this.#want(event.call); break;
      case "media.opened": this.#change(call, { codec: event.data.codec ?? call?.codec }); break;
      case "media.started": this.#change(call, { flows: true, quality: undefined }); break;
      case "media.stopped": this.#change(call ?? this.ended.find(({ id }) => id === event.call), { flows: false, quality: quality(event.data) }); break;
      case "media.closed":
        if (event.data.received !== undefined) {
          const media = { received: Number(event.data.received), sent: Number(event.data.packets) };
          this.#change(call ?? this.ended.find(({ id }) => id === event.call), { media });
        }
        break;
      case "call.ended": this.#count("ended", event); this.#end(call, event); break;
    }
    this.#tell();
  }

  #change(call, changes) {
    if (!call) return;
    Object.assign(call, changes);
    if (call.news) Object.assign(call.news, changes);
    this.#dirty.add(call.id);
  }

  /** A call begins. Its event tells little, so it is read; `news` is what events say meanwhile, for the answer may be older. */
  #meet(event) {
    const isOutgoing = event.type === "call.started";
    const call = { id: event.call, line: event.line, node: event.node, isOutgoing, state: "ringing", began: event.time, groupedWith: [], news: {} };
    this.calls.set(call.id, call);
    this.#dirty.add(call.id);
    this.#want(call.id);
  }

  #end(call, event) {
    if (!call) return;
    this.#change(call, { state: "ended", ended: event.time, endReason: event.data.reason, sipStatus: event.data.status ?? call.sipStatus });
    this.calls.delete(call.id);
    this.ended.unshift(call);
    this.ended.length = Math.min(this.ended.length, mostEnded);
  }

  #count(kind, event) {
    const second = Math.floor(Date.parse(event.time) / 1_000), counts = this.seconds.get(second) ?? {};
    counts[kind] = (counts[kind] ?? 0) + 1;
    this.seconds.set(second, counts);
    if (this.seconds.size > 300) this.seconds.delete(this.seconds.keys().next().value);
  }

  /** Calls that are read soon; many at once together. */
  #want(id) {
    this.#wanted.add(id);
    if (this.#isReading) return;
    this.#isReading = true;
    setTimeout(() => this.#read(), 100);
  }

  async #read() {
    const ids = [...this.#wanted];
    this.#wanted.clear();
    try {
      const calls = ids.length > mostSingleReads ? [...(await get("/v1/calls")).calls, ...(await get("/v1/calls?state=ended")).calls]
        : await Promise.all(ids.map(id => get(callPath(id)).catch(() => null)));
      for (const call of calls) if (call && ids.includes(call.id)) this.#take(call);
    } catch { /* The next snapshot has them. */ }
    this.#isReading = false;
    if (this.#wanted.size > 0) this.#want(this.#wanted.values().next().value);
    this.#tell();
  }

  #take(read) {
    const call = this.calls.get(read.id) ?? this.ended.find(({ id }) => id === read.id);
    if (!call) return;
    Object.assign(call, read, call.news);
    delete call.news;
    this.#dirty.add(call.id);
  }

  #tell() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      const changed = this.#dirty;
      this.#dirty = new Set();
      for (const listener of this.#listeners) listener(changed);
    });
  }
}

/** What media.stopped measured, in percent and ms. */
function quality(data) {
  const scaled = (value, unit) => (value === undefined ? undefined : value / unit);
  return { loss: scaled(data.loss, 10_000), jitter: scaled(data.jitter, 1_000), mos: scaled(data.mos, 100), incoming: data.incoming };
}

/** Whether somebody should look at the call. */
export function isBad(call, now) {
  if (call.quality) {
    const { loss, mos, incoming } = call.quality;
    if (loss > 2 || mos < 3.6 || incoming === "silent" || incoming === "nothing") return true;
  }
  if (call.state === "ended") return Boolean(call.sipStatus >= 500 || call.endReason === "failed" || (call.media && call.media.received === 0));
  return call.state === "connected" && call.flows === false && !call.isOnHold && now - Date.parse(call.connected) > 3_000;
}
