// The gateway's HTTP interface, /v1.

/** An answer that is an error: what problem+json says. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `HTTP ${status}`);
    this.status = status;
    this.code = body?.code;
  }
}

/** The gateway's clock is so many ms ahead of ours. */
let clockOffset = 0;
export const gatewayNow = () => Date.now() + clockOffset;

/** Asks, and answers the JSON that comes; null for an answer without content. */
export async function ask(method, path, body) {
  const answer = await fetch(path, {
    method, headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store",
  });
  const date = Date.parse(answer.headers.get("Date") ?? "");
  if (!Number.isNaN(date) && Math.abs(date - gatewayNow()) > 2_000) clockOffset = date - Date.now();
  const isJSON = /json/.test(answer.headers.get("Content-Type") ?? "");
  const content = isJSON ? await answer.json() : await answer.text();
  if (!answer.ok) {
    if (answer.status === 401) window.dispatchEvent(new Event("login-needed"));
    throw new Problem(answer.status, isJSON ? content : undefined);
  }
  return content === "" ? null : content;
}

export const get = path => ask("GET", path);
export const callPath = (id, rest = "") => `/v1/calls/${encodeURIComponent(id)}${rest}`;
export const linePath = (number, rest = "") => `/v1/lines/${encodeURIComponent(number)}${rest}`;
export const mailboxPath = (line, rest = "") => `/v1/mailboxes/${encodeURIComponent(line)}${rest}`;
