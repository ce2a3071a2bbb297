// The proof that one knows the password (RFC 7616, RFC 8760): SHA-256 where the server offers it, MD5 where it knows nothing else.
import { split, token } from "./sip-message.js";

const hashes = {
  "SHA-256": async text => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))),
  MD5: async text => hex(md5(new TextEncoder().encode(text))),
};
/** The strongest first. Pages that did not come over a secure way have no `crypto.subtle`. */
const preferred = globalThis.crypto?.subtle ? ["SHA-256", "MD5"] : ["MD5"];

const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");

/** A `WWW-Authenticate` as an object of its parameters; null for another scheme than Digest. */
export function parseChallenge(text) {
  const found = /^\s*Digest\s+(.*)$/is.exec(text);
  if (!found) return null;
  const challenge = { algorithm: "MD5" };
  for (const part of split(found[1], ",")) {
    const equals = part.indexOf("=");
    if (equals > 0) challenge[part.slice(0, equals).trim().toLowerCase()] = part.slice(equals + 1).trim().replace(/^"(.*)"$/s, "$1");
  }
  return challenge.nonce === undefined || challenge.realm === undefined ? null : challenge;
}

/** The challenge that is answered; undefined where none can be. */
export function chooseChallenge(texts) {
  const challenges = texts.map(parseChallenge).filter(Boolean);
  return preferred.map(name => challenges.find(({ algorithm }) => algorithm.toUpperCase() === name)).find(Boolean);
}

/** The value of an `Authorization` header. */
export async function authorization(challenge, { user, password, method, uri, count = 1, cnonce = token() }) {
  const algorithm = challenge.algorithm.toUpperCase(), hash = hashes[algorithm], quoted = text => `"${String(text).replace(/(["\\])/g, "\\$1")}"`;
  const secret = await hash(`${user}:${challenge.realm}:${password}`), request = await hash(`${method}:${uri}`);
  const hasQuality = split(challenge.qop ?? "", ",").includes("auth"), nc = count.toString(16).padStart(8, "0");
  const middle = hasQuality ? `${challenge.nonce}:${nc}:${cnonce}:auth` : challenge.nonce;
  const parts = [
    `username=${quoted(user)}`, `realm=${quoted(challenge.realm)}`, `nonce=${quoted(challenge.nonce)}`, `uri=${quoted(uri)}`,
    `response=${quoted(await hash(`${secret}:${middle}:${request}`))}`, `algorithm=${challenge.algorithm}`,
  ];
  if (challenge.opaque !== undefined) parts.push(`opaque=${quoted(challenge.opaque)}`);
  if (hasQuality) parts.push("qop=auth", `nc=${nc}`, `cnonce=${quoted(cnonce)}`);
  return `Digest ${parts.join(", ")}`;
}

/** MD5 (RFC 1321), which browsers have not. */
export function md5(bytes) {
  const rotations = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
  const constants = Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32) | 0);
  const padded = new Uint8Array(((bytes.length + 8 >> 6) + 1) * 64), view = new DataView(padded.buffer);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  view.setUint32(padded.length - 8, bytes.length << 3, true);
  view.setUint32(padded.length - 4, bytes.length >>> 29, true);
  let state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
  for (let block = 0; block < padded.length; block += 64) {
    let [a, b, c, d] = state;
    for (let step = 0; step < 64; step += 1) {
      const round = step >> 4;
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const place = [step, 5 * step + 1, 3 * step + 5, 7 * step][round] % 16;
      const sum = a + mixed + constants[step] + view.getInt32(block + 4 * place, true) | 0, turn = rotations[round][step % 4];
      [a, d, c, b] = [d, c, b, b + (sum << turn | sum >>> 32 - turn) | 0];
    }
    state = [state[0] + a | 0, state[1] + b | 0, state[2] + c | 0, state[3] + d | 0];
  }
  const result = new DataView(new ArrayBuffer(16));
  state.forEach((word, index) => result.setInt32(4 * index, word, true));
  return new Uint8Array(result.buffer);
}
