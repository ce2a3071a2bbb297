// SIP messages (RFC 3261), each of them one message of a WebSocket (RFC 7118).

const compactNames = {
  i: "call-id", m: "contact", e: "content-encoding", l: "content-length", c: "content-type", f: "from", s: "subject", k: "supported", t: "to",
  v: "via", o: "event", r: "refer-to", b: "referred-by", x: "session-expires",
};
/** Headers of which one field may hold several values. */
const lists = new Set(["via", "route", "record-route", "contact", "supported", "require", "allow"]);
const mostLetters = 65_536;

/** Text as it may stand in a header: a line break would begin another one. */
const line = text => String(text).replace(/[\u0000-\u001f\u007f]+/g, " ").trim();

export class Message {
  /** Pairs of a name in lower case and a value, in their order. */
  fields = [];
  body = "";

  constructor(start, fields = [], body = "") {
    this.start = start;
    this.body = body;
    for (const [name, value] of fields) this.add(name, value);
  }

  static request(method, uri, fields, body) {
    return new Message(`${method} ${uri} SIP/2.0`, fields, body);
  }

  /** null for what is no SIP message. */
  static parse(text) {
    if (text.length > mostLetters) return null;
    const end = text.indexOf("\r\n\r\n"), head = (end < 0 ? text : text.slice(0, end)).replace(/\r\n[ \t]+/g, " ").split("\r\n");
    const message = new Message(head.shift(), [], end < 0 ? "" : text.slice(end + 4));
    for (const field of head) {
      const colon = field.indexOf(":");
      if (colon < 1) return null;
      message.add(field.slice(0, colon), field.slice(colon + 1));
    }
    const isRequest = /^[A-Z]+ \S+ SIP\/2\.0$/.test(message.start), isResponse = /^SIP\/2\.0 [1-6]\d\d\b/.test(message.start);
    const isWhole = ["via", "from", "to", "call-id", "cseq"].every(name => message.get(name) !== undefined);
    return (isRequest || isResponse) && isWhole ? message : null;
  }

  add(name, value) {
    const key = String(name).trim().toLowerCase();
    this.fields.push([compactNames[key] ?? key, line(value)]);
  }

  /** All values of a header. */
  all(name) {
    const found = this.fields.filter(([key]) => key === name).map(([, value]) => value);
    return lists.has(name) ? found.flatMap(value => split(value, ",")) : found;
  }

  /** The first value of a header, or undefined. */
  get(name) {
    return this.all(name)[0];
  }

  /** Of a response, else null. */
  get status() {
    return this.start.startsWith("SIP/2.0 ") ? Number(this.start.slice(8, 11)) : null;
  }

  /** The words behind the status of a response. */
  get phrase() {
    return this.start.slice(12).trim();
  }

  /** Of a request, or of the one that a response answers. */
  get method() {
    return this.status === null ? this.start.split(" ")[0] : this.get("cseq").split(/\s+/)[1];
  }

  get sequence() {
    return Number.parseInt(this.get("cseq"), 10);
  }

  /** Names the transaction (RFC 3261 §17). */
  get branch() {
    return parameters(this.get("via")).branch;
  }

  get from() {
    return parseAddress(this.get("from"));
  }

  get to() {
    return parseAddress(this.get("to"));
  }

  toString() {
    const length = new TextEncoder().encode(this.body).length;
    const fields = [...this.fields.filter(([name]) => name !== "content-length"), ["content-length", length]];
    return [this.start, ...fields.map(([name, value]) => `${proper(name)}: ${value}`), "", this.body].join("\r\n");
  }
}

/** `call-id` as `Call-ID`. */
function proper(name) {
  return name.replace(/(^|-)([a-z])/g, (_, dash, letter) => dash + letter.toUpperCase()).replace(/^(Call)-Id$/, "$1-ID").replace(/^Cseq$/, "CSeq");
}

/** Splits at a separator that stands neither in quotes nor between < and >. */
export function split(text, separator) {
  const parts = [""];
  let isQuoted = false, depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index];
    if (isQuoted && letter === "\\") parts[parts.length - 1] += text[index++];
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && letter === "<") depth += 1;
    else if (!isQuoted && letter === ">") depth -= 1;
    if (letter === separator && !isQuoted && depth <= 0) parts.push("");
    else parts[parts.length - 1] += text[index] ?? "";
  }
  return parts.map(part => part.trim()).filter(part => part !== "");
}

/** What stands behind the first semicolon, by lower-case names; values without their quotes. */
export function parameters(text = "") {
  const found = Object.create(null);
  for (const part of split(text, ";").slice(1)) {
    const equals = part.indexOf("="), name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    found[name] = equals < 0 ? "" : part.slice(equals + 1).trim().replace(/^"(.*)"$/s, "$1");
  }
  return found;
}

/** A From, To or Contact: `{ name, uri, user, parameters }`. */
export function parseAddress(text = "") {
  const found = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<"]*?))\s*<([^>]*)>/s.exec(text);
  const uri = found ? found[3] : split(text, ";")[0] ?? "";
  const user = /^sips?:([^@;?]+)@/i.exec(uri)?.[1] ?? uri.replace(/^(sips?|tel):/i, "");
  const rest = found ? text.slice(found[0].length) : split(text, ";").slice(1).map(part => `;${part}`).join("");
  return { name: (found?.[1]?.replace(/\\(.)/gs, "$1") ?? found?.[2] ?? "").trim(), uri, user: decoded(user.split(";")[0]), parameters: parameters(`x${rest}`) };
}

function decoded(user) {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

/** The address of what a person dials: a number or a name of the domain, or a whole address. */
export function targetOf(dialled, domain) {
  const text = dialled.trim(), at = text.lastIndexOf("@");
  if (/^sips?:/i.test(text)) return encodeURI(text);
  const user = at < 0 ? text.replace(/[\s()/]/g, "") : text.slice(0, at);
  return `sip:${encodeURIComponent(user).replaceAll("%2B", "+")}@${at < 0 ? domain : encodeURI(text.slice(at + 1))}`;
}

/** A token that nobody guesses. */
export function token(bytes = 8) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map(byte => byte.toString(16).padStart(2, "0")).join("");
}
