// The WebSocket to a SIP server (RFC 7118): opened again when it is lost, and kept open by line ends (RFC 5626 §4.4.1).

const keepAlive = 20_000, patience = 10_000, longestPause = 30_000;

export class SipConnection {
  isOpen = false;
  #address;
  #heard;
  #socket = null;
  #attempts = 0;
  #timers = {};
  #isClosed = false;
  #answersPings = false;

  /** `heard` has `opened()`, `lost()` and `received(text)`. */
  constructor(address, heard) {
    this.#address = address;
    this.#heard = heard;
    this.retry = this.retry.bind(this);
    globalThis.addEventListener?.("online", this.retry);
  }

  open() {
    clearTimeout(this.#timers.again);
    const socket = this.#socket = new WebSocket(this.#address, "sip");
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      [this.isOpen, this.#attempts, this.#answersPings] = [true, 0, false];
      this.#timers.ping = setInterval(() => this.#ping(), keepAlive);
      this.#heard.opened();
    };
    socket.onmessage = ({ data }) => this.#receive(typeof data === "string" ? data : new TextDecoder().decode(data));
    socket.onclose = () => this.#lose(socket);
  }

  /** At once, where it waits to try again: the network is back. */
  retry() {
    if (!this.#isClosed && this.#socket === null) this.open();
  }

  /** False where it is not open. */
  send(text) {
    if (!this.isOpen) return false;
    this.#socket.send(text);
    return true;
  }

  close() {
    this.#isClosed = true;
    globalThis.removeEventListener?.("online", this.retry);
    clearTimeout(this.#timers.again);
    this.#socket?.close();
    if (this.#socket) this.#lose(this.#socket);
  }

  #receive(text) {
    if (text === "\r\n") {
      this.#answersPings = true;
      clearTimeout(this.#timers.pong);
    } else if (text === "\r\n\r\n") {
      this.send("\r\n");
    } else {
      this.#heard.received(text);
    }
  }

  /** A server that has answered before, and does not now, is gone: the socket alone would say so after minutes. */
  #ping() {
    this.send("\r\n\r\n");
    const socket = this.#socket;
    if (this.#answersPings) this.#timers.pong = setTimeout(() => { socket.close(); this.#lose(socket); }, patience);
  }

  #lose(socket) {
    if (socket !== this.#socket) return;
    clearInterval(this.#timers.ping);
    clearTimeout(this.#timers.pong);
    [this.#socket, this.isOpen] = [null, false];
    this.#heard.lost();
    if (this.#isClosed) return;
    const pause = Math.min(longestPause, 1_000 * 2 ** this.#attempts++);
    this.#timers.again = setTimeout(() => this.open(), pause * (0.5 + Math.random() / 2));
  }
}
